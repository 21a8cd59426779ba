// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/cgroup"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/content"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/lock"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/preflight"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

// A Cluster is one cluster of this machine, which may be up or not.
type Cluster struct {
	name  string
	cache string
	state state
	log   *step.Log

	// What follows is known once the programs are built.
	self     string
	programs map[string]string
	content  *content.Set

	mu      sync.Mutex
	running map[string]proc.Running
}

// acquire takes the cluster's lock, so that no two runs change it at once.
func (c *Cluster) acquire(ctx context.Context) (func(), error) {
	ctx, cancel := context.WithTimeoutCause(ctx, lockLimit, fmt.Errorf("it was not free within %s", lockLimit))
	defer cancel()
	return lock.Acquire(ctx, c.state.lock(), func(holder string) {
		c.log.Printf("waiting for process %s, which works on cluster %q", holder, c.name)
	})
}

// lockLimit is enough for another run to bring the cluster up or down.
const lockLimit = 5 * time.Minute

// New returns the named cluster, with its state in the folder states/NAME and
// with the programs of the cache folder.
func New(name, cache, states string, log *step.Log) (*Cluster, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	cache, err := filepath.Abs(cache)
	if err != nil {
		return nil, fmt.Errorf("cannot find cache folder: %w", err)
	}
	states, err = filepath.Abs(states)
	if err != nil {
		return nil, fmt.Errorf("cannot find state folder: %w", err)
	}
	return &Cluster{name: name, cache: cache, state: state(filepath.Join(states, name)), log: log, running: map[string]proc.Running{}}, nil
}

func (c *Cluster) cgroup() cgroup.Tree {
	return cgroup.New(cgroup.Root, "/kubeopera-testbed/"+c.name)
}

// Build makes all that the cluster needs and the cache does not hold. With
// names it makes only the programs of these names.
func (c *Cluster) Build(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		if err := c.fill(ctx); err != nil {
			return err
		}
		c.log.Printf("all is built, in %s", c.cache)
		return nil
	}
	some, err := program.Named(names...)
	if err != nil {
		return err
	}
	b, err := program.NewBuilder(ctx, c.cache, c.log)
	if err != nil {
		return err
	}
	return c.build(ctx, b, some)
}

// Link puts a link to each of these programs into dir, under its own name, as
// envtest wants them. They must be built.
func (c *Cluster) Link(ctx context.Context, dir string, names ...string) error {
	some, err := program.Named(names...)
	if err != nil {
		return err
	}
	b, err := program.NewBuilder(ctx, c.cache, c.log)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("cannot make the folder of links: %w", err)
	}
	for _, p := range some {
		file, err := b.Path(p)
		if err != nil {
			return err
		}
		link := filepath.Join(dir, p.Name)
		if err := os.Remove(link); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot replace a link: %w", err)
		}
		if err := os.Symlink(file, link); err != nil {
			return fmt.Errorf("cannot link %s: %w", p.Name, err)
		}
	}
	return nil
}

// fill makes all that the cluster needs and remembers where it is.
func (c *Cluster) fill(ctx context.Context) error {
	if err := preflight.Packages(ctx, c.log); err != nil {
		return err
	}
	var err error
	if c.self, err = os.Executable(); err != nil {
		return fmt.Errorf("cannot find own program: %w", err)
	}
	c.programs, c.content, err = c.make(ctx, content.OfCluster())
	return err
}

// make makes the part's programs and content, as far as the cache does not hold
// them, and returns where they are.
func (c *Cluster) make(ctx context.Context, part content.Part) (map[string]string, *content.Set, error) {
	b, err := program.NewBuilder(ctx, c.cache, c.log)
	if err != nil {
		return nil, nil, err
	}
	programs := map[string]string{}
	for _, p := range part.Programs() {
		if programs[p.Name], err = b.Path(p); err != nil {
			return nil, nil, err
		}
	}
	set, err := content.New(ctx, c.cache, part, programs, preflight.BusyboxPath())
	if err != nil {
		return nil, nil, err
	}
	if err := c.build(ctx, b, part.Programs()); err != nil {
		return nil, nil, err
	}
	return programs, set, c.locked(ctx, set.Made, func() error { return set.Make(ctx, b, c.log) })
}

// build builds those of the programs that the cache does not hold.
func (c *Cluster) build(ctx context.Context, b *program.Builder, some []program.Program) error {
	missing, err := b.Missing(some)
	if err != nil {
		return err
	}
	if err := preflight.Disk(c.cache, preflight.RunDisk+uint64(len(missing))*preflight.BuildDisk); err != nil {
		return err
	}
	done := func() (bool, error) { return len(missing) == 0, nil }
	return c.locked(ctx, done, func() error { return b.Build(ctx, some) })
}

// locked calls work under the cache's lock, unless it is done already.
func (c *Cluster) locked(ctx context.Context, done func() (bool, error), work func() error) error {
	ok, err := done()
	if err != nil || ok {
		return err
	}
	unlock, err := lock.Acquire(ctx, filepath.Join(c.cache, "lock"), func(holder string) {
		c.log.Printf("waiting for process %s, which builds into the same cache", holder)
	})
	if err != nil {
		return err
	}
	defer unlock()
	return work()
}
