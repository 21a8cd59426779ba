// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"testing"

	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// TestLookingHelm holds when a pass reads a release: once, and again after each attempt
// to write it, or when the read failed.
func TestLookingHelm(t *testing.T) {
	t.Parallel()

	const name = "vc-alice"

	cases := map[string]struct {
		reason string
		err    error
		then   func(ctx context.Context, c helm.Client) error
		reads  int
	}{
		"Nothing":   {"what was read is known", nil, func(context.Context, helm.Client) error { return nil }, 1},
		"Absent":    {"also that there is none", helm.ErrReleaseNotFound, func(context.Context, helm.Client) error { return nil }, 1},
		"Failed":    {"what could not be read is not known", errInjected, func(context.Context, helm.Client) error { return nil }, 2},
		"Install":   {"a write changes it", nil, func(ctx context.Context, c helm.Client) error { _, err := c.Install(ctx, name, nil, nil); return err }, 2},
		"Upgrade":   {"whatever became of it", nil, func(ctx context.Context, c helm.Client) error { _, err := c.Upgrade(ctx, name, nil, nil); return err }, 2},
		"Uninstall": {"whatever became of it", nil, func(ctx context.Context, c helm.Client) error { return c.Uninstall(ctx, name) }, 2},
		"Unlock":    {"whatever became of it", nil, func(ctx context.Context, c helm.Client) error { return c.Unlock(ctx, &helm.Release{Name: name}) }, 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			reads := 0
			write := func(context.Context, string, *helm.Chart, map[string]any) (*helm.Release, error) {
				return nil, errInjected
			}
			c := newLookingHelm(helm.ClientFns{
				GetFn: func(context.Context, string) (*helm.Release, error) {
					reads++
					return &helm.Release{Name: name}, tc.err
				},
				InstallFn:   write,
				UpgradeFn:   write,
				UninstallFn: func(context.Context, string) error { return errInjected },
				UnlockFn:    func(context.Context, *helm.Release) error { return errInjected },
			}, &glance.Look{})

			get := func() {
				t.Helper()

				if r, err := c.Get(t.Context(), "vc-alice"); !errors.Is(err, tc.err) || r == nil {
					t.Fatalf("it read %v, %v", r, err)
				}
			}

			get()

			if err := tc.then(t.Context(), c); err != nil && !errors.Is(err, errInjected) {
				t.Fatal(err)
			}

			get()

			if reads != tc.reads {
				t.Errorf("%s: read %d times, want %d", tc.reason, reads, tc.reads)
			}
		})
	}
}
