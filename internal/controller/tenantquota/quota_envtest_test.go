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

// TestReal follows TenantQuotas on real API servers.
func TestReal(t *testing.T) {
	r := runReal(t)
	ctx := t.Context()

	example := &v1alpha1.TenantQuota{}
	r.Example("tenantquota/quota.yaml", example)

	if tn, _ := inside.TenantOf(example); tn != client.ObjectKeyFromObject(r.Tenant()) {
		t.Errorf("the example is for Tenant %q", tn)
	}

	q := insidetest.New(insidetest.Quota("q"))
	q.Spec.Namespaces = []string{"default", "team"}
	// What is finer than an API server stores, and what is written in another way.
	q.Spec.Hard = hard("limits.cpu", "0.2501", "requests.memory", "1024Mi", "pods", "10")
	r.Must(r.Kube.Create(ctx, q))
	r.awaitReady(q, "quota in place in 2 namespaces")

	objs := append(pair("default"), pair("team")...)

	t.Run("NothingToDo", func(t *testing.T) {
		before := r.Versions(objs...)

		for range 3 {
			r.Pass(q)
		}

		if diff := cmp.Diff(before, r.Versions(objs...)); diff != "" {
			t.Errorf("a pass wrote: %s", diff)
		}
	})

	t.Run("Limits", func(t *testing.T) {
		// A pod that asks for nothing is admitted, with what the whole quota allows.
		p := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "p"},
			Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
		}
		r.Must(r.Inside.Create(ctx, p, client.DryRunAll))

		if got := p.Spec.Containers[0].Resources.Limits.Cpu().String(); got != "251m" {
			t.Errorf("a container gets %s", got)
		}
	})

	t.Run("Repair", func(t *testing.T) {
		have := quotaIn("default")
		r.Must(r.Inside.Get(ctx, client.ObjectKeyFromObject(have), have))

		have.Spec.Hard = hard("limits.cpu", "99")
		r.Must(r.Inside.Update(ctx, have))
		r.Must(r.Inside.Delete(ctx, limitsIn("team")))
		r.Pass(q)
		r.Versions(objs...)

		if r.Must(r.Inside.Get(ctx, client.ObjectKeyFromObject(have), have)); have.Spec.Hard.Name("limits.cpu", "").String() != "251m" || len(have.Spec.Hard) != 3 {
			t.Errorf("it is %v", have.Spec.Hard)
		}
	})

	t.Run("Refused", func(t *testing.T) {
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
	})

	t.Run("Conflict", func(t *testing.T) {
		other := insidetest.New(insidetest.Quota("other"))
		r.Must(r.Kube.Create(ctx, other))
		r.Await(r.Kube, other, "the conflict is not told", func() bool {
			return strings.Contains(other.Status.Message, `belongs to TenantQuota "kubeopera-system/q"`)
		})

		// It takes over what the first lets go.
		r.change(q, func(s *v1alpha1.TenantQuotaSpec) { s.Namespaces = []string{"team"} })
		r.awaitReady(q, "in namespace team")
		r.Pass(other)
		r.awaitReady(other, "in namespace default")

		r.Must(r.Kube.Delete(ctx, other))
		r.Await(r.Kube, other, "it is still there", nil)

		for _, o := range pair("default") {
			if err := r.Inside.Get(ctx, client.ObjectKeyFromObject(o), o); client.IgnoreNotFound(err) != nil || err == nil {
				t.Errorf("%T is left: %v", o, err)
			}
		}
	})

	t.Run("Deletion", func(t *testing.T) {
		// Something holds the limits inside the vCluster.
		l := limitsIn("team")
		r.Must(r.Inside.Get(ctx, client.ObjectKeyFromObject(l), l))
		l.SetFinalizers([]string{"example.org/held"})
		r.Must(r.Inside.Update(ctx, l))

		r.Must(r.Kube.Delete(ctx, q))
		r.Await(r.Kube, q, "it does not wait", func() bool {
			return strings.Contains(q.Status.Message, `waiting for LimitRange "kubeopera-tenant" in namespace "team"`)
		})

		r.Must(r.Inside.Get(ctx, client.ObjectKeyFromObject(l), l))
		l.SetFinalizers(nil)
		r.Must(r.Inside.Update(ctx, l))
		r.Await(r.Kube, q, "it is still there", nil)

		ns := &corev1.Namespace{}
		if r.Must(r.Inside.Get(ctx, client.ObjectKey{Name: "team"}, ns)); ns.GetDeletionTimestamp() != nil || ns.Labels[inside.LabelOwnerUID] != "" {
			t.Errorf("the namespace is %v", ns.ObjectMeta)
		}
	})
}
