// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"embed"
	"fmt"
	"os/exec"
	"text/template"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/node"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/provision"
)

//go:embed manifests
var manifests embed.FS

// storageClass is the default StorageClass.
const storageClass = "standard"

// renderManifests returns the manifests that match the pattern, as one stream.
func renderManifests(pattern string) ([]byte, error) {
	t, err := template.ParseFS(manifests, "manifests/"+pattern)
	if err != nil {
		return nil, fmt.Errorf("cannot parse manifests: %w", err)
	}
	values := map[string]any{
		"DNS": node.DNS, "CoreDNSImage": images.CoreDNS,
		"StorageClass": storageClass, "Provisioner": provision.Name,
		"CrossplaneNamespace": crossplaneNamespace, "Registry": node.Registry, "PackagePrefixes": packagePrefixes,
	}
	var buf bytes.Buffer
	for _, m := range t.Templates() {
		buf.WriteString("---\n")
		if err := m.Execute(&buf, values); err != nil {
			return nil, fmt.Errorf("cannot render %s: %w", m.Name(), err)
		}
	}
	return buf.Bytes(), nil
}

const applyLimit = 30 * time.Second

// applyManifests applies the manifests that match the pattern, again as long as
// the API server refuses some of them, because it is just up or does not serve a
// new kind yet.
func (c *Cluster) applyManifests(ctx context.Context, pattern string) error {
	stream, err := renderManifests(pattern)
	if err != nil {
		return err
	}
	return c.await(ctx, apiServer, applyLimit, func(ctx context.Context) error { return c.apply(ctx, stream) })
}

// apply applies the stream of manifests.
func (c *Cluster) apply(ctx context.Context, stream []byte) error {
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+netns.Path(c.name), "--",
		c.state.kubectl(), "--kubeconfig="+c.state.kubeconfig(), "apply", "--server-side", "--validate=false", "-f", "-")
	cmd.Stdin = bytes.NewReader(stream)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot apply manifests: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
