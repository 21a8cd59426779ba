// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func TestClassify(t *testing.T) {
	t.Parallel()

	after := epoch.Add
	old := after(time.Hour)

	cases := map[string]struct {
		reason  string
		release *helm.Release
		change  func(*desired)
		missing string
		now     time.Time
		want    releaseState
		says    string
	}{
		"Absent": {
			reason: "no revision is there", want: releaseAbsent, says: "not installed", now: old,
		},
		"InSync": {
			reason: "deployed as wanted, with its workload", release: releaseOf(alice().Obj()).Obj(), want: releaseInSync, now: old,
		},
		"Drifted": {
			reason:  "deployed, but an object of it is gone",
			release: releaseOf(alice().Obj()).Obj(), missing: "its Service is gone", want: releaseDrifted, says: "its Service is gone", now: old,
		},
		"OtherChart": {
			reason:  "the chart version differs",
			release: releaseOf(alice().Chart("0.35.0").Obj()).Obj(), want: releaseOutOfSync, says: "0.35.0 is to become 0.36.1", now: old,
		},
		"OtherValues": {
			reason:  "a value differs",
			release: releaseOf(alice().Overrides(`{"a": 1}`).Obj()).Obj(), want: releaseOutOfSync, says: "values", now: old,
		},
		"SameNumbers": {
			reason:  "a number is the same as int and as float",
			release: releaseOf(alice().Overrides(`{"a": 1}`).Obj()).Obj(), want: releaseInSync, now: old,
			change: func(d *desired) { d.values["a"] = int64(1) },
		},
		"YoungInstall": {
			reason:  "the writer of a young revision may live",
			release: releaseOf(alice().Obj()).Status(helm.StatusPendingInstall).Obj(), now: after(time.Second), want: releaseLocked, says: "pending-install",
		},
		"JustYoung": {
			reason:  "a moment before the boundary",
			release: releaseOf(alice().Obj()).Status(helm.StatusPendingUpgrade).Obj(), now: after(staleAfter - time.Nanosecond), want: releaseLocked,
		},
		"Boundary": {
			reason:  "exactly at the boundary it is stale",
			release: releaseOf(alice().Obj()).Status(helm.StatusPendingUpgrade).Obj(), now: after(90 * time.Second), want: releaseStale,
			says: "since 2026-11-29T12:00:00Z",
		},
		"FutureRevision": {
			reason:  "a clock that is ahead does not make a revision stale",
			release: releaseOf(alice().Obj()).Status(helm.StatusPendingInstall).Updated(old).Obj(), now: epoch, want: releaseLocked,
		},
		"PendingAndDifferent": {
			reason:  "a lock comes before any difference",
			release: releaseOf(alice().Chart("0.35.0").Obj()).Status(helm.StatusPendingUpgrade).Obj(), now: after(time.Second), want: releaseLocked,
		},
		"FailedAndDifferent": {
			reason:  "a failure comes before any difference",
			release: releaseOf(alice().Chart("0.35.0").Obj()).Status(helm.StatusFailed).Obj(), now: old, want: releaseFailed,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := mustDesire(t, alice())
			if tc.change != nil {
				tc.change(&d)
			}

			got, says := classify(tc.release, d, tc.missing, tc.now)
			if got != tc.want || !strings.Contains(says, tc.says) {
				t.Errorf("%s: want %s with %q, got %s with %q", tc.reason, tc.want, tc.says, got, says)
			}
		})
	}
}

// TestClassifyEveryStatus holds what each state of a revision means when young
// and when old.
func TestClassifyEveryStatus(t *testing.T) {
	t.Parallel()

	cases := map[helm.Status]struct{ young, old releaseState }{
		helm.StatusDeployed:        {releaseInSync, releaseInSync},
		helm.StatusPendingInstall:  {releaseLocked, releaseStale},
		helm.StatusPendingUpgrade:  {releaseLocked, releaseStale},
		helm.StatusPendingRollback: {releaseLocked, releaseStale},
		helm.StatusUninstalling:    {releaseLocked, releaseStale},
		helm.StatusFailed:          {releaseFailed, releaseFailed},
		helm.StatusUnknown:         {releaseFailed, releaseFailed},
		helm.StatusSuperseded:      {releaseFailed, releaseFailed},
		"something new":            {releaseFailed, releaseFailed},
		// Helm's Upgrade refuses an uninstalled release, Install takes it.
		helm.StatusUninstalled: {releaseAbsent, releaseAbsent},
	}
	for status, want := range cases {
		t.Run(string(status), func(t *testing.T) {
			t.Parallel()

			d, r := mustDesire(t, alice()), releaseOf(alice().Obj()).Status(status).Obj()

			for now, want := range map[time.Time]releaseState{epoch.Add(time.Second): want.young, epoch.Add(time.Hour): want.old} {
				if got, _ := classify(r, d, "", now); got != want {
					t.Errorf("%s after the last write: want %s, got %s", now.Sub(epoch), want, got)
				}
			}
		})
	}
}

func TestRefuse(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		from, to tenantBuilder
		field    string
	}{
		"Same":       {"no change", alice(), alice(), ""},
		"NewerChart": {"a newer chart is an upgrade", alice().Chart("0.34.0"), alice().Chart("0.36.1"), ""},
		"Distro":     {"another distro", alice().Chart("0.32.0"), alice().Chart("0.36.1"), "controlPlane.distro"},
		"VolumeSize": {
			"the claim cannot change", alice(),
			alice().Overrides(`{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"size": "10Gi"}}}}}`),
			"controlPlane.statefulSet.persistence.volumeClaim.size",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := refuse(releaseOf(tc.from.Obj()).Obj(), mustDesire(t, tc.to))
			if errors.Is(err, vcluster.ErrImmutableValue) != (tc.field != "") {
				t.Fatalf("%s: got %v", tc.reason, err)
			}

			if err != nil && !strings.Contains(err.Error(), tc.field) {
				t.Errorf("%s: %q does not name %s", tc.reason, err, tc.field)
			}
		})
	}
}

// TestIsUnfinished holds which releases policies that only allow to create go on with.
func TestIsUnfinished(t *testing.T) {
	t.Parallel()

	ours, other := &helm.Release{Ours: true}, &helm.Release{}

	cases := map[string]struct {
		reason  string
		state   releaseState
		release *helm.Release
		want    bool
	}{
		"Absent":  {"it is to be made", releaseAbsent, nil, true},
		"Failed":  {"its install failed", releaseFailed, ours, true},
		"Stale":   {"its writer died", releaseStale, ours, true},
		"Others":  {"someone else's install failed", releaseFailed, other, false},
		"Died":    {"someone else died over it", releaseStale, other, false},
		"Drifted": {"it was installed to the end", releaseDrifted, ours, false},
		"InSync":  {"it is as it should be", releaseInSync, ours, false},
	}
	for name, tc := range cases {
		if got := isUnfinished(tc.state, tc.release); got != tc.want {
			t.Errorf("%s: %s: %t", name, tc.reason, got)
		}
	}
}
