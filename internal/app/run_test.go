// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// TestRun runs the whole provider as the leader of one, and stops it.
func TestRun(t *testing.T) {
	cluster := testenv.RunControlPlane(t, "package/crds")
	connect(t, cluster)
	scheme, err := newScheme()
	if err != nil {
		t.Fatalf("newScheme(): %v", err)
	}
	c, err := client.New(cluster, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "kubeopera-system"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatalf("Create(namespace): %v", err)
	}

	paused := &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Name: "alice", Namespace: ns.Name, Annotations: map[string]string{"crossplane.io/paused": "true"}},
		Spec:       v1alpha1.TenantSpec{UserID: "alice", TenantName: "alice", CloudSpaceID: "alice"},
	}
	if err := c.Create(t.Context(), paused); err != nil {
		t.Fatalf("Create(tenant): %v", err)
	}

	config := valid(t)
	config.Poll = time.Second
	config.LeaderElection, config.PodNamespace = true, ns.Name
	config.MetricsAddress, config.ProbeAddress = freeAddress(t), freeAddress(t)

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- Run(ctx, config, NewLogger(t.Output(), true)) }()
	t.Cleanup(stop)

	for _, path := range []string{"/healthz", "/readyz"} {
		answers(t, done, "http://"+config.ProbeAddress+path, "ok")
	}
	// Controllers count from their first start, which is after the election.
	answers(t, done, "http://"+config.MetricsAddress+"/metrics", `controller_runtime_reconcile_total{controller="managed/tenant.kubeopera.io"`)
	answers(t, done, "http://"+config.MetricsAddress+"/metrics", `crossplane_managed_resource_exists{gvk="kubeopera.io/v1alpha1, Kind=Tenant"} 1`)

	key := client.ObjectKey{Namespace: ns.Name, Name: "provider-kubeopera.kubeopera.io"}
	if holder(t, c, key) == "" {
		t.Error("The leader holds a lease of its own name.")
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("To be told to stop is no failure.\nRun(...): %v", err)
	}
	if got := holder(t, c, key); got != "" {
		t.Errorf("Who stops gives the lease back, so that the next need not wait; it is still held by %q", got)
	}
}

func TestRunWithoutCRDs(t *testing.T) {
	connect(t, testenv.RunControlPlane(t))

	err := Run(t.Context(), valid(t), NewLogger(t.Output(), true))
	if want := "CRD tenants.kubeopera.io is not installed: kubectl apply -f package/crds"; err == nil || err.Error() != want {
		t.Errorf("What is missing is said at once, in one line.\nRun(...): want %q, got %v", want, err)
	}
}

// connect has the provider find the cluster as it does outside of one.
func connect(t *testing.T, cluster *rest.Config) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	err := clientcmd.WriteToFile(clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"test": {Server: cluster.Host, CertificateAuthorityData: cluster.CAData}},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"test": {ClientCertificateData: cluster.CertData, ClientKeyData: cluster.KeyData}},
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

// answers waits until the page is served with the text in it.
func answers(t *testing.T, done <-chan error, url, text string) {
	t.Helper()
	last := ""
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-done:
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
		return err == nil && resp.StatusCode == http.StatusOK && strings.Contains(last, text), nil
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
