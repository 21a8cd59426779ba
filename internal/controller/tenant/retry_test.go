// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// TestPauseDoublesUpToACap holds the pauses of an attempt that keeps failing.
func TestPauseDoublesUpToACap(t *testing.T) {
	t.Parallel()

	f, tn, now := newFailures(), alice().Obj(), epoch

	var got []time.Duration

	for range 8 {
		f.add(tn, v1alpha1.TypeReleaseDeployed, errInjected, now)

		pause := f.by[tn.GetUID()].pause
		got = append(got, pause)

		if _, ok := f.pausing(tn, now.Add(pause-time.Nanosecond)); !ok {
			t.Errorf("a moment before %s are over the Tenant is tried again", pause)
		}

		if _, ok := f.pausing(tn, now.Add(pause)); ok {
			t.Errorf("after %s the Tenant still pauses", pause)
		}

		now = now.Add(pause)
	}

	want := []time.Duration{
		2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 32 * time.Second, time.Minute, time.Minute, time.Minute,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

func TestPausing(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*failures, *v1alpha1.Tenant)
		want   bool
	}{
		"Failed":      {"the last attempt failed", func(*failures, *v1alpha1.Tenant) {}, true},
		"SpecChanged": {"a changed spec is tried at once", func(_ *failures, tn *v1alpha1.Tenant) { tn.SetGeneration(2) }, false},
		"Requested": {
			"a person's request is tried at once", func(_ *failures, tn *v1alpha1.Tenant) { meta.SetReconcileRequest(tn, "1") }, false,
		},
		"RequestHandled": {
			"a request counts once",
			func(_ *failures, tn *v1alpha1.Tenant) {
				meta.SetReconcileRequest(tn, "1")
				tn.SetLastHandledReconcileAt("1")
			}, true,
		},
		"AnotherRequest": {
			"another request counts again",
			func(_ *failures, tn *v1alpha1.Tenant) {
				meta.SetReconcileRequest(tn, "2")
				tn.SetLastHandledReconcileAt("1")
			}, false,
		},
		"Forgotten":   {"an attempt succeeded", func(f *failures, tn *v1alpha1.Tenant) { f.forget(tn) }, false},
		"AnotherUID":  {"a Tenant of the same name is another", func(_ *failures, tn *v1alpha1.Tenant) { tn.SetUID("other") }, false},
		"AnotherGone": {"another Tenant was forgotten", func(f *failures, _ *v1alpha1.Tenant) { f.forget(bob().Obj()) }, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, tn := newFailures(), alice().Obj()
			f.add(tn, v1alpha1.TypeBoundaryReady, errInjected, epoch)
			tc.change(f, tn)

			last, got := f.pausing(tn, epoch.Add(time.Second))
			if got != tc.want {
				t.Errorf("%s: pausing is %t, want %t", tc.reason, got, tc.want)
			}

			if got && (!errors.Is(last.err, errInjected) || last.stage != v1alpha1.TypeBoundaryReady) {
				t.Errorf("%s: the failure is %+v", tc.reason, last)
			}
		})
	}
}

// TestPauseStartsAnewWithTheSpec holds that a new spec does not inherit the long
// pause of the old one.
func TestPauseStartsAnewWithTheSpec(t *testing.T) {
	t.Parallel()

	f, tn := newFailures(), alice().Obj()
	for range 5 {
		f.add(tn, v1alpha1.TypeReleaseDeployed, errInjected, epoch)
	}

	tn.SetGeneration(2)
	f.add(tn, v1alpha1.TypeReleaseDeployed, errInjected, epoch)

	if got := f.by[tn.GetUID()].pause; got != firstRetry {
		t.Errorf("pause of the first failure of a new spec is %s, want %s", got, firstRetry)
	}
}
