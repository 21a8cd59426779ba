// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

// Status writes what runs and where things are. It fails when the cluster is
// not up or not well.
func (c *Cluster) Status(ctx context.Context, w io.Writer) error {
	m, err := c.ours()
	if err != nil {
		return err
	}
	if m == nil {
		return fmt.Errorf("%w: %q: run 'up' first", ErrNotUp, c.name)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "COMPONENT\tPROCESS\tSTATE\n")
	for _, name := range Components {
		r, err := proc.Load(c.state.pids(), name)
		switch {
		case err != nil:
			fmt.Fprintf(t, "%s\t-\tnot started\n", name)
		case r.Alive(proc.Proc):
			fmt.Fprintf(t, "%s\t%d\trunning\n", name, r.PID)
		default:
			fmt.Fprintf(t, "%s\t%d\tended\n", name, r.PID)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("cannot write status: %w", err)
	}
	if !m.Complete {
		return fmt.Errorf("%w: %q is on its way up, or was interrupted on it: wait, or run 'up' again", ErrNotUp, c.name)
	}
	fmt.Fprintf(w, "\nup since %s\nkubeconfig  %s (%s)\nregistry    %s\ngit server  http://%s/NAME.git\naudit log   %s\nlogs        %s\n",
		m.Made.Format(time.DateTime), c.state.kubeconfig(), node.APIServer, node.Registry, node.Git, c.state.auditLog(), c.state.logs())
	if err := c.Health(ctx); err != nil {
		return fmt.Errorf("cluster %q is not well: %w", c.name, err)
	}
	return nil
}
