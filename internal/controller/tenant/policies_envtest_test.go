// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package tenant

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// patch an object as kubectl does.
func (s *apiServer) patch(o client.Object, merge string) {
	s.t.Helper()

	if err := s.Patch(s.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(merge))); err != nil {
		s.t.Fatal(err)
	}
}

// ownChildren makes the AdvisorAgent and the TenantQuota that the Tenant would make.
func (s *apiServer) ownChildren(tn *v1alpha1.Tenant) []resource.Managed {
	s.t.Helper()

	q := tenantQuota("alice-default", "alice-default")
	q.Spec.Hard = corev1.ResourceList{corev1.ResourceLimitsCPU: tn.Spec.Quota.CPU.DeepCopy()}

	out := []resource.Managed{agent("alice-default", "alice-default"), q}
	for _, o := range out {
		o.SetUID("")
		o.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(tn, v1alpha1.TenantGroupVersionKind))})
		s.create(o)
	}

	return out
}

// follow waits until all of them are as it says.
func (s *apiServer) follow(what string, all []resource.Managed, ok func(resource.Managed) bool) {
	s.t.Helper()

	for _, o := range all {
		err := wait.PollUntilContextTimeout(s.t.Context(), 20*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
			return s.Get(ctx, client.ObjectKeyFromObject(o), o) == nil && ok(o), nil
		})
		if err != nil {
			s.t.Fatalf("%s: %v; the %T has annotations %v, policies %v", what, err, o, o.GetAnnotations(), o.GetManagementPolicies())
		}
	}
}

// TestR9PoliciesOnAPIServer holds that what a person writes of a Tenant's pause and
// policies reaches what it made, and comes back off it.
func TestR9PoliciesOnAPIServer(t *testing.T) {
	s := newAPIServer(t)
	s.configure()
	s.create(fresh())

	tn := s.eventually("an attempt is made", 30*time.Second, s.attempted(1))
	children := s.ownChildren(tn)
	byTenant := func(o resource.Managed) bool {
		return meta.IsPaused(o) && o.GetAnnotations()[v1alpha1.AnnotationPausedByTenant] == "true"
	}
	goesOn := func(o resource.Managed) bool { return !meta.IsPaused(o) && !byTenant(o) }
	pausedNow := func(tn *v1alpha1.Tenant) bool {
		return tn.GetCondition(xpv2.TypeSynced).Reason == xpv2.ReasonReconcilePaused
	}

	for what, write := range map[string][2]string{
		"the annotation": {`{"metadata":{"annotations":{"crossplane.io/paused":"true"}}}`, `{"metadata":{"annotations":{"crossplane.io/paused":null}}}`},
		"no policy":      {`{"spec":{"managementPolicies":[]}}`, `{"spec":{"managementPolicies":["*"]}}`},
	} {
		s.patch(fresh(), write[0])
		s.follow(what+" pauses what it made", children, byTenant)

		tn = s.eventually(what+" pauses it", 10*time.Second, pausedNow)
		attempts := s.attempts()

		// A change that would be tried at once.
		s.patch(fresh(), `{"spec":{"quota":{"cpu":"5"}}}`)
		s.eventually("the pause lasts", 10*time.Second, func(now *v1alpha1.Tenant) bool {
			return pausedNow(now) && now.GetGeneration() > tn.GetGeneration()
		})

		if got := s.attempts(); got != attempts {
			t.Errorf("%s: %d attempts while it is paused", what, got-attempts)
		}

		s.patch(fresh(), write[1])
		s.follow(what+" is taken off", children, goesOn)
		s.eventually("it goes on", 10*time.Second, func(now *v1alpha1.Tenant) bool { return !pausedNow(now) })
		s.patch(fresh(), `{"spec":{"quota":{"cpu":"4"}}}`)
	}

	s.patch(fresh(), `{"spec":{"managementPolicies":["Observe"]}}`)
	s.follow("they follow its policies", children, func(o resource.Managed) bool {
		return slices.Equal(o.GetManagementPolicies(), xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
	})

	if err := s.Delete(t.Context(), fresh()); err != nil {
		t.Fatal(err)
	}

	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 10*time.Second, true, func(ctx context.Context) (bool, error) {
		return kerrors.IsNotFound(s.Get(ctx, aliceKey, &v1alpha1.Tenant{})), nil
	})
	if err != nil {
		t.Fatalf("a Tenant that only observes does not go: %v", err)
	}

	if err := s.Get(t.Context(), client.ObjectKey{Name: "vcluster-alice-default"}, &corev1.Namespace{}); err != nil {
		t.Errorf("its namespace went with it: %v", err)
	}
}

// TestConfigIsWatched holds that a changed provider configuration is tried at once, long
// before the next attempt is due.
func TestConfigIsWatched(t *testing.T) {
	s := newAPIServer(t)
	s.configure()
	s.create(fresh())
	s.eventually("attempts are repeated, the next after 8 s", 30*time.Second, s.attempted(3))

	s.patch(clusterConfig(nil), `{"spec":{"chart":{"version":"0.36.9"}}}`)
	s.eventually("the new version is tried", 5*time.Second, func(tn *v1alpha1.Tenant) bool {
		return strings.Contains(tn.Status.Message, "0.36.9")
	})
}
