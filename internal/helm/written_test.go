// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"math"
	"testing"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	"k8s.io/client-go/kubernetes/fake"
)

// TestFingerprintStays holds the mark of releases that are already installed: if
// it changes, they all seem to be someone else's.
func TestFingerprintStays(t *testing.T) {
	t.Parallel()
	values := map[string]any{"b": []any{1.0, nil, "<x>"}, "a": map[string]any{"n": 1e21, "t": true}}
	if got, want := fingerprint("flux2", "2.18.3", values), "a974ba54d10db150b6610e4ae924c4cc"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := fingerprint("vcluster", "0.21.2", map[string]any{}), "71ba95c961e98e71c97686aede7b15b1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOurs(t *testing.T) {
	t.Parallel()
	values, err := copyValues(map[string]any{"n": 7, "l": []string{"x"}, "gone": nil, "f": 0.1, "bad": "\xff"})
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		// change makes someone else's revision of ours.
		change func(*release.Release)
		want   bool
	}{
		"Ours":     {reason: "nobody else has written", change: func(*release.Release) {}, want: true},
		"Team":     {reason: "another label says nothing", change: func(r *release.Release) { r.Labels["team"] = "a" }, want: true},
		"Failed":   {reason: "a failed revision is ours, too", change: func(r *release.Release) { r.SetStatus(release.StatusFailed, "x") }, want: true},
		"NoLabel":  {reason: "what carries no mark is not ours", change: func(r *release.Release) { delete(r.Labels, labelWritten) }},
		"Empty":    {reason: "nor what carries an empty one", change: func(r *release.Release) { r.Labels[labelWritten] = "" }},
		"Version":  {reason: "another version with our mark", change: func(r *release.Release) { r.Chart.Metadata.Version = "2.0.0" }},
		"Chart":    {reason: "another chart with our mark", change: func(r *release.Release) { r.Chart.Metadata.Name = "operator" }},
		"Value":    {reason: "another value with our mark", change: func(r *release.Release) { r.Config["n"] = 8 }},
		"Added":    {reason: "a value more", change: func(r *release.Release) { r.Config["new"] = "x" }},
		"NoValues": {reason: "no values", change: func(r *release.Release) { r.Config = nil }},
		"Unnulled": {reason: "a null less", change: func(r *release.Release) { delete(r.Config, "gone") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := &release.Release{
				Name: "vc-alice", Namespace: testNamespace, Version: 1, Info: &release.Info{Status: release.StatusDeployed},
				Chart: helmChart("app", "1.0.0"), Config: deepCopyMap(values),
				Labels: writtenLabels("app", "1.0.0", values),
			}
			tc.change(r)

			cs := fake.NewClientset()
			if err := driver.NewSecrets(cs.CoreV1().Secrets(testNamespace)).Create(recordName(1), r); err != nil {
				t.Fatal(err)
			}
			got, err := recordClient(cs).Get(t.Context(), "vc-alice")
			if err != nil {
				t.Fatal(err)
			}
			if got.Ours != tc.want {
				t.Errorf("%s: got %t", tc.reason, got.Ours)
			}
		})
	}
}

// What cannot be marshalled has no fingerprint, and nothing fits it.
func TestOursWithoutFingerprint(t *testing.T) {
	t.Parallel()
	r := &Release{Values: map[string]any{"n": math.NaN()}, Labels: map[string]string{}}
	for _, mark := range []string{"", "x"} {
		r.Labels[labelWritten] = mark
		if isOurs(r) {
			t.Errorf("the mark %q fits a revision that has no fingerprint", mark)
		}
	}
}

// TestUnlockKeepsTheMark holds that a revision whose writer died stays ours.
func TestUnlockKeepsTheMark(t *testing.T) {
	t.Parallel()
	cs := fake.NewClientset()
	r := &release.Release{
		Name: "vc-alice", Namespace: testNamespace, Version: 1, Info: &release.Info{Status: release.StatusPendingInstall},
		Chart: helmChart("app", "1.0.0"), Config: map[string]any{"a": "b"},
		Labels: writtenLabels("app", "1.0.0", map[string]any{"a": "b"}),
	}
	if err := driver.NewSecrets(cs.CoreV1().Secrets(testNamespace)).Create(recordName(1), r); err != nil {
		t.Fatal(err)
	}
	c := recordClient(cs)
	pending, err := c.Get(t.Context(), "vc-alice")
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Unlock(t.Context(), pending); err != nil {
		t.Fatal(err)
	}
	if got, err := c.Get(t.Context(), "vc-alice"); err != nil || !got.Ours || got.Status != StatusFailed {
		t.Errorf("got %+v, %v", got, err)
	}
}
