// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package tenant

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpresource "github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// pendingPatch is what people type.
var pendingPatch = client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Pending"}}`))

// apiServer is a real one, with the Tenant controller on it whose host cluster it
// is, too.
type apiServer struct {
	t *testing.T
	client.WithWatch
}

// newAPIServer runs the controller, without a provider configuration.
func newAPIServer(t *testing.T) *apiServer {
	t.Helper()

	cluster := testenv.RunControlPlane(t, "package/crds")

	c, err := client.NewWithWatch(cluster, client.Options{Scheme: testScheme()})
	if err != nil {
		t.Fatal(err)
	}

	s := &apiServer{t: t, WithWatch: c}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenantNamespace}})
	s.run(cluster)

	return s
}

// configure makes the provider configuration, which installs a chart that is refused.
func (s *apiServer) configure() {
	s.t.Helper()

	s.configureWith(map[string]string{"templates/all.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NoSuchName}\n"})
}

// configureWith makes the provider configuration, which installs a chart of these files.
func (s *apiServer) configureWith(files map[string]string) {
	s.t.Helper()

	charts := chartRepository(s.t, "vcluster", "0.36.1", files)

	pc := clusterConfig(func(spec *v1alpha1.ClusterProviderConfigSpec) {
		spec.Chart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Repository: charts.URL + "/charts/vcluster", Version: "0.36.1"}}
	})
	pc.SetUID("")
	s.create(pc)
}

func (s *apiServer) run(cluster *rest.Config) {
	s.t.Helper()

	skip := true
	o := ctrl.Options{
		Scheme:  testScheme(),
		Logger:  zap.New(zap.WriteTo(s.t.Output())),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	}
	o.Controller.SkipNameValidation = &skip

	mgr, err := ctrl.NewManager(cluster, o)
	if err != nil {
		s.t.Fatal(err)
	}

	// The controllers of these kinds do this.
	for _, k := range []client.Object{&v1alpha1.AdvisorAgent{}, &v1alpha1.TenantQuota{}} {
		if err := mgr.GetFieldIndexer().IndexField(s.t.Context(), k, inside.IndexTenant, inside.TenantNameOf); err != nil {
			s.t.Fatal(err)
		}
	}

	charts, err := helm.NewChartCache(s.t.TempDir())
	if err != nil {
		s.t.Fatal(err)
	}

	shared := controller.DefaultOptions()
	shared.Features.Enable(feature.EnableBetaManagementPolicies)

	err = Setup(mgr, Options{
		Options: shared, ChartVersion: "0.36.1", FluxChartVersion: "2.18.3", Charts: charts, Tenants: tenantapi.NewPool(),
	})
	if err != nil {
		s.t.Fatal(err)
	}

	reconcilertest.Start(s.t, mgr)
}

func (s *apiServer) create(o client.Object) {
	s.t.Helper()

	if err := s.Create(s.t.Context(), o); err != nil {
		s.t.Fatal(err)
	}
}

// eventually something is true of the Tenant, within that time.
func (s *apiServer) eventually(what string, within time.Duration, ok func(*v1alpha1.Tenant) bool) *v1alpha1.Tenant {
	s.t.Helper()

	tn := &v1alpha1.Tenant{}

	err := wait.PollUntilContextTimeout(s.t.Context(), 20*time.Millisecond, within, true, func(ctx context.Context) (bool, error) {
		return s.Get(ctx, aliceKey, tn) == nil && ok(tn), nil
	})
	if err != nil {
		s.t.Fatalf("%s: %v; the Tenant is %s: %s", what, err, tn.Status.Phase, tn.Status.Message)
	}

	return tn
}

// attempts that Helm has made: each is a revision.
func (s *apiServer) attempts() int {
	s.t.Helper()

	l := &corev1.SecretList{}
	if err := s.List(s.t.Context(), l, client.InNamespace("vcluster-alice-default"), client.MatchingLabels{"owner": "helm"}); err != nil {
		s.t.Fatal(err)
	}

	newest := 0

	for i := range l.Items {
		revision, err := strconv.Atoi(l.Items[i].GetLabels()["version"])
		if err != nil {
			s.t.Fatal(err)
		}

		newest = max(newest, revision)
	}

	return newest
}

// attempted that often, and failed.
func (s *apiServer) attempted(n int) func(*v1alpha1.Tenant) bool {
	return func(tn *v1alpha1.Tenant) bool {
		return s.attempts() == n && tn.Status.Phase == v1alpha1.PhaseFailed && tn.GetLastHandledReconcileAt() == tn.GetAnnotations()[meta.AnnotationKeyReconcileRequestedAt]
	}
}

// apply the objects of a file of the module.
func (s *apiServer) apply(file string) {
	s.t.Helper()

	f, err := os.Open(filepath.Join("..", "..", "..", file))
	if err != nil {
		s.t.Fatal(err)
	}

	defer func() { _ = f.Close() }()

	for d := yaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		o := &unstructured.Unstructured{}
		if err := d.Decode(&o.Object); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			s.t.Fatal(err)
		}

		s.create(o)
	}
}

// fresh is alice as people write her.
func fresh() *v1alpha1.Tenant {
	tn := alice().Obj()
	tn.ObjectMeta = metav1.ObjectMeta{Namespace: tenantNamespace, Name: "alice-default"}
	tn.Status = v1alpha1.TenantStatus{}

	return tn
}

// TestRetryOnAPIServer holds that each form in which a person asks for a retry
// causes one attempt, long before the next one is due. Failed attempts are 2, 4, 8,
// 16, 32 and 60 s apart.
func TestRetryOnAPIServer(t *testing.T) {
	s := newAPIServer(t)
	s.configure()
	s.create(fresh())

	tn := s.eventually("attempts are repeated", 30*time.Second, s.attempted(3))

	meta.SetReconcileRequest(tn, "1")

	if err := s.Update(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	tn = s.eventually("the annotation is an attempt at once", 4*time.Second, s.attempted(4))

	if err := s.Status().Patch(t.Context(), tn, pendingPatch); err != nil {
		t.Fatal(err)
	}

	s.eventually("the phase, patched in the status subresource, is one", 8*time.Second, s.attempted(5))

	s.apply("cluster/admission/retry.yaml")

	for _, n := range []int{6, 7} {
		token := s.typed(tn)
		tn = s.eventually("the phase, patched as people type it, is one", 10*time.Second, s.attempted(n))

		if got, _ := meta.GetReconcileRequest(tn); got != token {
			t.Errorf("the annotation is %q, want %q: it was asked for twice", got, token)
		}
	}

	if got := s.attempts(); got != 7 {
		t.Errorf("%d attempts, want 7: one for each request", got)
	}
}

// typed patches the phase as people type it, which the API server turns into the
// annotation once it knows the policy. It returns the annotation.
func (s *apiServer) typed(tn *v1alpha1.Tenant) string {
	s.t.Helper()

	before, _ := meta.GetReconcileRequest(tn)

	var token string

	err := wait.PollUntilContextTimeout(s.t.Context(), 100*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		patched := fresh()
		if err := s.Patch(ctx, patched, pendingPatch); err != nil {
			s.t.Log(err) // The policy does not know the kind of a CRD at once.
			return false, nil
		}

		token, _ = meta.GetReconcileRequest(patched)

		return token != before, nil
	})
	if err != nil || !strings.HasPrefix(token, "resourceVersion-") {
		s.t.Fatalf("the patch has become %q: %v", token, err)
	}

	return token
}

// TestRetryPolicy holds that the policy sees a person's patch and nothing else.
func TestRetryPolicy(t *testing.T) {
	c, err := client.NewWithWatch(testenv.RunControlPlane(t, "package/crds"), client.Options{Scheme: testScheme()})
	if err != nil {
		t.Fatal(err)
	}

	s := &apiServer{t: t, WithWatch: c}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenantNamespace}})
	s.create(fresh())
	s.apply("cluster/admission/retry.yaml")

	// stored is the Tenant in that phase with these annotations.
	stored := func(p v1alpha1.TenantPhase, annotations map[string]string) *v1alpha1.Tenant {
		tn := fresh()
		if err := s.Get(t.Context(), aliceKey, tn); err != nil {
			t.Fatal(err)
		}

		tn.SetAnnotations(annotations)

		if err := s.Update(t.Context(), tn); err != nil {
			t.Fatal(err)
		}

		tn.Status.Phase, tn.Status.Message = p, "a message"
		if err := s.Status().Update(t.Context(), tn); err != nil {
			t.Fatal(err)
		}

		return tn
	}

	s.typed(stored(v1alpha1.PhaseFailed, nil))

	cases := map[string]struct {
		reason string
		from   v1alpha1.TenantPhase
		write  func(*v1alpha1.Tenant) error
		asks   bool
	}{
		"Typed":      {"a person's patch of a failed Tenant", v1alpha1.PhaseFailed, func(tn *v1alpha1.Tenant) error { return s.Patch(t.Context(), tn, pendingPatch) }, true},
		"TypedReady": {"or of a Ready one", v1alpha1.PhaseReady, func(tn *v1alpha1.Tenant) error { return s.Patch(t.Context(), tn, pendingPatch) }, true},
		"Already":    {"one that is Pending already", v1alpha1.PhasePending, func(tn *v1alpha1.Tenant) error { return s.Patch(t.Context(), tn, pendingPatch) }, false},
		"Status":     {"the status subresource needs no help", v1alpha1.PhaseFailed, func(tn *v1alpha1.Tenant) error { return s.Status().Patch(t.Context(), tn, pendingPatch) }, false},
		"Other": {"another phase", v1alpha1.PhaseFailed, func(tn *v1alpha1.Tenant) error {
			return s.Patch(t.Context(), tn, client.RawPatch(types.MergePatchType, []byte(`{"status":{"phase":"Ready"}}`)))
		}, false},
		"Label": {"a label", v1alpha1.PhaseFailed, func(tn *v1alpha1.Tenant) error {
			return s.Patch(t.Context(), tn, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`)))
		}, false},
		"Own": {"the provider's finalizer, written while it holds the Tenant for Pending", v1alpha1.PhaseFailed, func(tn *v1alpha1.Tenant) error {
			tn.Status.Phase, tn.Status.Message = v1alpha1.PhasePending, messagePending
			return finalizer{Finalizer: xpresource.NewAPIFinalizer(s, "test/finalizer")}.AddFinalizer(t.Context(), tn)
		}, false},
		"Replaced": {"a manifest without a status", v1alpha1.PhaseFailed, func(tn *v1alpha1.Tenant) error {
			// As kubectl replace sends it.
			raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(tn)
			if err != nil {
				return err
			}

			u := &unstructured.Unstructured{Object: raw}
			u.SetGroupVersionKind(v1alpha1.TenantGroupVersionKind)
			u.SetLabels(map[string]string{"replaced": "true"})
			unstructured.RemoveNestedField(u.Object, "status")

			return s.Update(t.Context(), u)
		}, false},
	}
	for name, tc := range cases {
		for _, other := range []map[string]string{nil, {"other": "annotation"}} {
			if err := tc.write(stored(tc.from, other)); err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}

			tn := fresh()
			if err := s.Get(t.Context(), aliceKey, tn); err != nil {
				t.Fatal(err)
			}

			if token, asks := meta.GetReconcileRequest(tn); asks != tc.asks || tn.GetAnnotations()["other"] != other["other"] {
				t.Errorf("%s, with annotations %v: %s: the annotation is %q of %v", name, other, tc.reason, token, tn.GetAnnotations())
			}
		}
	}
}

// TestChildrenOnAPIServer holds that what the API server makes of the Tenant's own
// AdvisorAgent and TenantQuota is what was asked for: otherwise each pass would
// write them again.
func TestChildrenOnAPIServer(t *testing.T) {
	c, err := client.NewWithWatch(testenv.RunControlPlane(t, "package/crds"), client.Options{Scheme: testScheme()})
	if err != nil {
		t.Fatal(err)
	}

	s := &apiServer{t: t, WithWatch: c}
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: tenantNamespace}})

	for name, change := range map[string]func(*v1alpha1.Tenant){
		"bare": func(tn *v1alpha1.Tenant) { tn.Spec.Quota = v1alpha1.QuotaSpec{} },
		"full": func(tn *v1alpha1.Tenant) {
			tn.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: "ProviderConfig", Name: "own"}
			tn.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve, xpv2.ManagementActionCreate}
			tn.Spec.Quota.Storage, tn.Spec.Quota.Pods = ptr.To(resource.MustParse("1.5Gi")), ptr.To[int32](7)
			tn.Spec.Advisor = &v1alpha1.AdvisorSpec{AdvisorSettings: v1alpha1.AdvisorSettings{
				Image: "advisor:v1",
				Env: []corev1.EnvVar{
					{Name: "A", Value: "b"}, {Name: "EMPTY"},
					{Name: "C", ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"}}},
					{Name: "D", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}},
				},
				Resources: &corev1.ResourceRequirements{Requests: resources("0.1", "64Mi"), Limits: resources("1000m", "0.5Gi")},
			}}
		},
	} {
		tn := fresh()
		tn.SetName(name)
		tn.Spec.ProviderConfigReference, tn.Spec.ManagementPolicies = nil, nil
		tn.Spec.TenantName, tn.Spec.CloudSpaceID = "tenant-"+name, name
		change(tn)
		s.create(tn)

		e := newWorld(t).external(tn)
		e.kube, e.kubeLive = c, c

		want := children{wantAgent: e.agentOf(tn), wantQuota: e.quotaOf(tn)}
		if err := errors.Join(e.makeAgent(t.Context(), tn, &want), e.makeQuota(t.Context(), tn, &want)); err != nil {
			t.Fatal(err)
		}

		got := children{agent: &v1alpha1.AdvisorAgent{}, quota: &v1alpha1.TenantQuota{}, wantAgent: e.agentOf(tn), wantQuota: e.quotaOf(tn)}
		if err := errors.Join(s.Get(t.Context(), client.ObjectKeyFromObject(tn), got.agent), s.Get(t.Context(), client.ObjectKeyFromObject(tn), got.quota)); err != nil {
			t.Fatal(err)
		}

		if !e.agentRight(tn, got) {
			t.Errorf("%s: AdvisorAgent: -want, +got:\n%s", name, cmp.Diff(got.wantAgent.Spec, got.agent.Spec))
		}

		if !e.quotaRight(tn, got) {
			t.Errorf("%s: TenantQuota: -want, +got:\n%s", name, cmp.Diff(got.wantQuota.Spec, got.quota.Spec))
		}
	}
}
