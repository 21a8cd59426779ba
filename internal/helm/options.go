// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import "helm.sh/helm/v3/pkg/postrender"

// Option changes how a Client writes its releases, and how a Chart is rendered.
type Option func(*options)

// SkipHooks leaves out the hooks of a chart in every action. Helm waits for a
// hook's Job, which may never run.
func SkipHooks() Option { return func(o *options) { o.skipHooks = true } }

// WithoutSurge makes each Deployment of a release take an old pod away before it
// makes a new one, so that an update needs no more than a quota has room for. One
// whose strategy is Recreate does so anyway and stays as it is, as does
// everything else in the release.
func WithoutSurge() Option { return func(o *options) { o.withoutSurge = true } }

type options struct {
	skipHooks    bool
	withoutSurge bool
}

func newOptions(opts []Option) options {
	var out options
	for _, o := range opts {
		o(&out)
	}
	return out
}

// postRenderer is what Helm passes a rendered manifest through, or nil.
func (o options) postRenderer() postrender.PostRenderer {
	if !o.withoutSurge {
		return nil
	}
	return surgeless{}
}
