// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// connectTo makes a connector whose own cluster is at that address.
func connectTo(w *world, own string) *connector {
	pool := host.NewPool()
	ctx, stop := context.WithCancel(context.Background())
	stopped := make(chan error, 1)

	go func() { stopped <- pool.Start(ctx) }()

	w.t.Cleanup(func() {
		stop()

		if err := <-stopped; err != nil {
			w.t.Error(err)
		}
	})

	return &connector{
		kube: w.kube, kubeLive: w.kube, metadata: w.kube, looks: glance.NewMemory(w.clock), injected: &rest.Config{Host: own}, hosts: pool, tenants: tenantapi.NewPool(),
		track:  func(context.Context, client.Client, resource.ModernManaged) error { return nil },
		record: w.events, clock: w.clock, failures: w.failures, stages: w.stages, places: w.places, unseen: w.unseen, defaults: w.defaults, waker: &reconciler.Waker{},
	}
}

func fromSecret(s *v1alpha1.ClusterProviderConfigSpec) {
	s.Credentials = v1alpha1.Credentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.SecretKeySelector{
		SecretReference: xpv2.SecretReference{Namespace: tenantNamespace, Name: "host"}, Key: "kubeconfig",
	}}
}

// TestConnect holds which host a Tenant is made on.
func TestConnect(t *testing.T) {
	t.Parallel()

	own, ownAsked := fakeHost(t)
	other, otherAsked := fakeHost(t)

	cases := map[string]struct {
		reason      string
		config      *v1alpha1.ClusterProviderConfig
		asked, left *atomic.Int64
	}{
		"Secret":   {"the cluster of the kubeconfig", clusterConfig(fromSecret), otherAsked, ownAsked},
		"Injected": {"the cluster that the provider runs in", clusterConfig(nil), ownAsked, otherAsked},
	}
	for _, name := range []string{"Secret", "Injected"} {
		tc := cases[name]
		w := newWorld(t, tc.config, secretIn(tenantNamespace, "host", "kubeconfig", kubeconfigOf(t, other.URL)))
		before := tc.left.Load()

		c, err := connectTo(w, own.URL).Connect(t.Context(), alice().Obj())
		if err != nil {
			t.Fatalf("%s: %v", tc.reason, err)
		}

		e := c.(*external)
		if ns, err := e.liveNamespace(t.Context(), "vcluster-alice-default"); err != nil || ns != nil {
			t.Errorf("%s: namespace %v, error %v", tc.reason, ns, err)
		}

		if tc.asked.Load() == 0 || (name == "Secret" && tc.left.Load() != before) {
			t.Errorf("%s: asked it %d times, and the other %d", tc.reason, tc.asked.Load(), tc.left.Load())
		}

		if e.cached == nil || e.helm == nil || e.names != namesOf(alice().Obj()) {
			t.Errorf("%s: the client lacks something: %+v", tc.reason, e)
		}
	}
}

// TestConnectDefaults holds the precedence of what a Tenant does not say itself:
// the provider configuration before the provider's own.
func TestConnectDefaults(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)

	for name, tc := range map[string]struct {
		tenant  tenantBuilder
		version string
		want    string
	}{
		"Provider": {alice(), "", "0.36.1"},
		"Config":   {alice(), "0.35.0", "0.35.0"},
		"Tenant":   {alice().Chart("0.34.0"), "0.35.0", "0.34.0"},
	} {
		w := newWorld(t, clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
			s.Chart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Version: tc.version}}
			s.ImageRegistry = "i.example.org"
		}))

		c, err := connectTo(w, own.URL).Connect(t.Context(), tc.tenant.Obj())
		if err != nil {
			t.Fatal(err)
		}

		d, err := desire(tc.tenant.Obj(), c.(*external).defaults)
		if err != nil || d.chartVersion != tc.want || dig(d.values, "controlPlane", "advanced", "defaultImageRegistry") != "i.example.org" {
			t.Errorf("%s: chart %s, values %v, error %v", name, d.chartVersion, d.values, err)
		}
	}
}

// TestConnectChart holds that the chart comes from where the configuration says,
// and that its credentials are read only when a chart is needed.
func TestConnectChart(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	registry := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(registry.Close)

	w := newWorld(t, clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
		s.Chart = &v1alpha1.ChartSource{
			Chart:         v1alpha1.Chart{Repository: registry.URL + "/charts/vcluster"},
			PullSecretRef: &xpv2.SecretReference{Namespace: tenantNamespace, Name: "pull"},
		}
	}))

	charts, err := helm.NewChartCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	c := connectTo(w, own.URL)
	c.charts = charts

	got, err := c.Connect(t.Context(), alice().Obj())
	if err != nil {
		t.Fatalf("a pull Secret that nobody needs yet holds the Tenant back: %v", err)
	}

	if _, err := got.(*external).chart(t.Context(), "0.36.1"); err == nil || !strings.Contains(err.Error(), "pullSecretRef of chart") {
		t.Errorf("without its Secret: %v", err)
	}

	w.add(secretIn(tenantNamespace, "pull", ".dockerconfigjson", `{"auths": {}}`))

	if _, err := got.(*external).chart(t.Context(), "0.36.1"); !errors.Is(err, helm.ErrChartNotFound) || !strings.Contains(err.Error(), registry.URL) {
		t.Errorf("with its Secret: %v", err)
	}
}

// TestConnectFlux holds where Flux comes from, and that what it needs is known once
// its chart is here, for which no pass waits.
func TestConnectFlux(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	registry := chartRepository(t, "flux2", "2.17.0", map[string]string{"templates/all.yaml": fluxManifest})

	w := newWorld(t, clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
		s.FluxChart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Repository: registry.URL + "/charts/flux2", Version: "2.17.0"}}
	}))

	charts, err := helm.NewChartCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	c := connectTo(w, own.URL)
	c.charts = charts

	tn := alice().WithFlux("").Obj()

	got, err := c.Connect(t.Context(), tn)
	if err != nil {
		t.Fatal(err)
	}

	e := got.(*external)

	f := wantFlux(tn, e.defaults)
	if f.desired.chartVersion != "2.17.0" {
		t.Errorf("chart %s, want that of the configuration", f.desired.chartVersion)
	}

	if _, err := e.fluxNeeds(t.Context(), desired{chartVersion: "2.17.1"}); err == nil {
		t.Error("it is known what a chart needs that is not to be had")
	}

	if chart, err := e.fluxChart(t.Context(), f.desired.chartVersion); err != nil || chart.Name() != "flux2" {
		t.Fatalf("%v, %v", chart, err)
	}

	want, err := knownFlux()
	if err != nil {
		t.Fatal(err)
	}

	needs, err := e.fluxNeeds(t.Context(), f.desired)
	if diff := cmp.Diff(inWords(want.Limits), inWords(needs.Limits)); err != nil || diff != "" {
		t.Errorf("%v; what Flux needs: -want, +got:\n%s", err, diff)
	}
}

// TestConnectWakes holds that a pass can ask for the next.
func TestConnectWakes(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	w, q := newWorld(t, clusterConfig(nil)), wakenQueue{woken: make(chan string, 1)}
	c := connectTo(w, own.URL)

	if err := c.waker.Source().Start(t.Context(), q); err != nil {
		t.Fatal(err)
	}

	got, err := c.Connect(t.Context(), alice().Obj())
	if err != nil {
		t.Fatal(err)
	}

	got.(*external).wakeAfter(time.Second)

	if got, want := <-q.woken, "add "+aliceKey.String()+" after 1s"; got != want {
		t.Errorf("want %q, got %q", want, got)
	}
}

// TestConnectTellsWhatIsAskedFor holds that a pass knows whether a person asked for
// it, whether anybody is told, and when a Tenant was seen first.
func TestConnectTellsWhatIsAskedFor(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)

	for _, on := range []bool{true, false} {
		w, tn := newWorld(t, clusterConfig(nil)), alice()
		if on {
			tn.Says("cannot install")
		}

		c := connectTo(w, own.URL)
		c.reports = on

		if on {
			tn.SetConditions(xpv2.Unavailable())
		}

		got, err := c.Connect(t.Context(), tn.Obj())
		if err != nil {
			t.Fatal(err)
		}

		if _, first := w.stages.at[tn.GetUID()][created]; first == on {
			t.Errorf("the first look is remembered: %t, want %t", first, !on)
		}

		if e := got.(*external); e.retry != on || e.reports != on {
			t.Errorf("retry %t, reports %t, want %t", e.retry, e.reports, on)
		}
	}
}

// TestCannotConnect holds what is said, and that a Tenant that is Ready stays so
// while one that is deleted stays.
func TestCannotConnect(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		kube   []client.Object
		track  error
		errs   []string
		phase  v1alpha1.TenantPhase
	}{
		"NoConfig": {reason: "the config is missing", tenant: alice(), errs: []string{`there is no ClusterProviderConfig "default", which providerConfigRef names; create it, or delete this Tenant`}, phase: v1alpha1.PhaseFailed},
		"NoSecret": {
			reason: "the Secret is missing", tenant: alice(), kube: []client.Object{clusterConfig(fromSecret)},
			errs: []string{"cannot use the host cluster", `Secret "host"`, tenantNamespace}, phase: v1alpha1.PhaseFailed,
		},
		"NoKey": {
			reason: "the key is missing", tenant: alice(), kube: []client.Object{clusterConfig(fromSecret), secretIn(tenantNamespace, "host", "other", "x")},
			errs: []string{`Secret "host"`, `key "kubeconfig"`}, phase: v1alpha1.PhaseFailed,
		},
		"NoRef": {
			reason: "a reference is missing", tenant: alice(), kube: []client.Object{clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
				s.Credentials.Source = xpv2.CredentialsSourceSecret
			})},
			errs: []string{"credentials.secretRef is required"}, phase: v1alpha1.PhaseFailed,
		},
		"BadKubeconfig": {
			reason: "what is no kubeconfig", tenant: alice(), kube: []client.Object{clusterConfig(fromSecret), secretIn(tenantNamespace, "host", "kubeconfig", "{")},
			errs: []string{"cannot use the host cluster", `key "kubeconfig" of Secret "host" in namespace "` + tenantNamespace + `": kubeconfig refused`}, phase: v1alpha1.PhaseFailed,
		},
		"Source": {
			reason: "another source", tenant: alice(), kube: []client.Object{clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
				s.Credentials.Source = "Filesystem"
			})},
			errs: []string{`credentials.source "Filesystem"`, "InjectedIdentity or Secret"}, phase: v1alpha1.PhaseFailed,
		},
		"OtherNamespace": {
			reason: "a namespaced config does not reach into another namespace", tenant: alice().Config("ProviderConfig", "default"),
			kube: []client.Object{
				localConfig(tenantNamespace, func(s *v1alpha1.ProviderConfigSpec) {
					s.Credentials = v1alpha1.LocalCredentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.LocalSecretKeySelector{
						LocalSecretReference: xpv2.LocalSecretReference{Name: "theirs"}, Key: "kubeconfig",
					}}
				}),
				secretIn("other", "theirs", "kubeconfig", "x"),
			},
			errs: []string{`Secret "theirs" in namespace "` + tenantNamespace + `"`, "not found"}, phase: v1alpha1.PhaseFailed,
		},
		"Tracking": {
			reason: "a usage that cannot be written would let the config go", tenant: alice(), kube: []client.Object{clusterConfig(nil)}, track: errInjected,
			errs: []string{"cannot track", errInjected.Error()}, phase: v1alpha1.PhaseFailed,
		},
		"ReadyStays": {
			reason: "not to know is no change", tenant: alice().Ready(), errs: []string{"providerConfigRef"}, phase: v1alpha1.PhaseReady,
		},
		"Deleting": {
			reason: "nothing pretends to be deleted", tenant: alice().Deleted(epoch), kube: []client.Object{clusterConfig(fromSecret)}, track: errInjected,
			errs: []string{`Secret "host"`}, phase: v1alpha1.PhaseDeleting,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), tc.tenant.Obj()
			for _, o := range tc.kube {
				if err := w.kube.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}

			c := connectTo(w, "http://127.0.0.1:1")
			c.track = func(context.Context, client.Client, resource.ModernManaged) error { return tc.track }

			got, err := c.Connect(t.Context(), tn)
			checkErrors(t, tc.reason, err, tc.errs)

			if got != nil || tn.Status.Phase != tc.phase {
				t.Errorf("%s: client %v, phase %s", tc.reason, got, tn.Status.Phase)
			}

			if tc.phase != v1alpha1.PhaseReady && !strings.HasPrefix(tn.Status.Message, err.Error()) {
				t.Errorf("%s: message %q, error %q", tc.reason, tn.Status.Message, err)
			}

			if tc.phase == v1alpha1.PhaseDeleting && !strings.Contains(tn.Status.Message, v1alpha1.AnnotationAbandon) {
				t.Errorf("%s: message %q does not say the way out", tc.reason, tn.Status.Message)
			}
		})
	}
}

// TestTrackingIsNotFatalToADeletion holds that the Tenant's namespace may be going
// as well.
func TestTrackingIsNotFatalToADeletion(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	w := newWorld(t, clusterConfig(nil))
	c := connectTo(w, own.URL)
	c.track = func(context.Context, client.Client, resource.ModernManaged) error { return errInjected }

	if got, err := c.Connect(t.Context(), alice().Deleted(epoch).Obj()); err != nil || got == nil {
		t.Errorf("got %v, %v", got, err)
	}
}

// TestUnreachableHost holds that an unreachable host is said to be so, in the
// same words each time.
func TestUnreachableHost(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t, clusterConfig(nil)), alice().Obj()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if _, err := connectTo(w, "http://127.0.0.1:1").Connect(ctx, tn); !errors.Is(err, host.ErrUnreachable) || tn.Status.Message != err.Error() {
		t.Errorf("%v: %s", err, tn.Status.Message)
	}
}
