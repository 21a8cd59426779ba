// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestRun runs the whole provider from where it may do nothing and knows no kind
// to where it leads, and stops it.
func TestRun(t *testing.T) {
	cluster := testenv.RunControlPlane(t)
	connect(t, cluster)
	c := newClient(t, cluster)
	lease := holdLease(t, c)
	log := newChangeLog(t)
	p := start(t, log)

	p.expectRights(t, c)
	p.expectKinds(t, cluster)
	p.expectLead(t, c, lease)
	expectChangeLog(t, c, log)
	p.expectEnd(t, c, lease)
}

const (
	// providerUser is who the provider is in these tests.
	providerUser = "provider"
	// ownNamespace is where it keeps its lease and its reports, and these tests
	// their Tenants.
	ownNamespace = "kubeopera-system"
)

func newClient(t *testing.T, cluster *rest.Config) client.Client {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatalf("newScheme(): %v", err)
	}
	c, err := client.New(cluster, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}
	return c
}

// holdLease has another lead until its lease is freed.
func holdLease(t *testing.T, c client.Client) *coordinationv1.Lease {
	t.Helper()
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}}); err != nil {
		t.Fatalf("Create(namespace): %v", err)
	}
	lease := &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: "provider-kubeopera.kubeopera.io"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: ptr.To("another"), LeaseDurationSeconds: ptr.To[int32](3600), RenewTime: ptr.To(metav1.NowMicro())},
	}
	if err := c.Create(t.Context(), lease); err != nil {
		t.Fatalf("Create(lease): %v", err)
	}
	return lease
}

// process is a provider that runs.
type process struct {
	healthy, ready, metrics, profiles string

	stop func()
	done <-chan error
}

// start runs the provider until it is stopped or the test ends.
func start(t *testing.T, log *changeLog) *process {
	t.Helper()
	config := valid(t)
	config.Poll = time.Second
	config.LeaderElection, config.PodNamespace = true, ownNamespace
	config.ChangeLogs, config.ChangeLogsSocket, config.Version = true, log.socket, "v1.2.3"
	config.ClientID, config.ClientSecret = "provider", leaked
	config.MetricsAddress, config.ProbeAddress, config.PprofAddress = freeAddress(t), freeAddress(t), freeAddress(t)

	ctx, stop := context.WithCancel(t.Context())
	t.Cleanup(stop)
	done := make(chan error, 1)
	go func() { done <- Run(ctx, config, NewLogger(t.Output(), true)) }()
	probes := "http://" + config.ProbeAddress
	return &process{
		healthy: probes + "/healthz", ready: probes + "/readyz", metrics: "http://" + config.MetricsAddress + "/metrics",
		profiles: "http://" + config.PprofAddress + "/debug/pprof/", stop: stop, done: done,
	}
}

// expectRights holds that the provider lives and says which rights it lacks, and
// gives it what is shipped, as it is bound for a plain install.
func (p *process) expectRights(t *testing.T, c client.Client) {
	t.Helper()
	p.answers(t, p.healthy, http.StatusOK, "ok")
	for _, want := range []string{
		"missing right: update tenants.kubeopera.io/status\n", "missing right: create pods/exec\n",
		`missing right: create configmaps in namespace "kubeopera-system"` + "\n",
	} {
		p.answers(t, p.ready, http.StatusServiceUnavailable, want)
	}
	testenv.Apply(t, c, func(u *unstructured.Unstructured) {
		if strings.HasSuffix(u.GetKind(), "Binding") {
			u.Object["subjects"] = []any{map[string]any{"apiGroup": rbacv1.GroupName, "kind": rbacv1.UserKind, "name": providerUser}}
		}
	}, "cluster/rbac/clusterrole.yaml", "cluster/rbac/provider.yaml")
}

// expectKinds holds that it says which kinds it waits for, and becomes ready with
// them although another leads.
func (p *process) expectKinds(t *testing.T, cluster *rest.Config) {
	t.Helper()
	p.answers(t, p.ready, http.StatusServiceUnavailable, "CRD advisoragents.kubeopera.io\nCRD clusterproviderconfigs.kubeopera.io\n")
	if _, err := envtest.InstallCRDs(cluster, envtest.CRDInstallOptions{Paths: []string{"../../package/crds"}, ErrorIfPathMissing: true}); err != nil {
		t.Fatalf("InstallCRDs(...): %v", err)
	}
	p.answers(t, p.ready, http.StatusOK, "ok")
}

// expectLead frees the lease, and holds that the provider takes it and works.
func (p *process) expectLead(t *testing.T, c client.Client, lease *coordinationv1.Lease) {
	t.Helper()
	lease.Spec.HolderIdentity = nil
	if err := c.Update(t.Context(), lease); err != nil {
		t.Fatalf("Update(lease): %v", err)
	}
	createTenants(t, c)
	// Controllers count from their first start, which is after the election.
	p.answers(t, p.profiles+"goroutine?debug=1", http.StatusOK, "goroutine profile: total")
	p.answers(t, p.metrics, http.StatusOK, `controller_runtime_reconcile_total{controller="managed/tenant.kubeopera.io"`)
	p.answers(t, p.metrics, http.StatusOK, `crossplane_managed_resource_exists{gvk="kubeopera.io/v1alpha1, Kind=Tenant"} 2`)
	if holder(t, c, client.ObjectKeyFromObject(lease)) == "" {
		t.Error("The leader holds a lease of its own name.")
	}
}

// expectChangeLog deletes bob, and holds what the change log is told of it all.
func expectChangeLog(t *testing.T, c client.Client, log *changeLog) {
	t.Helper()
	expectEntry(t, log, "create Tenant/bob")
	if err := c.Delete(t.Context(), &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: "bob"}}); err != nil {
		t.Fatalf("Delete(tenant): %v", err)
	}
	expectEntry(t, log, "delete Tenant/bob")
	if text := log.text(t); strings.Contains(text, leaked) || strings.Contains(text, "alice") {
		t.Errorf("An entry holds no secret, and nothing is told of what is paused: got %s", text)
	}
}

// expectEnd stops the provider, and holds that it ends in order.
func (p *process) expectEnd(t *testing.T, c client.Client, lease *coordinationv1.Lease) {
	t.Helper()
	p.stop()
	if err := <-p.done; err != nil {
		t.Errorf("To be told to stop is no failure.\nRun(...): %v", err)
	}
	if got := holder(t, c, client.ObjectKeyFromObject(lease)); got != "" {
		t.Errorf("Who stops gives the lease back, so that the next need not wait; it is still held by %q", got)
	}
}

// createTenants creates one that is paused, and one on this cluster, of which only
// a namespace can come to be.
func createTenants(t *testing.T, c client.Client) {
	t.Helper()
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity
	pc.Spec.Chart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Repository: chartRepository(t, "")}}
	objs := []client.Object{pc}
	for name, annotations := range map[string]map[string]string{"alice": {"crossplane.io/paused": "true"}, "bob": nil} {
		objs = append(objs, &v1alpha1.Tenant{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ownNamespace, Annotations: annotations},
			Spec: v1alpha1.TenantSpec{
				UserID: name, TenantName: name, CloudSpaceID: name, Flux: &v1alpha1.FluxSpec{Enabled: ptr.To(false)},
			},
		})
	}
	for _, o := range objs {
		if err := c.Create(t.Context(), o); err != nil {
			t.Fatalf("Create(%T): %v", o, err)
		}
	}
}

// chartRepository has a vCluster chart with that template in it.
func chartRepository(t *testing.T, template string) string {
	t.Helper()
	chart := &bytes.Buffer{}
	zip := gzip.NewWriter(chart)
	files := tar.NewWriter(zip)
	var err error
	for name, content := range map[string]string{"Chart.yaml": "apiVersion: v2\nname: vcluster\nversion: 0.21.2\n", "templates/all.yaml": template} {
		header := files.WriteHeader(&tar.Header{Name: "vcluster/" + name, Size: int64(len(content)), Mode: 0o644})
		_, write := io.WriteString(files, content)
		err = errors.Join(err, header, write)
	}
	if err = errors.Join(err, files.Close(), zip.Close()); err != nil {
		t.Fatalf("cannot pack a chart: %v", err)
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/index.yaml" {
			_, _ = io.WriteString(w, "apiVersion: v1\nentries: {vcluster: [{name: vcluster, version: 0.21.2, urls: [vcluster.tgz]}]}\n")
			return
		}
		_, _ = w.Write(chart.Bytes())
	}))
	t.Cleanup(s.Close)
	return s.URL + "/vcluster"
}

// expectEntry waits until the change log has the entry.
func expectEntry(t *testing.T, log *changeLog, want string) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(context.Context) (bool, error) {
		return slices.Contains(log.has(), want), nil
	})
	if err != nil {
		t.Fatalf("The change log never had %q: it has %q", want, log.has())
	}
}

// connect has the provider find the cluster as it does outside of one, as a user
// who may do nothing.
func connect(t *testing.T, cluster *rest.Config) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: cluster.Host, CertificateAuthorityData: cluster.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"test": {ClientCertificateData: cluster.CertData, ClientKeyData: cluster.KeyData, Impersonate: providerUser}},
	}, file)
	if err != nil {
		t.Fatalf("WriteToFile(...): %v", err)
	}
	t.Setenv("KUBECONFIG", file)
}

// freeAddress is one that nothing listens on.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("net.Listen(...): %v", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// answers waits until the page is served with that code and the text in it.
func (p *process) answers(t *testing.T, url string, code int, text string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-p.done:
			return false, fmt.Errorf("the provider ended: %w", err)
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			last = err.Error()
			return false, nil
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		last = resp.Status + " " + string(body)
		return err == nil && resp.StatusCode == code && strings.Contains(last, text), nil
	})
	if err != nil {
		t.Fatalf("%s does not answer with %q: %v; the last answer was %.2000s", url, text, err, last)
	}
}

func holder(t *testing.T, c client.Client, key client.ObjectKey) string {
	t.Helper()
	lease := &coordinationv1.Lease{}
	if err := c.Get(t.Context(), key, lease); err != nil {
		t.Fatalf("Get(lease): %v", err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}
