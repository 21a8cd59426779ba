// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package quota

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// parse reads values as they come from a Tenant.
func parse(t *testing.T, raw string) map[string]any {
	t.Helper()

	var out map[string]any
	if err := json.Unmarshal([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}

	return out
}

// allowanceWords is an Allowance as people write it.
type allowanceWords struct {
	CPU, Memory string // requests/limits
	Storage     string
	Pods        int64
}

func inWords(a Allowance) allowanceWords {
	r, l := words(a.Requests), words(a.Limits)

	return allowanceWords{CPU: r["cpu"] + "/" + l["cpu"], Memory: r["memory"] + "/" + l["memory"], Storage: a.Storage.String(), Pods: a.Pods}
}

func TestAllowanceFor(t *testing.T) {
	t.Parallel()

	const provider = `"resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}}`

	cases := map[string]struct {
		reason string
		values string
		want   allowanceWords
	}{
		"Provider": {
			"what the provider installs: 500m/2 and 1Gi/4Gi, and CoreDNS with 20m/1 and 64Mi/170Mi",
			`{"controlPlane": {"statefulSet": {` + provider + `}}}`,
			allowanceWords{"520m/3", "1088Mi/4266Mi", "5Gi", 2},
		},
		"Commit": {
			"a commit that looks like a number changes nothing",
			`{"controlPlane": {"statefulSet": {"labels": {"commit": "1234e567"}, "annotations": {"commit": "12e3456"}, "image": {"tag": "1e100"}, ` + provider + `}}}`,
			allowanceWords{"520m/3", "1088Mi/4266Mi", "5Gi", 2},
		},
		"Chart": {
			"the chart's own: its control plane has no CPU limit, so the LimitRange gives 500m",
			`{}`, allowanceWords{"220m/1500m", "320Mi/4266Mi", "5Gi", 2},
		},
		"Replicas": {
			"three of each", `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": 3}, ` + provider + `}, "coredns": {"deployment": {"replicas": 3}}}}`,
			allowanceWords{"1560m/9", "3264Mi/12798Mi", "15Gi", 6},
		},
		"NoReplicas": {
			"none of either", `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": 0}}, "coredns": {"deployment": {"replicas": 0}}}}`,
			allowanceWords{"/", "/", "0", 0},
		},
		"NoCoreDNS": {
			"CoreDNS is off", `{"controlPlane": {"statefulSet": {` + provider + `}, "coredns": {"enabled": false}}}`,
			allowanceWords{"500m/2", "1Gi/4Gi", "5Gi", 1},
		},
		"CoreDNSResources": {
			"one value of CoreDNS, the others stay",
			`{"controlPlane": {"statefulSet": {` + provider + `}, "coredns": {"deployment": {"resources": {"limits": {"cpu": "2"}}}}}}`,
			allowanceWords{"520m/4", "1088Mi/4266Mi", "5Gi", 2},
		},
		"NullResources": {
			"null takes the chart's defaults away: the LimitRange gives CoreDNS its own",
			`{"controlPlane": {"statefulSet": {` + provider + `}, "coredns": {"deployment": {"resources": null}}}}`,
			allowanceWords{"550m/2500m", "1088Mi/4608Mi", "5Gi", 2},
		},
		"NullLimit": {
			"null takes one limit away: the LimitRange gives 500m and not 0",
			`{"controlPlane": {"statefulSet": {` + provider + `}, "coredns": {"deployment": {"resources": {"limits": {"cpu": null}}}}}}`,
			allowanceWords{"520m/2500m", "1088Mi/4266Mi", "5Gi", 2},
		},
		"LimitOnly": {
			"a limit without a request is requested",
			`{"controlPlane": {"statefulSet": {"resources": {"limits": {"cpu": "2", "memory": "4Gi"}, "requests": null}}, "coredns": {"enabled": false}}}`,
			allowanceWords{"2/2", "4Gi/4Gi", "5Gi", 1},
		},
		"Volume": {
			"a larger volume", `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"size": "20Gi"}}}, "coredns": {"enabled": false}}}`,
			allowanceWords{"200m/500m", "256Mi/4Gi", "20Gi", 1},
		},
		"InitContainer": {
			"what brings Kubernetes into place counts where it needs more than what runs then",
			`{"controlPlane": {"distro": {"k8s": {"resources": {"limits": {"cpu": 1}}}}, "statefulSet": {"resources": {"limits": {"cpu": "500m", "memory": "128Mi"}, "requests": {"cpu": "10m"}}}, "coredns": {"enabled": false}}}`,
			allowanceWords{"40m/1", "256Mi/256Mi", "5Gi", 1},
		},
		"AnotherDistro": {
			"what does not run needs nothing",
			`{"controlPlane": {"distro": {"k8s": {"enabled": true}, "k3s": {"resources": {"limits": {"cpu": 500, "memory": "500Gi"}}}}, "statefulSet": {"resources": {"limits": {"cpu": 1}}}, "coredns": {"enabled": false}}}`,
			allowanceWords{"200m/1", "256Mi/4Gi", "5Gi", 1},
		},
		"NoVolumeByNull": {
			"a null takes the default away", `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"enabled": null}}, ` + provider + `}}}`,
			allowanceWords{"1020m/5", "2112Mi/8362Mi", "0", 3},
		},
		"Numbers": {
			"quantities may be numbers", `{"controlPlane": {"statefulSet": {"resources": {"limits": {"cpu": 3, "memory": "4Gi"}, "requests": {"cpu": 1}}}, "coredns": {"enabled": false}}}`,
			allowanceWords{"1/3", "256Mi/4Gi", "5Gi", 1},
		},
		"NoVolume": {
			"without a volume it is a Deployment, which has one pod more while it rolls out",
			`{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"enabled": false}}, ` + provider + `}}}`,
			allowanceWords{"1020m/5", "2112Mi/8362Mi", "0", 3},
		},
		"ExternalStore": {
			"a store elsewhere needs no volume here", `{"controlPlane": {"backingStore": {"database": {"external": {"enabled": true}}}, "statefulSet": {` + provider + `}}}`,
			allowanceWords{"1020m/5", "2112Mi/8362Mi", "0", 3},
		},
		"ExternalStoreAndVolume": {
			"unless it is asked for",
			`{"controlPlane": {"backingStore": {"etcd": {"external": {"enabled": true}}}, "statefulSet": {"persistence": {"volumeClaim": {"enabled": true}}, ` + provider + `}}}`,
			allowanceWords{"520m/3", "1088Mi/4266Mi", "5Gi", 2},
		},
		"DeployedEtcd": {
			"an etcd of its own counts, with its volume", `{"controlPlane": {"backingStore": {"etcd": {"deploy": {"enabled": true}}}, "statefulSet": {` + provider + `}}}`,
			allowanceWords{"1040m/5500m", "2262Mi/8874Mi", "5Gi", 4},
		},
		"EtcdWithoutVolume": {
			"or without it",
			`{"controlPlane": {"backingStore": {"etcd": {"deploy": {"enabled": true, "statefulSet": {"persistence": {"volumeClaim": {"enabled": false}}}}}}, "statefulSet": {` + provider + `}}}`,
			allowanceWords{"1040m/5500m", "2262Mi/8874Mi", "0", 4},
		},
		"Largest": {
			"as many as are taken", `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": 100}, ` + provider + `}, "coredns": {"enabled": false}}}`,
			allowanceWords{"50/200", "100Gi/400Gi", "500Gi", 100},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := AllowanceFor(parse(t, tc.values))
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, inWords(got)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestAllowanceRefuses(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		values string
		field  string
	}{
		"NegativeReplicas": {"less than none", `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": -1}}}}`, "controlPlane.statefulSet.highAvailability.replicas"},
		"ManyReplicas":     {"a number that would keep a worker for years", `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": 1000000000000000}}}}`, "controlPlane.statefulSet.highAvailability.replicas"},
		"OneTooMany":       {"one more than is taken", `{"controlPlane": {"coredns": {"deployment": {"replicas": 101}}}}`, "controlPlane.coredns.deployment.replicas"},
		"ManyEtcds":        {"as many of etcd", `{"controlPlane": {"backingStore": {"etcd": {"deploy": {"enabled": true, "statefulSet": {"highAvailability": {"replicas": 101}}}}}}}`, "controlPlane.backingStore.etcd.deploy.statefulSet.highAvailability.replicas"},
		"TextReplicas":     {"a text", `{"controlPlane": {"coredns": {"deployment": {"replicas": "two"}}}}`, "controlPlane.coredns.deployment.replicas"},
		"HalfReplicas":     {"a half", `{"controlPlane": {"coredns": {"deployment": {"replicas": 1.5}}}}`, "controlPlane.coredns.deployment.replicas"},
		"TextSwitch":       {"a text instead of a switch", `{"controlPlane": {"coredns": {"enabled": "yes"}}}`, "controlPlane.coredns.enabled"},
		"ListOfResources":  {"a list", `{"controlPlane": {"statefulSet": {"resources": []}}}`, "controlPlane.statefulSet.resources"},
		"Endless":          {"one that takes for ever to read", `{"controlPlane": {"statefulSet": {"resources": {"limits": {"cpu": "1e-999999999"}}}}}`, "controlPlane: statefulSet: resources: limits: cpu: "},
		"EndlessVolume":    {"also of a volume", `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"size": "1e-999999999"}}}}}`, "volumeClaim: size: "},
		"EndlessElsewhere": {"also where the allowance does not depend on it", `{"policies": {"resourceQuota": {"quota": {"pods": "1e-999999999"}}}}`, "policies: resourceQuota: quota: pods: "},
		"NoQuantity":       {"words", `{"controlPlane": {"statefulSet": {"resources": {"limits": {"cpu": "4 cores"}}}}}`, "resources"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := AllowanceFor(parse(t, tc.values))
			if err == nil || !strings.Contains(err.Error(), tc.field) {
				t.Errorf("%s: want an error that names %s, got %v", tc.reason, tc.field, err)
			}
		})
	}
}

func TestAllowanceCannotRead(t *testing.T) {
	t.Parallel()

	if _, err := AllowanceFor(map[string]any{"x": func() {}}); err == nil {
		t.Error("took values that are no JSON")
	}
}

// TestAllowanceChangesNothing holds that neither the values nor the defaults are
// changed or shared.
func TestAllowanceChangesNothing(t *testing.T) {
	t.Parallel()

	raw := `{"controlPlane": {"coredns": {"deployment": {"resources": {"limits": {"cpu": "7"}}}}}}`
	values := parse(t, raw)

	a, err := AllowanceFor(values)
	if err != nil {
		t.Fatal(err)
	}

	a.Limits[corev1.ResourceCPU] = *q("99")

	if diff := cmp.Diff(parse(t, raw), values); diff != "" {
		t.Errorf("the values were changed: %s", diff)
	}

	b, err := AllowanceFor(nil)
	if err != nil || inWords(b).CPU != "220m/1500m" {
		t.Errorf("the defaults were changed: %+v, %v", inWords(b), err)
	}
}

// TestAllowanceOfTheProvidersValues holds the wall of the documentation's Tenant
// on each distribution.
func TestAllowanceOfTheProvidersValues(t *testing.T) {
	t.Parallel()

	for _, chart := range []string{"0.20.4", "0.21.2", "0.30.4", "0.33.4", "0.36.1"} {
		values, err := vcluster.Values(vcluster.Spec{ChartVersion: chart, TenantName: "alice-default", CloudSpaceID: "id"})
		if err != nil {
			t.Fatal(err)
		}

		a, err := AllowanceFor(values)
		if err != nil {
			t.Fatal(err)
		}

		want := allowanceWords{"520m/3", "1088Mi/4266Mi", "5Gi", 2}
		if diff := cmp.Diff(want, inWords(a)); diff != "" {
			t.Errorf("chart %s: -want, +got:\n%s", chart, diff)
		}
	}
}

// TestChartDefaults holds the defaults against the values of the real chart, laid
// under the same overrides: what a Tenant leaves out is what the chart says.
func TestChartDefaults(t *testing.T) {
	t.Parallel()

	raw, err := os.ReadFile(filepath.Join(vclustertest.ModuleDir(t, "0.36.1"), "chart", "values.yaml"))
	if err != nil {
		t.Fatal(err)
	}

	var chart map[string]any
	if err := yaml.Unmarshal(raw, &chart); err != nil {
		t.Fatal(err)
	}

	for name, override := range map[string]string{
		"None":     `{}`,
		"Replicas": `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": 3}}, "coredns": {"deployment": {"replicas": 2}}}}`,
		"Limits":   `{"controlPlane": {"statefulSet": {"resources": {"limits": {"cpu": "3"}}}, "coredns": {"deployment": {"resources": {"requests": {"cpu": "1"}}}}}}`,
		"Etcd":     `{"controlPlane": {"backingStore": {"etcd": {"deploy": {"enabled": true}}}}}`,
		"Volume":   `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaim": {"size": "7Gi"}}}}}`,
	} {
		got, err := AllowanceFor(parse(t, override))
		if err != nil {
			t.Fatal(err)
		}

		want, err := AllowanceFor(vcluster.Merge(chart, parse(t, override)))
		if err != nil {
			t.Fatal(err)
		}

		if diff := cmp.Diff(inWords(want), inWords(got)); diff != "" {
			t.Errorf("%s: -chart, +ours:\n%s", name, diff)
		}
	}

	// An allowance that does not read the chart's values at all would pass above.
	if a, err := AllowanceFor(chart); err != nil || a.Pods != 2 || a.Storage.String() != "5Gi" {
		t.Errorf("the chart's values give %+v, %v", inWords(a), err)
	}
}

// TestAllowanceForDNS holds that CoreDNS has a part of the allowance, and which.
func TestAllowanceForDNS(t *testing.T) {
	t.Parallel()

	for raw, want := range map[string]string{
		`{}`: "20m/1",
		`{"controlPlane": {"coredns": {"deployment": {"replicas": 2}}}}`: "40m/2",
		`{"controlPlane": {"coredns": {"enabled": false}}}`:              "/",
	} {
		got, err := AllowanceForDNS(parse(t, raw))
		if err != nil || inWords(got).CPU != want {
			t.Errorf("%s: %+v, %v, want %s", raw, inWords(got), err, want)
		}
	}

	if _, err := AllowanceForDNS(parse(t, `{"controlPlane": {"coredns": {"deployment": {"replicas": -1}}}}`)); err == nil {
		t.Error("there are less pods than none")
	}
}
