// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package report

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"path"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/report"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

const patience = 30 * time.Second

// kubeoperaAPI is down until it is up.
type kubeoperaAPI struct {
	mu       sync.Mutex
	up       bool
	accepted []string
}

func (a *kubeoperaAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct{ Status string }

	a.mu.Lock()
	defer a.mu.Unlock()

	if err := json.NewDecoder(r.Body).Decode(&body); err != nil || !a.up {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}

	a.accepted = append(a.accepted, path.Base(path.Dir(r.URL.Path))+"/"+body.Status)
}

func (a *kubeoperaAPI) start() {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.up = true
}

func (a *kubeoperaAPI) reports() []string {
	a.mu.Lock()
	defer a.mu.Unlock()

	return append([]string(nil), a.accepted...)
}

// All of it on a real API server: what wakes the controller, what it reads and
// what it may write.
func TestSetup(t *testing.T) {
	api := &kubeoperaAPI{}
	server := httptest.NewServer(api)
	t.Cleanup(server.Close)

	kube, outbox := run(t, server.URL)

	create(t, kube, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
	create(t, kube, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: outboxNamespace}})

	a := alice()
	a.SetUID("")
	a.Spec.UserID = "alice"
	a.Status = v1alpha1.TenantStatus{}
	create(t, kube, a)

	reporting(a, v1alpha1.ReportProvisioning, 0)
	updateStatus(t, kube, a)

	eventually(t, "the Tenant says why it is not reported", func(ctx context.Context) bool {
		err := kube.Get(ctx, client.ObjectKeyFromObject(a), a)
		return err == nil && a.GetCondition(v1alpha1.TypeReported).Message == `cannot report "provisioning" to kubeopera-api: it answered 503 Service Unavailable`
	})

	before := alice()
	before.SetUID("0b8f3c6e-0000-4000-8000-000000000001")

	if err := outbox.Add(t.Context(), report.Of(before, v1alpha1.ReportStatus{Status: v1alpha1.ReportDeleted, ObservedAt: metav1.NewMicroTime(epoch)})); err != nil {
		t.Fatal(err)
	}

	create(t, kube, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: outboxNamespace, Name: "report-broken",
		Labels: map[string]string{report.LabelReport: "deleted"},
	}})
	eventually(t, "a damaged entry that names no CloudSpace has an event", func(ctx context.Context) bool {
		l := &corev1.EventList{}
		err := kube.List(ctx, l, client.InNamespace(outboxNamespace), client.MatchingFields{"involvedObject.name": "report-broken", "involvedObject.kind": "ConfigMap"})

		return err == nil && len(l.Items) == 1 && l.Items[0].Reason == string(reasonDamaged)
	})

	api.start()
	eventually(t, "the report is accepted", func(ctx context.Context) bool {
		err := kube.Get(ctx, client.ObjectKeyFromObject(a), a)
		return err == nil && a.Status.Report.AcceptedAt != nil && a.GetCondition(v1alpha1.TypeReported).Status == corev1.ConditionTrue
	})

	reporting(a, v1alpha1.ReportActive, time.Minute)
	updateStatus(t, kube, a)
	eventually(t, "the next report wakes the controller", func(context.Context) bool { return len(api.reports()) == 3 })

	if diff := cmp.Diff([]string{"alice-id/deleted", "alice-id/provisioning", "alice-id/active"}, api.reports()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if entries, _, err := outbox.Entries(t.Context(), aliceID); err != nil || len(entries) != 0 {
		t.Errorf("%d entries are left in the outbox, %v", len(entries), err)
	}
}

// run the controller as the provider does, and return a client that reads past
// its cache.
func run(t *testing.T, url string) (client.Client, *report.Outbox) {
	t.Helper()

	put, err := report.NewClient(report.Options{BaseURL: url})
	if err != nil {
		t.Fatal(err)
	}

	skip := true
	o := ctrl.Options{
		Scheme:  testScheme(),
		Logger:  zap.New(zap.WriteTo(t.Output())),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Cache:   cache.Options{ByObject: map[client.Object]cache.ByObject{&corev1.ConfigMap{}: report.OutboxCache(outboxNamespace)}},
	}
	o.Controller.SkipNameValidation = &skip

	mgr, err := ctrl.NewManager(testenv.RunControlPlane(t, "package/crds/kubeopera.io_tenants.yaml"), o)
	if err != nil {
		t.Fatal(err)
	}

	// The Tenant controller does this.
	err = mgr.GetFieldIndexer().IndexField(t.Context(), &v1alpha1.Tenant{}, index, func(o client.Object) []string {
		return []string{o.(*v1alpha1.Tenant).Spec.CloudSpaceID}
	})
	if err != nil {
		t.Fatal(err)
	}

	outbox := report.NewOutbox(mgr.GetClient(), mgr.GetAPIReader(), outboxNamespace)
	if err := Setup(mgr, Options{Options: controller.DefaultOptions(), Client: put, Outbox: outbox, CloudSpaceIndex: index}); err != nil {
		t.Fatal(err)
	}

	reconcilertest.Start(t, mgr)

	c, err := client.New(mgr.GetConfig(), client.Options{Scheme: testScheme()})
	if err != nil {
		t.Fatal(err)
	}

	return c, outbox
}

func create(t *testing.T, c client.Client, o client.Object) {
	t.Helper()

	if err := c.Create(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// updateStatus as it is in o, which the controller may have written to meanwhile.
func updateStatus(t *testing.T, c client.Client, o *v1alpha1.Tenant) {
	t.Helper()

	if err := c.Status().Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, ok func(context.Context) bool) {
	t.Helper()

	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) { return ok(ctx), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
