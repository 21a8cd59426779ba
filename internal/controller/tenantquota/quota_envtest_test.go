// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package tenantquota

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/ratelimiter"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// realWorld is two real clusters with the controller.
type realWorld struct {
	*insidetest.Clusters

	t *testing.T
}

func runReal(t *testing.T) realWorld {
	t.Helper()

	return realWorld{t: t, Clusters: insidetest.RunClusters(t, func(mgr ctrl.Manager) error {
		return Setup(mgr, Options{
			Options: controller.Options{
				Logger: logging.NewNopLogger(), GlobalRateLimiter: ratelimiter.NewGlobal(100),
				PollInterval: time.Hour, MaxConcurrentReconciles: 4, Features: &feature.Flags{},
			},
			Pool: tenantapi.NewPool(),
		})
	})}
}

func (r realWorld) awaitReady(q *v1alpha1.TenantQuota, says string) {
	r.t.Helper()
	r.Await(r.Kube, q, "it is not Ready", func() bool {
		return q.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue && strings.Contains(q.Status.Message, says)
	})
}

// change the spec of q.
func (r realWorld) change(q *v1alpha1.TenantQuota, fn func(*v1alpha1.TenantQuotaSpec)) {
	r.t.Helper()
	r.Must(r.Kube.Get(r.t.Context(), client.ObjectKeyFromObject(q), q))
	fn(&q.Spec)
	r.Must(r.Kube.Update(r.t.Context(), q))
}

func pair(namespace string) []client.Object {
	return []client.Object{quotaIn(namespace), limitsIn(namespace)}
}

// everything that the TenantQuota of these tests makes.
func everything() []client.Object { return append(pair("default"), pair("team")...) }

// TestLifecycle follows a TenantQuota from its first pass to its deletion.
func TestLifecycle(t *testing.T) {
	r := runReal(t)

	example := &v1alpha1.TenantQuota{}
	r.Example("tenantquota/quota.yaml", example)

	if tn, _ := inside.TenantOf(example); tn != client.ObjectKeyFromObject(r.Tenant()) {
		t.Errorf("the example is for Tenant %q", tn)
	}

	q := insidetest.New(insidetest.Quota("q"))
	q.Spec.Namespaces = []string{"default", "team"}
	// What is finer than an API server stores, and what is written in another way.
	q.Spec.Hard = hard("limits.cpu", "0.2501", "requests.memory", "1024Mi", "pods", "10")
	r.Must(r.Kube.Create(t.Context(), q))
	r.awaitReady(q, "quota in place in 2 namespaces")

	t.Run("WritesNothingTwice", func(t *testing.T) { r.writesNothingTwice(t, q) })
	t.Run("AdmitsWhatAsksForNothing", r.admitsWhatAsksForNothing)
	t.Run("Q6: the tenant deletes the inner quota, or changes it", func(t *testing.T) { r.repairs(t, q) })
	t.Run("TellsARefusal", func(t *testing.T) { r.tellsARefusal(t, q) })
	t.Run("GivesWayToTheFirst", func(t *testing.T) { r.givesWayToTheFirst(t, q) })
	t.Run("RemovesItsOwn", func(t *testing.T) { r.removesItsOwn(t, q) })
}

func (r realWorld) writesNothingTwice(t *testing.T, q *v1alpha1.TenantQuota) {
	t.Helper()

	before := r.Versions(everything()...)

	for range 3 {
		r.Pass(q)
	}

	if diff := cmp.Diff(before, r.Versions(everything()...)); diff != "" {
		t.Errorf("a pass wrote: %s", diff)
	}
}

// admitsWhatAsksForNothing holds that a pod that asks for nothing is admitted, with
// what the whole quota allows.
func (r realWorld) admitsWhatAsksForNothing(t *testing.T) {
	p := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	r.Must(r.Inside.Create(t.Context(), p, client.DryRunAll))

	if got := p.Spec.Containers[0].Resources.Limits.Cpu().String(); got != "251m" {
		t.Errorf("a container gets %s", got)
	}
}

func (r realWorld) repairs(t *testing.T, q *v1alpha1.TenantQuota) {
	t.Helper()

	have := quotaIn("default")
	r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(have), have))

	have.Spec.Hard = hard("limits.cpu", "99")
	r.Must(r.Inside.Update(t.Context(), have))
	r.Must(r.Inside.Delete(t.Context(), limitsIn("team")))
	r.Must(r.Inside.Delete(t.Context(), quotaIn("team")))
	r.Pass(q)
	r.Versions(everything()...)

	if r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(have), have)); have.Spec.Hard.Name("limits.cpu", "").String() != "251m" || len(have.Spec.Hard) != 3 {
		t.Errorf("it is %v", have.Spec.Hard)
	}
}

func (r realWorld) tellsARefusal(t *testing.T, q *v1alpha1.TenantQuota) {
	t.Helper()

	before := r.Versions(quotaIn("default"))

	r.change(q, func(s *v1alpha1.TenantQuotaSpec) { s.Hard = hard("bananas", "3") })
	r.Await(r.Kube, q, "the refusal is not told", func() bool {
		return strings.Contains(q.Status.Message, "spec.hard[bananas]") && q.GetCondition(xpv2.TypeReady).Status == corev1.ConditionFalse
	})

	if diff := cmp.Diff(before, r.Versions(quotaIn("default"))); diff != "" {
		t.Errorf("what was refused changed something: %s", diff)
	}

	r.change(q, func(s *v1alpha1.TenantQuotaSpec) { s.Hard = hard("pods", "5") })
	r.awaitReady(q, "in 2 namespaces")
}

// givesWayToTheFirst holds that of two the first has a namespace, until it lets it go.
func (r realWorld) givesWayToTheFirst(t *testing.T, q *v1alpha1.TenantQuota) {
	t.Helper()

	other := insidetest.New(insidetest.Quota("other"))
	r.Must(r.Kube.Create(t.Context(), other))
	r.Await(r.Kube, other, "the conflict is not told", func() bool {
		return strings.Contains(other.Status.Message, `belongs to TenantQuota "kubeopera-system/q"`)
	})

	r.change(q, func(s *v1alpha1.TenantQuotaSpec) { s.Namespaces = []string{"team"} })
	r.awaitReady(q, "in namespace team")
	r.Pass(other)
	r.awaitReady(other, "in namespace default")

	r.Must(r.Kube.Delete(t.Context(), other))
	r.Await(r.Kube, other, "it is still there", nil)

	for _, o := range pair("default") {
		if err := r.Inside.Get(t.Context(), client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil || err == nil {
			t.Errorf("%T is left: %v", o, err)
		}
	}
}

// removesItsOwn holds that it waits for what it has made, and leaves the namespace.
func (r realWorld) removesItsOwn(t *testing.T, q *v1alpha1.TenantQuota) {
	t.Helper()

	// Something holds the limits inside the vCluster.
	l := limitsIn("team")
	r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(l), l))
	l.SetFinalizers([]string{"example.org/held"})
	r.Must(r.Inside.Update(t.Context(), l))

	r.Must(r.Kube.Delete(t.Context(), q))
	r.Await(r.Kube, q, "it does not wait", func() bool {
		return strings.Contains(q.Status.Message, `waiting for LimitRange "kubeopera-tenant" in namespace "team"`)
	})

	r.Must(r.Inside.Get(t.Context(), client.ObjectKeyFromObject(l), l))
	l.SetFinalizers(nil)
	r.Must(r.Inside.Update(t.Context(), l))
	r.Await(r.Kube, q, "it is still there", nil)

	ns := &corev1.Namespace{}
	if r.Must(r.Inside.Get(t.Context(), client.ObjectKey{Name: "team"}, ns)); ns.GetDeletionTimestamp() != nil || ns.Labels[inside.LabelOwnerUID] != "" {
		t.Errorf("the namespace is %v", ns.ObjectMeta)
	}
}
