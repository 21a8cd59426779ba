// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package tenant

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const aliceHost = "vcluster-alice-default"

// TestWallOnAPIServer holds the wall against the admission of a real API server, which
// bounds pods by quotas and needs no node for that.
func TestWallOnAPIServer(t *testing.T) {
	s := newAPIServer(t)
	limits, wall := s.watchFor(&corev1.LimitRangeList{}, nil), s.watchFor(&corev1.ResourceQuotaList{}, nil)
	record := s.watchFor(&corev1.SecretList{}, client.MatchingLabels{"owner": "helm", "version": "1"})
	s.configure()
	s.create(fresh())
	s.eventually("Helm was tried", 30*time.Second, func(tn *v1alpha1.Tenant) bool { return tn.Status.Phase == v1alpha1.PhaseFailed })

	t.Run("Q1: 4 CPU and 8Gi, and no LimitRange anywhere", func(t *testing.T) {
		// One counter numbers all writes of an API server.
		if first, second, third := limits(), wall(), record(); first >= second || second >= third {
			t.Errorf("LimitRange at %d, ResourceQuota at %d, Helm at %d", first, second, third)
		}

		s.podsAdmitted(t)
	})
	t.Run("Q3: 2 CPU and 4Gi hold CoreDNS beside the control plane", s.platformFits)
	t.Run("Q6: the wall holds without a quota inside", s.wallHolds)
	t.Run("Q1: without its pair a quota refuses", s.bareQuotaRefuses)
}

// watchFor watches alice's host namespace, and returns what waits for the first of that
// kind to be created, and says at which version of the API server's that was.
func (s *apiServer) watchFor(kind client.ObjectList, labels client.MatchingLabels) func() int {
	s.t.Helper()

	w, err := s.Watch(s.t.Context(), kind, client.InNamespace(aliceHost), labels)
	s.must(err)
	s.t.Cleanup(w.Stop)

	return func() int {
		s.t.Helper()

		for patience := time.After(30 * time.Second); ; {
			select {
			case e := <-w.ResultChan():
				if o, ok := e.Object.(client.Object); ok && e.Type == watch.Added {
					return version(s.t, o)
				}

				if e.Type == "" || e.Type == watch.Error {
					s.t.Fatalf("%T: the watch ended: %v", kind, e.Object)
				}
			case <-patience:
				s.t.Fatalf("%T: none was created", kind)
			}
		}
	}
}

// podsAdmitted holds that vCluster's pods, some of which ask for nothing, are admitted.
func (s *apiServer) podsAdmitted(t *testing.T) {
	wall := &corev1.ResourceQuota{}
	s.must(s.Get(t.Context(), client.ObjectKey{Namespace: aliceHost, Name: wallName}, wall))

	s.enforce(wall.Spec.Hard)
	s.admitted(pod("vc-alice-default-0", resources("500m", "1Gi"), resources("2", "4Gi")))
	s.admitted(pod("asks-for-nothing", nil, nil))
	s.must(s.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(aliceHost), client.GracePeriodSeconds(0)))
	s.enforce(wall.Spec.Hard) // Nothing is in use again.
}

// platformFits lowers the quota to 2 CPU and 4Gi, and holds that the customer can use
// all of it, and what the platform runs is admitted all the same, whoever comes first.
func (s *apiServer) platformFits(t *testing.T) {
	s.eventually("the quota is lowered", 30*time.Second, func(tn *v1alpha1.Tenant) bool {
		*tn.Spec.Quota.CPU, *tn.Spec.Quota.Memory = resource.MustParse("2"), resource.MustParse("4Gi")
		return s.Update(t.Context(), tn) == nil
	})

	wall := &corev1.ResourceQuota{}
	tn := s.eventually("the wall follows", 30*time.Second, func(tn *v1alpha1.Tenant) bool {
		err := s.Get(t.Context(), client.ObjectKey{Namespace: aliceHost, Name: wallName}, wall)
		return err == nil && wall.Spec.Hard.Name(corev1.ResourceLimitsCPU, resource.DecimalSI).String() == "5" && tn.Status.Quota != nil
	})

	platform := tn.Status.Quota.Platform
	if got := inWords(platform); got["limits.cpu"] != "3" || got["limits.memory"] != "4266Mi" {
		t.Errorf("the platform's share is %v", got)
	}

	s.enforce(wall.Spec.Hard)
	s.admitted(pod("of-the-customer", resources("2", "4Gi"), resources("2", "4Gi")))
	s.admitted(pod("vc-alice-default-0", resources("500m", "1Gi"), resources("2", "4Gi")))
	s.admitted(pod("coredns", resources("20m", "64Mi"), resources("1", "170Mi")))
}

// wallHolds holds that whoever holds the tenant's kubeconfig, and has no quota of the
// tenant's own API, gets no more than all that the wall allows.
func (s *apiServer) wallHolds(t *testing.T) {
	wall := &corev1.ResourceQuota{}
	s.must(s.Get(t.Context(), client.ObjectKey{Namespace: aliceHost, Name: wallName}, wall))
	s.must(s.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace(aliceHost), client.GracePeriodSeconds(0)))
	s.enforce(wall.Spec.Hard)

	hard := wall.Spec.Hard
	s.admitted(pod("all-of-it",
		corev1.ResourceList{corev1.ResourceCPU: hard[corev1.ResourceRequestsCPU], corev1.ResourceMemory: hard[corev1.ResourceRequestsMemory]},
		corev1.ResourceList{corev1.ResourceCPU: hard[corev1.ResourceLimitsCPU], corev1.ResourceMemory: hard[corev1.ResourceLimitsMemory]}))

	err := s.Create(t.Context(), pod("one-more", resources("1m", "1Mi"), resources("1m", "1Mi")))
	if !kerrors.IsForbidden(err) || !strings.Contains(err.Error(), "exceeded quota: "+wallName) {
		t.Errorf("a pod beyond the quota: %v", err)
	}
}

// bareQuotaRefuses holds that the LimitRange is needed: the same pod is refused where
// only the quota is.
func (s *apiServer) bareQuotaRefuses(t *testing.T) {
	s.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "bare"}})

	hard := corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("4")}
	q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: "bare", Name: wallName}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	s.create(q)
	q.Status.Hard, q.Status.Used = hard, corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("0")}
	s.must(s.Status().Update(t.Context(), q))

	p := pod("asks-for-nothing", nil, nil)
	p.SetNamespace("bare")
	s.poll("the quota refuses it", func(ctx context.Context) bool {
		err := s.Create(ctx, p.DeepCopy(), client.DryRunAll)
		return err != nil && strings.Contains(err.Error(), "must specify limits.cpu")
	})
}

// enforce plays the quota controller, which the API server has its limits from.
func (s *apiServer) enforce(hard corev1.ResourceList) {
	s.t.Helper()

	s.poll("the quota is enforced", func(ctx context.Context) bool {
		q := &corev1.ResourceQuota{}
		if s.Get(ctx, client.ObjectKey{Namespace: aliceHost, Name: wallName}, q) != nil {
			return false
		}

		q.Status.Hard, q.Status.Used = hard, corev1.ResourceList{}
		for name := range hard {
			q.Status.Used[name] = resource.Quantity{}
		}

		return s.Status().Update(ctx, q) == nil
	})
}

// admitted creates the pod. The API server may look at a quota of a moment ago.
func (s *apiServer) admitted(p *corev1.Pod) {
	s.t.Helper()

	last := ""
	s.poll(p.GetName()+" is admitted", func(ctx context.Context) bool {
		err := s.Create(ctx, p.DeepCopy())
		if err != nil && err.Error() != last {
			last = err.Error()
			s.t.Logf("%s: %v", p.GetName(), err)
		}

		return err == nil
	})
}

func (s *apiServer) poll(what string, ok func(context.Context) bool) {
	s.t.Helper()

	err := wait.PollUntilContextTimeout(s.t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) { return ok(ctx), nil })
	if err != nil {
		s.t.Fatalf("%s: %v", what, err)
	}
}

func (s *apiServer) must(err error) {
	s.t.Helper()

	if err != nil {
		s.t.Fatal(err)
	}
}

func version(t *testing.T, o client.Object) int {
	t.Helper()

	n, err := strconv.Atoi(o.GetResourceVersion())
	if err != nil {
		t.Fatal(err)
	}

	return n
}

// pod of one container in alice's host namespace.
func pod(name string, requests, limits corev1.ResourceList) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: aliceHost, Name: name},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "c", Image: "i", Resources: corev1.ResourceRequirements{Requests: requests, Limits: limits},
		}}},
	}
}
