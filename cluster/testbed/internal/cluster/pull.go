// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/content"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
)

const pullLimit = 120 * time.Second

// pullImages brings the part's images onto the node, so that no pod waits for them and
// the first of two equal runs takes no longer than the second.
func (c *Cluster) pullImages(ctx context.Context, part content.Part) error {
	ctx, cancel := context.WithTimeoutCause(ctx, pullLimit, fmt.Errorf("images were not pulled within %s", pullLimit))
	defer cancel()
	for _, name := range part.Images() {
		cmd := exec.CommandContext(ctx, "nsenter", "--net="+netns.Path(c.name), "--",
			"ctr", "--address="+c.containerdSocket(), "--namespace=k8s.io",
			"images", "pull", "--hosts-dir="+c.state.path("config", "certs.d"), name)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot pull image %q: %w: %s\n%s", name, err, bytes.TrimSpace(out), tail(c.state.logs(), containerd))
		}
	}
	return nil
}
