// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/rubbish"
)

// TestR7RubbishInTenant holds that a Tenant of which any field is rubbish, and no schema
// has seen it, is told about in words, whether it is new or was Ready.
func TestR7RubbishInTenant(t *testing.T) {
	t.Parallel()

	given := alice().Advisor("advisor:v1").Overrides(`{}`).WithFlux(`{}`).Obj().Spec
	for _, s := range rubbish.Of(t, &given) {
		t.Run(s.Field, func(t *testing.T) {
			t.Parallel()

			spec := v1alpha1.TenantSpec{}
			mustDecode(t, s, &spec)
			passNewAndChanged(t, &spec)
		})
	}
}

// unserved is a chart at an address that refuses connections.
var unserved = v1alpha1.Chart{Repository: "https://127.0.0.1:1/charts/vcluster", Version: "0.36.1"}

// TestR7RubbishInConfigs holds that a Tenant that uses a provider configuration of which
// any field is rubbish is either made by it, or is told in words why not.
func TestR7RubbishInConfigs(t *testing.T) {
	t.Parallel()

	withSecret := clusterConfig(fromSecret)
	withSecret.Spec.Chart = &v1alpha1.ChartSource{Chart: unserved}

	for name, pc := range map[string]*v1alpha1.ClusterProviderConfig{
		"R7: ClusterProviderConfig": clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
			s.Chart = &v1alpha1.ChartSource{Chart: unserved}
		}),
		"R7: ClusterProviderConfig with a Secret": withSecret,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, u := userOf(t, pc, alice())
			for _, s := range rubbish.Of(t, &pc.Spec) {
				change(w, w.kube, "", pc.GetName(), func(pc *v1alpha1.ClusterProviderConfig) {
					pc.Spec = v1alpha1.ClusterProviderConfigSpec{}
					mustDecode(t, s, &pc.Spec)
					pc.Generation++
				})
				u.use(t, s)
			}
		})
	}

	t.Run("R7: ProviderConfig", func(t *testing.T) {
		t.Parallel()

		pc := localConfig(tenantNamespace, func(s *v1alpha1.ProviderConfigSpec) { s.Chart = &v1alpha1.LocalChartSource{Chart: unserved} })
		w, u := userOf(t, pc, alice().Config("ProviderConfig", pc.GetName()))

		for _, s := range rubbish.Of(t, &pc.Spec) {
			change(w, w.kube, tenantNamespace, pc.GetName(), func(pc *v1alpha1.ProviderConfig) {
				pc.Spec = v1alpha1.ProviderConfigSpec{}
				mustDecode(t, s, &pc.Spec)
				pc.Generation++
			})
			u.use(t, s)
		}
	})
}

// user is a Tenant that uses a configuration.
type user struct {
	tenant    tenantBuilder
	connector *connector
	// used and refused are how many configurations were.
	used, refused int
}

// userOf is the Tenant, in a world with the configuration.
func userOf(t *testing.T, pc client.Object, b tenantBuilder) (*world, *user) {
	t.Helper()

	own, _ := fakeHost(t)
	w := newWorld(t, pc.DeepCopyObject().(client.Object), secretIn(tenantNamespace, "host", "kubeconfig", kubeconfigOf(t, own.URL)))

	charts, err := helm.NewChartCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	c := connectTo(w, own.URL)
	c.charts = charts

	u := &user{tenant: b, connector: c}
	t.Cleanup(func() {
		if u.used == 0 || u.refused == 0 {
			t.Errorf("%d configurations were used, and %d refused", u.used, u.refused)
		}
	})

	return w, u
}

// use the configuration as it is now, for a new Tenant.
func (u *user) use(t *testing.T, s rubbish.Spec) {
	t.Helper()

	tn := u.tenant.DeepCopy()

	e, err := u.connector.Connect(t.Context(), tn)
	if err != nil {
		if len(strings.Fields(err.Error())) < 3 {
			t.Errorf("%s: it says nothing: %q", s.Field, err)
		}

		u.refused++

		return
	}

	u.used++

	spec := v1alpha1.ProviderConfigSpec{}
	mustDecode(t, s, &spec)

	// The default is a repository of the internet's.
	if spec.Chart != nil && spec.Chart.Repository != "" {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()

		if _, err := e.(*external).chart(ctx, "0.36.1"); err == nil || len(strings.Fields(err.Error())) < 3 {
			t.Errorf("%s: of the chart it says nothing: %v", s.Field, err)
		}
	}

	w := newWorld(t)
	w.defaults = e.(*external).defaults
	expectToldPasses(t, w, tn)

	if t.Failed() {
		t.Fatalf("that was %s: %.300s", s.Field, s.JSON)
	}
}

func mustDecode(t *testing.T, s rubbish.Spec, into any) {
	t.Helper()

	if err := json.Unmarshal(s.JSON, into); err != nil {
		t.Fatalf("%s: %v", s.Field, err)
	}
}
