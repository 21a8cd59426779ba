// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
)

// ErrNotUp says that the cluster is not up.
var ErrNotUp = errors.New("cluster is not up")

// Exec becomes the command, inside the cluster's network namespace, with
// KUBECONFIG set and the cluster's kubectl before all others on PATH. It keeps
// the process id, so that signals and the exit status need no passing on. It
// returns only when it fails.
func (c *Cluster) Exec(command []string) error {
	if len(command) > 0 && command[0] == "--" {
		command = command[1:]
	}
	if len(command) == 0 {
		return errors.New("cannot run nothing: give a command after --")
	}
	if err := c.mustBeUp(); err != nil {
		return err
	}
	path := c.state.bin() + ":" + os.Getenv("PATH")
	if err := os.Setenv("PATH", path); err != nil {
		return fmt.Errorf("cannot set PATH: %w", err)
	}
	program, err := exec.LookPath(command[0])
	if err != nil {
		return fmt.Errorf("cannot find command: %w", err)
	}
	nsenter, err := exec.LookPath("nsenter")
	if err != nil {
		return fmt.Errorf("cannot find nsenter: %w", err)
	}
	args := append([]string{nsenter, "--net=" + netns.Path(c.name), "--", program}, command[1:]...)
	env := append(without(os.Environ(), "KUBECONFIG", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"), "KUBECONFIG="+c.state.kubeconfig())
	if err := syscall.Exec(nsenter, args, env); err != nil {
		return fmt.Errorf("cannot run nsenter: %w", err)
	}
	return nil
}

// mustBeUp fails unless the cluster is up.
func (c *Cluster) mustBeUp() error {
	m, err := c.ours()
	if err != nil {
		return err
	}
	if m == nil || !m.Complete || m.Network == 0 {
		return fmt.Errorf("%w: %q: run 'up' first", ErrNotUp, c.name)
	}
	return nil
}

// without returns the environment without these variables. No proxy can be
// reached from inside the namespace.
func without(env []string, names ...string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains(names, name)
	})
}

// Logs becomes a program that shows the component's log, or the end of every
// log when component is empty, and goes on with what is added when follow is
// set. It returns only when it fails.
func (c *Cluster) Logs(component string, follow bool) error {
	args := []string{"tail"}
	if follow {
		args = append(args, "-F")
	}
	if component == "" {
		args = append(args, "--lines=10")
		for _, name := range Components {
			args = append(args, c.logFile(name))
		}
	} else {
		if !slices.Contains(Components, component) {
			return fmt.Errorf("cannot show log of %q: the components are %s", component, strings.Join(Components, ", "))
		}
		args = append(args, "--lines=+1", c.logFile(component))
	}
	if _, err := os.Stat(c.state.logs()); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot show logs: cluster %q has never been up", c.name)
	}
	tail, err := exec.LookPath("tail")
	if err != nil {
		return fmt.Errorf("cannot find tail: %w", err)
	}
	if err := syscall.Exec(tail, args, os.Environ()); err != nil {
		return fmt.Errorf("cannot run tail: %w", err)
	}
	return nil
}

func (c *Cluster) logFile(component string) string {
	return c.state.path("logs", component+".log")
}
