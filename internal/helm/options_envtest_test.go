// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package helm

import (
	"fmt"
	"testing"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// with gives the bed's namespace a client with options.
func (b *bed) with(opts ...Option) *bed {
	out := *b
	out.client = b.host.client(b.namespace, opts...)
	return &out
}

func TestSkipHooks(t *testing.T) {
	b := newBed(t).with(SkipHooks())
	var opts []chartOption
	for _, hook := range []string{"pre-install", "post-install", "pre-upgrade", "post-upgrade", "pre-delete", "post-delete"} {
		opts = append(opts, withTemplate(hook+".yaml", fmt.Sprintf(hookYAML, hook)))
	}
	c := b.app("1.0.0", opts...)

	// No Job ever completes here, so a hook would end each of these with an error.
	_, err := b.Install(t.Context(), testRelease, c, nil)
	b.must(err)
	_, err = b.Upgrade(t.Context(), testRelease, c, map[string]any{"text": "x"})
	b.must(err)
	if b.uid("v1", "ConfigMap", "vc-a") == "" {
		t.Error("the release's own objects are missing")
	}
	b.must(b.Uninstall(t.Context(), testRelease))
	if b.uid("batch/v1", "Job", "vc-a-hook") != "" {
		t.Error("a hook ran")
	}
}

func (b *bed) strategy() appsv1.DeploymentStrategy {
	b.Helper()
	d := &appsv1.Deployment{}
	b.must(b.kube.Get(b.Context(), types.NamespacedName{Namespace: b.namespace, Name: testRelease}, d))
	return d.Spec.Strategy
}

func TestWithoutSurge(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	if s := b.strategy(); s.RollingUpdate.MaxSurge.String() != "25%" {
		t.Fatalf("the test needs a surge, got %s", s.RollingUpdate.MaxSurge)
	}

	b = b.with(WithoutSurge())
	_, err = b.Upgrade(t.Context(), testRelease, b.app("1.1.0"), nil)
	b.must(err)
	if s := b.strategy(); s.RollingUpdate.MaxSurge.String() != "0" || s.RollingUpdate.MaxUnavailable.String() != "1" {
		t.Errorf("got surge %s, unavailable %s", s.RollingUpdate.MaxSurge, s.RollingUpdate.MaxUnavailable)
	}

	rendered, err := b.app("1.1.0").Render(testRelease, b.namespace, nil, WithoutSurge())
	b.must(err)
	stored, err := ManifestObjects(b.state())
	b.must(err)
	if len(rendered) != len(stored) {
		t.Errorf("%d objects are rendered, %d are in the release", len(rendered), len(stored))
	}
}

// foreignly runs Helm on the bed's namespace as someone else would.
func (b *bed) foreignly(fn func(*action.Configuration) error) {
	b.Helper()
	cfg, _ := b.configuration(b.Context(), b.Context(), false)
	b.must(fn(cfg))
}

// helmUpgrade is a plain helm upgrade.
func helmUpgrade(cfg *action.Configuration, namespace string, reuse bool, c *chart.Chart, values map[string]any) error {
	a := action.NewUpgrade(cfg)
	a.Namespace = namespace
	a.ReuseValues = reuse
	_, err := a.Run(testRelease, c, values)
	return err
}

func TestOursSeesTakeOver(t *testing.T) {
	values := map[string]any{"text": "x", "gone": nil, "n": 7}
	cases := map[string]struct {
		reason string
		act    func(*action.Configuration, string, func(string) *chart.Chart) error
		want   bool
	}{
		"Version": {
			reason: "someone installs another version",
			act: func(cfg *action.Configuration, ns string, app func(string) *chart.Chart) error {
				return helmUpgrade(cfg, ns, true, app("1.2.0"), nil)
			},
		},
		"Values": {
			reason: "someone changes a value",
			act: func(cfg *action.Configuration, ns string, app func(string) *chart.Chart) error {
				return helmUpgrade(cfg, ns, true, app("1.1.0"), map[string]any{"text": "y"})
			},
		},
		"OtherValues": {
			reason: "someone gives values of their own",
			act: func(cfg *action.Configuration, ns string, app func(string) *chart.Chart) error {
				return helmUpgrade(cfg, ns, false, app("1.1.0"), map[string]any{"text": "x"})
			},
		},
		"NothingNew": {
			reason: "an upgrade that changes nothing takes nothing over",
			act: func(cfg *action.Configuration, ns string, app func(string) *chart.Chart) error {
				return helmUpgrade(cfg, ns, false, app("1.1.0"), nil)
			},
			want: true,
		},
		"Rollback": {
			reason: "a rollback brings back what this provider wrote",
			act: func(cfg *action.Configuration, _ string, _ func(string) *chart.Chart) error {
				return action.NewRollback(cfg).Run(testRelease)
			},
			want: true,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			r, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
			b.must(err)
			if !r.Ours || !b.state().Ours {
				t.Errorf("installed by us: %t, stored: %t", r.Ours, b.state().Ours)
			}
			r, err = b.Upgrade(t.Context(), testRelease, b.app("1.1.0"), values)
			b.must(err)
			if !r.Ours || !b.state().Ours {
				t.Errorf("upgraded by us: %t, stored: %t", r.Ours, b.state().Ours)
			}

			b.foreignly(func(cfg *action.Configuration) error {
				return tc.act(cfg, b.namespace, func(v string) *chart.Chart { return b.app(v).clone() })
			})
			if got := b.state(); got.Ours != tc.want || got.Revision != 3 {
				t.Errorf("%s: revision %d, ours: %t, labels %v", tc.reason, got.Revision, got.Ours, got.Labels)
			}

			_, err = b.Upgrade(t.Context(), testRelease, b.app("1.1.0"), values)
			b.must(err)
			if !b.state().Ours {
				t.Errorf("%s: written by us again, and yet not ours", tc.reason)
			}
		})
	}
}

// A release from before revisions were marked.
func TestOursNeedsMark(t *testing.T) {
	b := newBed(t)
	_, err := b.Install(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	b.rewrite(func(r *release.Release) { delete(r.Labels, labelWritten) })
	if b.state().Ours {
		t.Error("a revision without a mark is not known to be ours")
	}
	_, err = b.Upgrade(t.Context(), testRelease, b.app("1.0.0"), nil)
	b.must(err)
	if !b.state().Ours {
		t.Error("the next revision is")
	}
}
