// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

const (
	killLimit  = 30 * time.Second
	cleanLimit = 15 * time.Second
	reapLimit  = 5 * time.Second
)

// Down ends the cluster and removes all of it but its logs. A cluster that is
// not there is no error.
func (c *Cluster) Down(ctx context.Context) error {
	unlock, err := c.acquire(ctx)
	if err != nil {
		return err
	}
	defer unlock()
	m, err := c.ours()
	if err != nil {
		return err
	}
	if m == nil {
		c.log.Printf("cluster %q is not up", c.name)
		return nil
	}
	return c.log.Do(fmt.Sprintf("take cluster %q down", c.name), func() error { return c.clean(ctx, *m) })
}

// ErrForeign says that a network namespace has the cluster's name and was made
// by someone else.
var ErrForeign = errors.New("network namespace was not made by this program")

// ours returns the marker of what is there, or nil when nothing is. It fails
// when the network namespace is not the one that the marker tells of.
func (c *Cluster) ours() (*marker, error) {
	m, err := c.state.readMarker()
	if err != nil {
		return nil, err
	}
	inode, err := netns.Inode(c.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	boot, err := bootID()
	if err != nil {
		return nil, err
	}
	if inode != 0 && !m.owns(boot, inode) {
		return nil, fmt.Errorf("cannot use the name %q: %w: choose another --name, or remove it by 'ip netns delete %s' if nobody needs it", c.name, ErrForeign, c.name)
	}
	if m != nil && m.Boot != boot {
		// Nothing of it can run any more, and its numbers mean others now.
		m.Network = 0
	}
	return m, nil
}

// owns says whether a network namespace with this inode, in this run of the
// machine, is the marker's. A marker that does not know its inode yet was
// written when there was no namespace of that name.
func (m *marker) owns(boot string, inode uint64) bool {
	if m == nil {
		return false
	}
	return m.Boot == boot && (m.Network == 0 || m.Network == inode)
}

// clean removes all that the marker stands for: first the processes, with which
// their mounts go, then the network, then the files.
func (c *Cluster) clean(ctx context.Context, m marker) error {
	if err := c.forgetOtherBoot(m); err != nil {
		return err
	}
	inode, release := c.hold(m)
	defer release()
	killing, cancel := context.WithTimeout(ctx, killLimit)
	defer cancel()
	ended, err := proc.Kill(killing, func() ([]proc.Record, error) { return c.processes(inode) })
	if err != nil {
		return err
	}
	proc.AwaitReaped(ended, reapLimit)
	if err := netns.Delete(c.name); err != nil {
		return err
	}
	if err := c.removeCgroup(ctx); err != nil {
		return err
	}
	if err := unmountBelow(string(c.state)); err != nil {
		return err
	}
	return c.state.clear()
}

// forgetOtherBoot removes the records of daemons that ended with the machine's
// last run: their ids and start times may be those of others now.
func (c *Cluster) forgetOtherBoot(m marker) error {
	boot, err := bootID()
	if err != nil || m.Boot == boot {
		return err
	}
	if err := os.RemoveAll(c.state.pids()); err != nil {
		return fmt.Errorf("cannot forget daemons of another boot: %w", err)
	}
	return nil
}

// hold returns the inode of the cluster's network namespace and keeps it from
// going to another one until release is called. It is 0 when there is none: the
// marker's word alone is not enough, because the kernel uses inodes again. Either
// the namespace still has its name, or a daemon of the cluster is still in it.
func (c *Cluster) hold(m marker) (inode uint64, release func()) {
	places := []string{netns.Path(c.name)}
	// Without a record there is no daemon to look at.
	daemons, _ := proc.LoadAll(c.state.pids())
	for _, d := range daemons {
		if d.Alive(proc.Proc) {
			places = append(places, fmt.Sprintf("%s/%d/ns/net", proc.Proc, d.PID))
		}
	}
	for _, place := range places {
		inode, release, err := netns.Hold(place)
		if err != nil {
			continue
		}
		if inode != 0 && (m.Network == 0 || m.Network == inode) {
			return inode, release
		}
		release()
	}
	return 0, func() {}
}

// processes finds the cluster's processes by three signs: the records of the
// daemons, the network namespace that all but the pods are in, and the control
// group that the pods are in. This process and its ancestors are spared.
func (c *Cluster) processes(inode uint64) ([]proc.Record, error) {
	found, err := proc.LoadAll(c.state.pids())
	if err != nil {
		return nil, err
	}
	if inode != 0 {
		inside, err := proc.InNetwork(proc.Proc, inode)
		if err != nil {
			return nil, err
		}
		found = append(found, inside...)
	}
	pods, err := c.cgroup().Processes()
	if err != nil {
		return nil, err
	}
	for _, pid := range pods {
		if r, err := proc.Look(proc.Proc, pid); err == nil {
			found = append(found, r)
		}
	}
	spared := proc.Ancestors(proc.Proc)
	var out []proc.Record
	for _, r := range found {
		if !spared[r.PID] && r.Alive(proc.Proc) {
			out = append(out, r)
		}
	}
	return out, nil
}

// removeCgroup tries for a while, because the kernel lets a group go a little
// after its last process.
func (c *Cluster) removeCgroup(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, cleanLimit)
	defer cancel()
	for {
		err := c.cgroup().Remove()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(poll):
		}
	}
}
