// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// tried are values for each path that a Tenant may set by default: something other than the provider's own, and
// what a chart might write into a manifest as it is.
var tried = map[string][]any{
	"controlPlane.statefulSet.resources":                                          {map[string]any{"limits": map[string]any{"cpu": "3", "example.com/gpu": "1"}, "requests": map[string]any{"cpu": "1"}}},
	"controlPlane.distro.k8s.resources":                                           {map[string]any{"limits": map[string]any{"cpu": "3"}, "securityContext": map[string]any{"privileged": true}}},
	"controlPlane.distro.k3s.resources":                                           nil, // No chart that has k3s is at hand.
	"controlPlane.backingStore.etcd.deploy.statefulSet.resources":                 {map[string]any{"limits": map[string]any{"cpu": "3"}}},
	"controlPlane.backingStore.etcd.deploy.statefulSet.highAvailability.replicas": {3},
	"controlPlane.backingStore.etcd.deploy.statefulSet.persistence.volumeClaim":   {map[string]any{"size": "7Gi", "storageClass": "slow"}, map[string]any{"enabled": false}},
	"controlPlane.backingStore.etcd.deploy.enabled":                               {true},
	"controlPlane.coredns.deployment.resources":                                   {map[string]any{"limits": map[string]any{"cpu": "3"}}},
	"controlPlane.coredns.deployment.replicas":                                    {3},
	"controlPlane.coredns.enabled":                                                {false},
	"controlPlane.statefulSet.persistence.volumeClaim": {
		map[string]any{"size": "7Gi", "storageClass": "slow", "accessModes": []any{"ReadWriteMany"}, "retentionPolicy": "Delete"},
		map[string]any{"enabled": false}, map[string]any{"size": "7Gi} # {"},
	},
	"controlPlane.statefulSet.probes": {
		map[string]any{"livenessProbe": map[string]any{"enabled": false}, "startupProbe": map[string]any{"periodSeconds": 7}},
		map[string]any{"readinessProbe": map[string]any{"timeoutSeconds": 7}},
	},
	"logging.encoding":                                      {"json", `json # "`},
	"controlPlane.proxy.extraSANs":                          {[]any{"alice.example.com", "*"}},
	"sync.toHost.services.enabled":                          {false},
	"sync.toHost.endpoints.enabled":                         {false},
	"sync.toHost.endpointSlices.enabled":                    {false},
	"sync.toHost.persistentVolumeClaims.enabled":            {false},
	"sync.toHost.configMaps.enabled":                        {false},
	"sync.toHost.configMaps.all":                            {true},
	"sync.toHost.secrets.enabled":                           {false},
	"sync.toHost.secrets.all":                               {true},
	"sync.toHost.ingresses.enabled":                         {false},
	"sync.toHost.serviceAccounts.enabled":                   {false},
	"sync.toHost.pods.enabled":                              {false},
	"sync.toHost.pods.useSecretsForSATokens":                {true},
	"sync.toHost.pods.rewriteHosts.enabled":                 {false},
	"sync.toHost.pods.rewriteHosts.initContainer.resources": {map[string]any{"limits": map[string]any{"cpu": "3"}}},
	"sync.fromHost.events.enabled":                          {false},
}

// TestDefaultAllowedChangeNoRights renders the charts with each path set that a Tenant may set by default, and
// holds what they make against what they make without: roles may lose rules, and a pod may differ in nothing
// but resources, probes, the volume of its data and the form of its log.
func TestDefaultAllowedChangeNoRights(t *testing.T) {
	t.Parallel()

	for version := range moduleSchemas {
		chart := loadChart(t, version)
		doc := rawSchema(t, version)

		for _, path := range defaultAllowed {
			choices, known := tried[path]
			if !known {
				t.Errorf("%s is tried with nothing", path)
			}

			if len(undeclared(doc, doc, nested(path, nil), "")) > 0 {
				continue
			}

			for i, value := range choices {
				t.Run(fmt.Sprintf("%s %s %d", version, path, i), func(t *testing.T) {
					t.Parallel()

					base := map[string]any{}
					if strings.Contains(path, "etcd.deploy.statefulSet") {
						base = nested("controlPlane.backingStore.etcd.deploy.enabled", true)
					}

					before := rendered(t, chart, version, base)
					after := rendered(t, chart, version, Merge(base, nested(path, value)))
					expectNoMore(t, before, after)

					if path == "controlPlane.backingStore.etcd.deploy.enabled" {
						expectHarmless(t, after["StatefulSet/vc-alice-default-etcd"])
					}
				})
			}
		}
	}
}

// TestRenderShowsDanger holds that the comparison finds what it is for, where it is allowed.
func TestRenderShowsDanger(t *testing.T) {
	t.Parallel()

	chart := loadChart(t, "0.36.1")
	before := rendered(t, chart, "0.36.1", nil)

	for _, name := range []string{
		"its roles", "its cluster roles", "its account", "the build that runs", "its environment", "a volume of the node",
		"the rights of its container", "its tolerations", "network policies", "a service of the whole network", "the labels of its pods",
	} {
		if len(more(before, rendered(t, chart, "0.36.1", fromJSON(t, dangerous[name])))) == 0 {
			t.Errorf("%s: no difference is found", name)
		}
	}

	// What the guard refuses line breaks for.
	broken := nested("logging.encoding", "json\n          securityContext:\n            privileged: true\n          envFrom:")
	if len(more(before, rendered(t, chart, "0.36.1", broken))) == 0 {
		t.Error("the chart quotes the form of the log: line breaks may be allowed in it")
	}
}

// rendered are the objects that the chart makes, by kind and name.
func rendered(t *testing.T, chart *helm.Chart, version string, overrides map[string]any) map[string]map[string]any {
	t.Helper()

	s := aliceSpec(version)
	s.Overrides, s.Allowed = overrides, []string{AllowAll}

	objs, err := chart.Render(ReleaseName(s.TenantName), HostNamespace(s.TenantName), mustValues(t, s))
	if err != nil {
		t.Fatalf("cannot render %v: %v", overrides, err)
	}

	out := map[string]map[string]any{}

	for _, o := range objs {
		kind := o.GetKind()
		if kind == "Deployment" {
			kind = "StatefulSet" // Which of them it is depends on where the data is.
		}

		out[kind+"/"+o.GetName()] = fixed(o)
	}

	return out
}

// fixed leaves out what a Tenant may change.
func fixed(o *unstructured.Unstructured) map[string]any {
	switch o.GetKind() {
	case "Secret":
		return map[string]any{"type": o.Object["type"]} // It holds the values.
	case "StatefulSet", "Deployment":
		template := at(o.Object, "spec", "template").(map[string]any)
		pod := template["spec"].(map[string]any)

		for _, kind := range []string{"containers", "initContainers"} {
			list, _ := pod[kind].([]any)
			for _, c := range list {
				fixedContainer(c.(map[string]any))
			}
		}

		if volumes, ok := pod["volumes"].([]any); ok {
			empty := map[string]any{"name": "data", "emptyDir": map[string]any{}}
			pod["volumes"] = slices.DeleteFunc(volumes, func(v any) bool { return cmp.Equal(v, empty) })
		}

		return map[string]any{"labels": template["metadata"].(map[string]any)["labels"], "pod": pod}
	}

	return o.Object
}

func fixedContainer(c map[string]any) {
	for _, key := range []string{"resources", "livenessProbe", "readinessProbe", "startupProbe"} {
		delete(c, key)
	}

	env, _ := c["env"].([]any)
	for _, e := range env {
		if e := e.(map[string]any); e["name"] == "LOFT_LOG_ENCODING" {
			delete(e, "value")
		}
	}
}

// more lists what the second rendering has that the first has not.
func more(before, after map[string]map[string]any) []string {
	var out []string

	for name, now := range after {
		was, had := before[name]

		switch {
		case !had:
			out = append(out, name+" is new")
		case strings.HasPrefix(name, "Role/") || strings.HasPrefix(name, "ClusterRole/"):
			for _, rule := range now["rules"].([]any) {
				if !slices.ContainsFunc(was["rules"].([]any), func(r any) bool { return cmp.Equal(r, rule) }) {
					out = append(out, fmt.Sprintf("%s has a new rule %v", name, rule))
				}
			}
		case !cmp.Equal(was, now):
			out = append(out, fmt.Sprintf("%s differs: -before, +after:\n%s", name, cmp.Diff(was, now)))
		}
	}

	return out
}

func expectNoMore(t *testing.T, before, after map[string]map[string]any) {
	t.Helper()

	for _, difference := range more(before, after) {
		if !strings.Contains(difference, "-etcd") {
			t.Error(difference)
		}
	}
}

// expectHarmless looks at a workload that comes with an override.
func expectHarmless(t *testing.T, o map[string]any) {
	t.Helper()

	pod, ok := at(o, "pod").(map[string]any)
	if !ok {
		t.Fatalf("there is none: %v", o)
	}

	if pod["automountServiceAccountToken"] != false {
		t.Errorf("it gets a token: %v", pod)
	}

	for _, key := range []string{"hostNetwork", "hostPID", "hostIPC", "securityContext", "initContainers"} {
		if pod[key] != nil {
			t.Errorf("it has %s: %v", key, pod[key])
		}
	}

	for _, c := range pod["containers"].([]any) {
		c := c.(map[string]any)
		if image, _ := c["image"].(string); !strings.HasPrefix(image, "registry.k8s.io/etcd:") || c["securityContext"] != nil {
			t.Errorf("it runs %v", c)
		}
	}
}

// loadChart packs the chart of vCluster's own module as that version is packed.
func loadChart(t *testing.T, version string) *helm.Chart {
	t.Helper()

	folder := filepath.Join(vclustertest.ModuleDir(t, version), "chart")

	var packed bytes.Buffer

	zipped := gzip.NewWriter(&packed)
	files := tar.NewWriter(zipped)

	err := filepath.WalkDir(folder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}

		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}

		if entry.Name() == "Chart.yaml" {
			data = bytes.Replace(data, []byte("version: 0.0.1"), []byte("version: "+version), 1)
		}

		name, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}

		header := &tar.Header{Name: filepath.ToSlash(filepath.Join("vcluster", name)), Mode: 0o644, Size: int64(len(data))}
		if err := files.WriteHeader(header); err != nil {
			return err
		}

		_, err = files.Write(data)

		return err
	})
	if err != nil || files.Close() != nil || zipped.Close() != nil {
		t.Fatalf("cannot pack the chart: %v", err)
	}

	chart, err := helm.LoadChart(packed.Bytes())
	if err != nil {
		t.Fatal(err)
	}

	return chart
}
