// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"errors"
	"testing"
)

const (
	claim = "controlPlane.statefulSet.persistence.volumeClaim."
	store = "controlPlane.backingStore."
)

// release is a release of one chart with one value set.
func release(chart, path string, value any) Release {
	if path == "" {
		return Release{ChartVersion: chart}
	}

	return Release{ChartVersion: chart, Values: nested(path, value)}
}

func TestRefused(t *testing.T) {
	t.Parallel()

	const distro = "controlPlane.distro."

	cases := map[string]struct {
		reason  string
		running Release
		wanted  Release
		words   []string
	}{
		"H6: volume of 5Gi to 10Gi": {
			"a volume claim template cannot change",
			release("0.36.1", claim+"size", "5Gi"), release("0.36.1", claim+"size", "10Gi"),
			[]string{claim + "size", `"5Gi"`, `"10Gi"`, "new Tenant"},
		},
		"size from the default": {
			"what is left out has the chart's default",
			release("0.36.1", "", nil), release("0.36.1", claim+"size", "10Gi"),
			[]string{claim + "size", `"5Gi"`, `"10Gi"`},
		},
		"storage class": {
			"a volume claim template cannot change",
			release("0.36.1", "", nil), release("0.36.1", claim+"storageClass", "fast"),
			[]string{claim + "storageClass", `""`, `"fast"`},
		},
		"access modes": {
			"a volume claim template cannot change",
			release("0.36.1", "", nil), release("0.36.1", claim+"accessModes", []any{"ReadWriteMany"}),
			[]string{claim + "accessModes", `["ReadWriteOnce"]`, `["ReadWriteMany"]`},
		},
		"persistence off": {
			"the StatefulSet becomes a Deployment without the data",
			release("0.36.1", "", nil), release("0.36.1", claim+"enabled", false),
			[]string{claim + "enabled", "true", "false", "new Tenant"},
		},
		"persistence by null": {
			"a null takes the default away, and with it the claim",
			release("0.36.1", "", nil), release("0.36.1", claim+"enabled", nil),
			[]string{claim + "enabled", "true", "false", "new Tenant"},
		},
		"null above": {
			"it takes all defaults below it away",
			release("0.36.1", "", nil), release("0.36.1", "controlPlane.statefulSet", nil),
			[]string{claim + "enabled", "true", "false"},
		},
		"access modes by null": {
			"nothing is left of the default",
			release("0.36.1", "", nil), release("0.36.1", claim+"accessModes", nil),
			[]string{claim + "accessModes", `["ReadWriteOnce"]`, "null"},
		},
		"persistence on": {
			"the Deployment's data stays behind",
			release("0.36.1", claim+"enabled", "false"), release("0.36.1", claim+"enabled", true),
			[]string{claim + "enabled"},
		},
		"claim templates": {
			"they replace the claim",
			release("0.36.1", "", nil),
			release("0.36.1", persistence+"volumeClaimTemplates", []any{map[string]any{"metadata": map[string]any{"name": "data"}}}),
			[]string{persistence + "volumeClaimTemplates", "[]"},
		},
		"data volume": {
			"the data stays on the other volume",
			release("0.36.1", persistence+"dataVolume", []any{map[string]any{"name": "data"}}), release("0.36.1", "", nil),
			[]string{persistence + "dataVolume"},
		},
		"distro": {
			"another distribution does not read the data",
			release("0.21.2", distro+"k3s.enabled", true), release("0.21.2", distro+"k8s.enabled", true),
			[]string{"controlPlane.distro", `"k3s"`, `"k8s"`, "old value back"},
		},
		"distro left out": {
			"the chart then takes k8s",
			release("0.21.2", distro+"k3s.enabled", true), release("0.21.2", "", nil),
			[]string{"controlPlane.distro", `"k3s"`, `"k8s"`},
		},
		"distro of others": {
			"a release that was not made by the provider",
			release("0.21.2", distro+"k0s.enabled", true), release("0.21.2", distro+"k8s.enabled", true),
			[]string{"controlPlane.distro", `"k0s"`},
		},
		"C5: chart without k3s": {
			"an upgrade of the chart would switch the distribution",
			release("0.32.0", distro+"k3s.enabled", true), release("0.33.0", distro+"k8s.enabled", true),
			[]string{"controlPlane.distro", `"k3s"`, `"k8s"`, "0.32", "new Tenant"},
		},
		"store": {
			"SQLite's data does not move to the database",
			release("0.36.1", "", nil), release("0.36.1", store+"database.external.enabled", true),
			[]string{"controlPlane.backingStore", `"database.embedded"`, `"database.external"`},
		},
		"store without a way back": {
			"vCluster moves SQLite to etcd, but never back",
			release("0.36.1", store+"database.embedded.enabled", true), release("0.36.1", store+"etcd.deploy.enabled", true),
			[]string{"controlPlane.backingStore", `"etcd.deploy"`},
		},
		"etcd's volume": {
			"a volume claim template cannot change",
			release("0.36.1", store+"etcd.deploy", map[string]any{"enabled": true}),
			release("0.36.1", store+"etcd.deploy", Merge(map[string]any{"enabled": true},
				nested("statefulSet.persistence.volumeClaim.size", "8Gi"))),
			[]string{etcdClaim + "size", `"5Gi"`, `"8Gi"`},
		},
		"namespace sync": {
			"objects that are synced already would be stranded",
			release("0.36.1", "", nil), release("0.36.1", "sync.toHost.namespaces.enabled", true),
			[]string{"sync.toHost.namespaces.enabled", "false", "true"},
		},
		"older chart": {
			"what the newer one wrote is not read by the older one",
			release("0.36.1", "", nil), release("0.35.2", "", nil),
			[]string{"vcluster.chartVersion", `"0.36.1"`, `"0.35.2"`, "newer"},
		},
		"older Kubernetes": {
			"the API server does not read what a newer one wrote",
			release("0.36.1", distro+"k8s.version", "v1.36.0"), release("0.36.1", distro+"k8s.image.tag", "v1.35.4"),
			[]string{"controlPlane.distro.k8s.version", `"v1.36.0"`, `"v1.35.4"`},
		},
		"older k3s": {
			"the same in the tag of k3s",
			release("0.21.2", distro+"k3s", map[string]any{"enabled": true, "image": map[string]any{"tag": "v1.31.4-k3s1"}}),
			release("0.21.2", distro+"k3s", map[string]any{"enabled": true, "image": map[string]any{"tag": "v1.30.9-k3s1"}}),
			[]string{"controlPlane.distro.k3s.image.tag", `"v1.31.4-k3s1"`, `"v1.30.9-k3s1"`},
		},
		"several": {
			"all are told at once",
			release("0.36.1", "", nil),
			Release{"0.35.0", Merge(nested(claim+"size", "6Gi"), nested("sync.toHost.namespaces.enabled", true))},
			[]string{"vcluster.chartVersion", claim + "size", "sync.toHost.namespaces.enabled"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := Refused(tc.running, tc.wanted)
			if !errors.Is(err, ErrImmutableValue) {
				t.Fatalf("%s: want %v, got %v", tc.reason, ErrImmutableValue, err)
			}

			wantWords(t, err, tc.words...)
		})
	}
}

func TestNotRefused(t *testing.T) {
	t.Parallel()

	const distro = "controlPlane.distro."

	cases := map[string]struct {
		reason  string
		running Release
		wanted  Release
	}{
		"nothing": {"no change", release("0.36.1", "", nil), release("0.36.1", "", nil)},
		"default written down": {
			"the same in effect", release("0.36.1", "", nil), release("0.36.1", claim+"size", "5Gi"),
		},
		"auto spelled out": {
			"the same in effect", release("0.36.1", "", nil), release("0.36.1", claim+"enabled", true),
		},
		"other unit": {
			"the same size", release("0.36.1", claim+"size", "5Gi"), release("0.36.1", claim+"size", "5120Mi"),
		},
		"embedded spelled out": {
			"the default store", release("0.36.1", "", nil), release("0.36.1", store+"database.embedded.enabled", true),
		},
		"size without a volume": {
			"no claim has this size",
			release("0.36.1", persistence+"volumeClaim", map[string]any{"enabled": false, "size": "5Gi"}),
			release("0.36.1", persistence+"volumeClaim", map[string]any{"enabled": false, "size": "6Gi"}),
		},
		"etcd's size without etcd": {
			"no claim has this size", release("0.36.1", "", nil), release("0.36.1", etcdClaim+"size", "8Gi"),
		},
		"number of another kind": {
			"Helm's history holds floats",
			release("0.36.1", persistence+"dataVolume", []any{map[string]any{"mode": int64(420)}}),
			release("0.36.1", persistence+"dataVolume", []any{map[string]any{"mode": float64(420)}}),
		},
		"k3s chart upgrade": {
			"both have k3s",
			release("0.21.2", distro+"k3s.enabled", true), release("0.32.0", distro+"k3s.enabled", true),
		},
		"k8s chart upgrade": {
			"k8s stays k8s",
			release("0.21.2", distro+"k8s.enabled", true), release("0.36.1", distro+"k8s.enabled", true),
		},
		"patch back": {"a rollback within a minor version", release("0.36.1", "", nil), release("0.36.0", "", nil)},
		"newer Kubernetes": {
			"an upgrade",
			release("0.36.1", distro+"k8s.version", "v1.35.0"), release("0.36.1", distro+"k8s.version", "v1.36.0"),
		},
		"Kubernetes patch back": {
			"a rollback within a minor version",
			release("0.36.1", distro+"k8s.version", "v1.36.2"), release("0.36.1", distro+"k8s.version", "v1.36.0"),
		},
		"Kubernetes unknown": {
			"the chart's default is not known here",
			release("0.36.1", distro+"k8s.version", "v1.36.2"), release("0.36.1", "", nil),
		},
		"resources": {
			"mutable", release("0.36.1", "", nil), release("0.36.1", "controlPlane.statefulSet.resources.limits.cpu", "4"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if err := Refused(tc.running, tc.wanted); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestRefusedOfUnsupportedCharts(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason          string
		running, wanted string
		words           []string
	}{
		"running": {"an adopted release of an old chart", "0.19.7", "0.21.2", []string{"running release", `"0.19.7"`}},
		"wanted":  {"a chart of the future", "0.36.1", "0.99.0", []string{`"0.99.0"`, SupportedCharts}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := Refused(release(tc.running, "", nil), release(tc.wanted, "", nil))
			if !errors.Is(err, ErrUnsupportedChartVersion) {
				t.Fatalf("%s: want %v, got %v", tc.reason, ErrUnsupportedChartVersion, err)
			}

			wantWords(t, err, tc.words...)
		})
	}
}

// TestRefusedOfOwnValues upgrades the provider's own values over every pair of charts.
func TestRefusedOfOwnValues(t *testing.T) {
	t.Parallel()

	charts := []string{"0.20.4", "0.21.2", "0.30.4", "0.32.0", "0.33.4", "0.36.1"}
	const firstK8s = 4

	for i, from := range charts {
		for j, to := range charts {
			running := Release{from, roundTrip(t, mustValues(t, aliceSpec(from)))}
			err := Refused(running, Release{to, mustValues(t, aliceSpec(to))})

			want := j < i || (i < firstK8s && j >= firstK8s)
			if got := errors.Is(err, ErrImmutableValue); got != want {
				t.Errorf("upgrade from %s to %s: want refused %t, got %v", from, to, want, err)
			}
		}
	}
}

// TestSurvivesRestart holds which control planes have their objects again after a restart.
func TestSurvivesRestart(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		path   string
		value  any
		want   bool
	}{
		"Default":          {"the chart makes a volume claim", "", nil, true},
		"Claimed":          {"so it does when told to", claim + "enabled", true, true},
		"Unclaimed":        {"an emptyDir goes with its pod", claim + "enabled", false, false},
		"UnclaimedByNull":  {"a null takes the default away", claim + "enabled", nil, false},
		"OwnClaims":        {"claims of one's own are claims", "controlPlane.statefulSet.persistence.volumeClaimTemplates", []any{map[string]any{}}, true},
		"ExternalDatabase": {"the objects are elsewhere", store + "database.external.enabled", true, true},
		"ExternalEtcd":     {"or in an etcd of somebody", store + "etcd.external.enabled", true, true},
		"DeployedEtcd":     {"or in the chart's, which is not restarted", store + "etcd.deploy.enabled", true, true},
		"EmbeddedEtcd":     {"an embedded etcd gets a claim too", store + "etcd.embedded.enabled", true, true},
	}
	for name, tc := range cases {
		if got := SurvivesRestart(release("0.36.1", tc.path, tc.value).Values); got != tc.want {
			t.Errorf("%s: %s: got %t", name, tc.reason, got)
		}
	}
}
