// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"context"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// providerUser is who the provider is on the host: it has the rights that are shipped.
const providerUser = "provider"

// world is a host cluster, several APIs of vClusters, and all that the provider talks to.
type world struct {
	t *testing.T

	host     client.WithWatch
	slots    []*slot
	reports  *rig.FakeKubeoperaAPI
	provider *rig.Provider
	folder   string

	mu    sync.Mutex
	lives map[string]*slot
	made  int
	// starts are how long the provider took to be ready.
	starts []time.Duration
}

// slot is the API of a vCluster, in which one life after the other takes place.
type slot struct {
	*gate

	inside     client.WithWatch
	kubeconfig []byte
	// bare are the objects of a vCluster in which nothing was installed.
	bare map[string]bool
}

// newWorld starts all but the provider, until the test ends.
func newWorld(t *testing.T, slots int, every bool) *world {
	t.Helper()

	w := &world{t: t, lives: map[string]*slot{}, folder: t.TempDir()}

	id, err := rig.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}

	cluster := testenv.RunControlPlane(t, "package/crds")
	w.host = newClient(t, cluster)
	runFakeNode(t, cluster, w.host, func(life string) ([]byte, bool) {
		s := w.slotOf(life)
		if s == nil {
			return nil, false
		}

		return s.kubeconfig, true
	})

	for range slots {
		w.addSlot(id, every)
	}

	w.serveReports()
	w.prepareHost(serve(t, packCharts(t)))

	as := rest.CopyConfig(cluster)
	as.Impersonate.UserName = providerUser
	w.provider = w.newProvider(serveTLS(t, id, proxy(toHost, w.gateOf, forward(t, as)), cluster))

	return w
}

func newClient(t *testing.T, cfg *rest.Config) client.WithWatch {
	t.Helper()

	c, err := rig.NewCluster(cfg, "")
	if err != nil {
		t.Fatal(err)
	}

	return c.Client
}

func (w *world) addSlot(id rig.Identity, every bool) {
	w.t.Helper()

	cluster := testenv.RunControlPlane(w.t)
	s := &slot{gate: &gate{every: every}, inside: newClient(w.t, cluster)}
	s.arm(point{})
	runFakeNode(w.t, cluster, s.inside, func(string) ([]byte, bool) { return nil, false })

	s.kubeconfig = serveTLS(w.t, id, proxy(toVCluster, func(call) *gate { return s.gate }, forward(w.t, cluster)), cluster)
	w.makeDNS(s.inside)
	s.bare = w.bare(s.inside)
	w.slots = append(w.slots, s)
}

// makeDNS makes a vCluster's own CoreDNS.
func (w *world) makeDNS(c client.Client) {
	w.t.Helper()

	why := await(w.t.Context(), func() string {
		if err := c.Create(w.t.Context(), rig.FakeDNS(vcluster.DNSNamespace)); err != nil {
			return err.Error() // An API server makes that namespace after its start.
		}

		return ""
	})
	if why != "" {
		w.t.Fatalf("cannot make CoreDNS: %s", why)
	}
}

// bare is what there is of an API server once it has made all that is its own.
func (w *world) bare(c client.Client) map[string]bool {
	w.t.Helper()

	var out map[string]bool

	why := await(w.t.Context(), func() string {
		out = keys(w.inventory(c, "", nil))

		for _, last := range []string{"Service default/kubernetes", "Namespace /kube-node-lease", "Namespace /kube-public"} {
			if !out[last] {
				return "there is no " + last
			}
		}

		return ""
	})
	if why != "" {
		w.t.Fatalf("an API server is not complete: %s", why)
	}

	return out
}

// gateOf the Tenant that the call is for.
func (w *world) gateOf(c call) *gate {
	if s := w.slotOf(c.life()); s != nil {
		return s.gate
	}

	return nil
}

func (w *world) slotOf(life string) *slot {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.lives[life]
}

// serveReports has a fake of kubeopera-api take the reports.
func (w *world) serveReports() {
	w.t.Helper()

	var err error

	w.reports, err = rig.StartFakeKubeoperaAPI(w.t.Context(), rig.FakeKubeoperaAPIOptions{Address: "127.0.0.1:0", ClientID: "provider", ClientSecret: "s3cret"})
	if err != nil {
		w.t.Fatal(err)
	}

	w.t.Cleanup(func() { _ = w.reports.Down() })
}

// prepareHost makes what an administrator does.
func (w *world) prepareHost(charts string) {
	w.t.Helper()

	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity
	pc.Spec.Chart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Repository: charts + "/vcluster"}}
	pc.Spec.FluxChart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Repository: charts + "/flux2"}}

	for _, o := range []client.Object{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: rig.Namespace}}, pc} {
		if err := w.host.Create(w.t.Context(), o); err != nil {
			w.t.Fatal(err)
		}
	}

	testenv.Apply(w.t, w.host, func(u *unstructured.Unstructured) {
		if strings.HasSuffix(u.GetKind(), "Binding") {
			u.Object["subjects"] = []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": rbacv1.UserKind, "name": providerUser}}
		}
	}, "cluster/rbac/clusterrole.yaml", "cluster/rbac/provider.yaml")
}

// newProvider builds the provider, which reaches the host by the kubeconfig.
func (w *world) newProvider(kubeconfig []byte) *rig.Provider {
	w.t.Helper()

	binary := filepath.Join(w.folder, "provider")

	build := exec.CommandContext(w.t.Context(), "go", "build", "-o", binary, "../../cmd/provider")
	if out, err := build.CombinedOutput(); err != nil {
		w.t.Fatalf("cannot build the provider: %v: %s", err, out)
	}

	u, err := url.Parse(w.reports.URL())
	if err != nil {
		w.t.Fatal(err)
	}

	reports := serve(w.t, proxy(toReports, w.gateOf, rig.ForwardTo(u, http.DefaultTransport)))

	p, err := rig.NewProvider(binary, w.folder, kubeconfig,
		"KUBEOPERA_API_BASE_URL="+reports, "SERVICE_CLIENT_ID=provider", "SERVICE_CLIENT_SECRET=s3cret",
		"VCLUSTER_CHART_VERSION="+oldVCluster, "FLUX_CHART_VERSION="+fluxVersion,
		// The limits are for many Tenants and one provider; here all is wanted at once.
		"MAX_RECONCILE_RATE=100", "POLL=5s", "DEBUG=true")
	if err != nil {
		w.t.Fatal(err)
	}

	w.t.Cleanup(func() { _ = p.Kill() })

	return p
}

// start the provider.
func (w *world) start() {
	w.t.Helper()

	began := time.Now()

	if err := w.provider.Start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}

	w.starts = append(w.starts, time.Since(began))
}

// kill the provider, and let it be dead for a while.
func (w *world) kill() {
	w.t.Helper()

	if err := w.provider.Kill(); err != nil {
		w.t.Fatal(err)
	}

	for _, s := range w.slots {
		s.open()
		s.arm(point{})
	}

	for _, c := range w.clients() {
		if err := age(w.t.Context(), c); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) clients() []client.Client {
	out := []client.Client{w.host}
	for _, s := range w.slots {
		out = append(out, s.inside)
	}

	return out
}

// await asks until the answer is empty. It returns the last answer when that takes
// longer than our patience.
func await(ctx context.Context, ask func() string) string {
	end := time.After(patience)

	for {
		why := ask()
		if why == "" {
			return ""
		}

		select {
		case <-end:
			return why
		case <-ctx.Done():
			return why + " (the test ends)"
		case <-time.After(again):
		}
	}
}
