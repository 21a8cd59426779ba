// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"fmt"
	"os"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/policy"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/preflight"
)

// prepare makes all that the daemons find when they start.
func (c *Cluster) prepare(ctx context.Context) (marker, error) {
	boot, err := bootID()
	if err != nil {
		return marker{}, err
	}
	m := marker{Name: c.name, Boot: boot, Programs: c.fingerprint()}
	err = c.log.Do("prepare network, certificates and configuration", func() error {
		// The marker comes first, so that whatever follows is known to be ours.
		if err := c.state.writeMarker(m); err != nil {
			return err
		}
		if err := c.state.turnLogs(); err != nil {
			return err
		}
		if err := preflight.Watchers(); err != nil {
			return err
		}
		if err := netns.Create(ctx, c.name, node.CIDR); err != nil {
			return err
		}
		if err := policy.Install(ctx, c.name, node.PodSubnet, node.PodBridge); err != nil {
			return err
		}
		if m.Network, err = netns.Inode(c.name); err != nil {
			return err
		}
		if err := c.state.writeMarker(m); err != nil {
			return err
		}
		if err := c.cgroup().Create(); err != nil {
			return err
		}
		return c.writeFiles()
	})
	return m, err
}

// writeFiles makes the folders, certificates and configuration of the node.
func (c *Cluster) writeFiles() error {
	folders := []string{c.state.logs(), c.state.volumes(), c.state.bin(), c.state.path("registry"), c.state.path("git")}
	for _, place := range node.Private {
		// The place stays when the cluster goes: to remove a folder also takes
		// away what another cluster has mounted over it.
		folders = append(folders, place, c.state.private(place))
	}
	for _, f := range folders {
		if err := os.MkdirAll(f, 0o750); err != nil {
			return fmt.Errorf("cannot make folder: %w", err)
		}
	}
	if err := os.Symlink(c.programs["kubectl"], c.state.kubectl()); err != nil {
		return fmt.Errorf("cannot link kubectl: %w", err)
	}
	if err := node.Write(c.settings()); err != nil {
		return err
	}
	if err := c.plan().Write(c.state.pki()); err != nil {
		return err
	}
	if err := os.Rename(c.state.path("pki", "admin.kubeconfig"), c.state.kubeconfig()); err != nil {
		return fmt.Errorf("cannot place kubeconfig: %w", err)
	}
	return nil
}
