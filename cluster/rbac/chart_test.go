// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"os"
	"path/filepath"
	"testing"

	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

// granted are the rules of the roles that a chart makes for a control plane.
type granted struct {
	namespaced, clusterWide []rbacv1.PolicyRule
	// kinds of all that the chart makes, as they stand in a manifest.
	kinds map[string]bool
}

// render the chart of vCluster's own module, with the provider's values and these
// over them.
func render(t *testing.T, version string, distro v1alpha1.Distro, overrides map[string]any) granted {
	t.Helper()
	c, err := helm.LoadChart(pack(t, filepath.Join(vclustertest.ModuleDir(t, version), "chart"), version))
	if err != nil {
		t.Fatalf("LoadChart(...): %v", err)
	}
	values, err := vcluster.Values(vcluster.Spec{
		ChartVersion: version, TenantName: "alice", CloudSpaceID: "7e9d3a1b", Environment: "production", Distro: distro,
		Overrides: overrides, Allowed: []string{vcluster.AllowAll},
	})
	if err != nil {
		t.Fatalf("Values(...): %v", err)
	}
	objs, err := c.Render(vcluster.ReleaseName("alice"), vcluster.HostNamespace("alice"), values)
	if err != nil {
		t.Fatalf("Render(...): %v", err)
	}
	out := granted{kinds: map[string]bool{}}
	for _, o := range objs {
		out.kinds[o.GetKind()] = true
		switch o.GetKind() {
		case "Role":
			out.namespaced = append(out.namespaced, rulesOf(t, o)...)
		case "ClusterRole":
			out.clusterWide = append(out.clusterWide, rulesOf(t, o)...)
		}
	}
	return out
}

func rulesOf(t *testing.T, o *unstructured.Unstructured) []rbacv1.PolicyRule {
	t.Helper()
	role := &rbacv1.ClusterRole{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, role); err != nil {
		t.Fatalf("cannot read %s %q: %v", o.GetKind(), o.GetName(), err)
	}
	return role.Rules
}

// pack the folder of a chart as the release of that version is packed.
func pack(t *testing.T, folder, version string) []byte {
	t.Helper()
	c, err := loader.LoadDir(folder)
	if err != nil {
		t.Fatalf("cannot load the chart: %v", err)
	}
	c.Metadata.Name, c.Metadata.Version = "vcluster", version
	file, err := chartutil.Save(c, t.TempDir())
	if err != nil {
		t.Fatalf("cannot pack the chart: %v", err)
	}
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
