// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// resources in CPU and memory, as a ResourceList.
func resources(cpu, memory string) corev1.ResourceList {
	return corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu), corev1.ResourceMemory: resource.MustParse(memory)}
}

// inWords is a list as people write it.
func inWords(l corev1.ResourceList) map[string]string {
	out := map[string]string{}
	for name, q := range l {
		out[string(name)] = q.String()
	}

	return out
}

// hard are the four numbers of a wall.
func hard(limitsCPU, requestsCPU, limitsMemory, requestsMemory string) map[string]string {
	return map[string]string{"limits.cpu": limitsCPU, "requests.cpu": requestsCPU, "limits.memory": limitsMemory, "requests.memory": requestsMemory}
}

// sized has one pod of such an App Advisor.
func sized(a *v1alpha1.AdvisorAgent, requests, limits corev1.ResourceList) *v1alpha1.AdvisorAgent {
	a.Spec.Replicas = ptr.To[int32](1)
	a.Spec.Resources = &corev1.ResourceRequirements{Requests: requests, Limits: limits}

	return a
}

// told has that value in the environment of the App Advisor.
func told(b tenantBuilder, value string) tenantBuilder {
	b.Spec.Advisor.Env = []corev1.EnvVar{{Name: "COMMIT", Value: value}}
	return b
}

// knownFlux needs 1/2 CPU and 1Gi/2Gi of memory.
func knownFlux() (quota.Allowance, error) {
	return quota.Allowance{Requests: resources("1", "1Gi"), Limits: resources("2", "2Gi"), Pods: 4}, nil
}

// TestWall holds what the wall is made of: the quota of 4 CPU and 8Gi, the vCluster
// of 520m/3 and 1088Mi/4266Mi, Flux and each App Advisor.
func TestWall(t *testing.T) {
	t.Parallel()

	sizedTenant := func(b tenantBuilder) tenantBuilder {
		b.Advisor("advisor:v1")
		b.Spec.Advisor.Replicas = ptr.To[int32](2)
		b.Spec.Advisor.Resources = &corev1.ResourceRequirements{Requests: resources("100m", "64Mi"), Limits: resources("500m", "256Mi")}

		return b
	}

	bare := hard("7", "4520m", "12458Mi", "9280Mi")

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		kube   []client.Object
		want   map[string]string
	}{
		"Bare":   {reason: "the vCluster alone", tenant: alice(), want: bare},
		"Flux":   {reason: "Flux counts", tenant: alice().WithFlux(""), want: hard("9", "5520m", "14506Mi", "10304Mi")},
		"NoFlux": {reason: "Flux that is turned off does not", tenant: alice(), want: bare},
		"Advisor": {
			// Without resources: 25m/200m, 32Mi/128Mi.
			reason: "the Tenant's own App Advisor counts", tenant: alice().Advisor("advisor:v1"),
			want: hard("7200m", "4545m", "12586Mi", "9312Mi"),
		},
		"Commit": {
			reason: "whatever its environment looks like", tenant: told(alice().Advisor("advisor:v1"), "1234e567"),
			want: hard("7200m", "4545m", "12586Mi", "9312Mi"),
		},
		"Replicas": {
			reason: "in its replicas and with its resources", tenant: sizedTenant(alice()), want: hard("8", "4720m", "12970Mi", "9408Mi"),
		},
		"Others": {
			reason: "those of others count instead of it, each", tenant: sizedTenant(alice()), kube: []client.Object{
				sized(agent("one", "alice-default"), resources("1", "1Gi"), resources("1", "1Gi")),
				sized(agent("two", "alice-default"), resources("1", "1Gi"), resources("2", "1Gi")),
				sized(agent("bobs", "bob"), resources("50", "50Gi"), resources("50", "50Gi")),
			},
			want: hard("10", "6520m", "14506Mi", "11328Mi"),
		},
		"OthersOnly": {
			reason: "also without an image of one's own", tenant: alice(), kube: []client.Object{
				sized(agent("one", "alice-default"), resources("1", "1Gi"), resources("1", "1Gi")),
			},
			want: hard("8", "5520m", "13482Mi", "10304Mi"),
		},
		"All": {
			reason: "all of it together", tenant: sizedTenant(alice().WithFlux("")), want: hard("10", "5720m", "15018Mi", "10432Mi"),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t, tc.kube...), tc.tenant.Obj()
			w.fluxNeeds = knownFlux
			w.mustPass(tn)

			q := read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName)
			if diff := cmp.Diff(tc.want, inWords(q.Spec.Hard)); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestWallOfUnknownFlux holds that nothing is taken away from what runs while it is
// not known what Flux needs, that it follows as soon as that is known, and that it
// follows the quota all the same once Flux is there.
func TestWallOfUnknownFlux(t *testing.T) {
	t.Parallel()

	unknown := func() (quota.Allowance, error) { return quota.Allowance{}, errInjected }
	w, b := newWorld(t), alice().WithFlux("")

	pass := func(when, want string, errs bool) {
		t.Helper()

		if _, err := w.pass(b.Obj()); (err != nil) != errs {
			t.Errorf("%s: %v", when, err)
		}

		q := read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName)
		if got := inWords(q.Spec.Hard)["limits.cpu"]; got != want {
			t.Errorf("%s the wall is %s, want %s", when, got, want)
		}
	}

	w.fluxNeeds = unknown
	pass("at first", "7", false)

	w.fluxNeeds = knownFlux
	pass("when it is known what Flux needs", "9", false)

	w.fluxNeeds = unknown
	pass("when that is forgotten before Flux is there", "9", false)

	w.fluxNeeds = knownFlux
	w.arrive(b.Obj())

	w.fluxNeeds = unknown
	pass("when that is forgotten", "9", false)

	if got := w.journal.take(); len(got) > 0 {
		t.Errorf("wrote %v", got)
	}

	*b.Spec.Quota.CPU = resource.MustParse("8")
	pass("with another quota", "13", false)

	w.fluxNeeds = knownFlux
	*b.WithFlux(`[]`).Spec.Quota.CPU = resource.MustParse("4")
	pass("with a Flux that cannot be", "9", true)
}

// TestWallOfAnImpossibleAdvisor holds that an App Advisor which the host would
// refuse needs nothing, and holds no change of the quota back.
func TestWallOfAnImpossibleAdvisor(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	before := read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName)

	w.add(sized(agent("one", "alice-default"), resources("2", "1Gi"), resources("1", "1Gi")))
	w.mustPass(tn)

	if diff := cmp.Diff(before.Spec, read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName).Spec); diff != "" {
		t.Errorf("the wall changed: -before, +after:\n%s", diff)
	}

	*tn.Spec.Quota.CPU = resource.MustParse("8")
	w.mustPass(tn)

	if got := inWords(read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName).Spec.Hard)["limits.cpu"]; got != "11" {
		t.Errorf("the wall is %s after the quota was raised, want 11", got)
	}
}

// TestWallOfAnUncountableAdvisor holds that a wall stays as long as it cannot be said what
// an App Advisor needs, and that this is told.
func TestWallOfAnUncountableAdvisor(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	// No schema of this version lets it through.
	many := sized(agent("one", "alice-default"), resources("1", "1Gi"), resources("1", "1Gi"))
	many.Spec.Replicas = ptr.To[int32](101)
	w.add(many)

	*tn.Spec.Quota.CPU = resource.MustParse("8")
	w.mustPass(tn)

	if got := inWords(read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName).Spec.Hard)["limits.cpu"]; got != "7" {
		t.Errorf("the wall is %s, want 7 as before", got)
	}

	c := tn.GetCondition(v1alpha1.TypeBoundaryReady)
	if c.Reason != v1alpha1.ReasonPendingChange || !strings.Contains(c.Message, `AdvisorAgent "one"`) || !strings.Contains(c.Message, "spec.replicas must be 0 to 100, not 101") {
		t.Errorf("%s: %s", c.Reason, c.Message)
	}
}

// TestKeptWall holds that a wall which stays whatever the spec says is told.
func TestKeptWall(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().WithFlux("")
	w.fluxNeeds = func() (quota.Allowance, error) { return quota.Allowance{}, errInjected }
	w.mustPass(b.Obj())

	*b.Spec.Quota.CPU = resource.MustParse("8")
	w.mustPass(b.Obj())

	c := b.GetCondition(v1alpha1.TypeBoundaryReady)
	if c.Reason != v1alpha1.ReasonPendingChange || !strings.Contains(c.Message, "stays as it is") || !strings.Contains(c.Message, errInjected.Error()) {
		t.Errorf("a raised quota that waits is not told: %s %q", c.Reason, c.Message)
	}
}

// TestQ5QuotaRaised holds that wall, inner quota and status follow in one pass,
// without Helm.
func TestQ5QuotaRaised(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().WithFlux("").Advisor("advisor:v1")
	w.fluxNeeds = knownFlux
	w.arrive(b.Obj())

	*b.Spec.Quota.CPU, *b.Spec.Quota.Memory = resource.MustParse("8"), resource.MustParse("16Gi")
	b.SetGeneration(2)
	w.mustPass(b.Obj())

	if diff := cmp.Diff([]string{resize, requota}, without(w.journal.take(), "host create Namespace vcluster-alice-default")); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	inner := read[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, "alice-default")
	if diff := cmp.Diff(hard("8", "8", "16Gi", "16Gi"), inWords(inner.Spec.Hard)); diff != "" {
		t.Errorf("the inner quota: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(hard("13200m", "9545m", "22826Mi", "18528Mi"), inWords(b.Status.Quota.Hard)); diff != "" || b.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("%s: %s: status.quota.hard: -want, +got:\n%s", b.Status.Phase, b.Status.Message, diff)
	}
}

// TestQuotaStatus holds that what is shown is what the host has, and that its parts
// are its sum.
func TestQuotaStatus(t *testing.T) {
	t.Parallel()

	w, b := newWorld(t), alice().WithFlux("").Advisor("advisor:v1")
	w.fluxNeeds = knownFlux
	b.Spec.Quota.Storage, b.Spec.Quota.Pods = ptr.To(resource.MustParse("50Gi")), ptr.To[int32](20)

	e := w.external(b.Obj())
	if _, err := e.Observe(t.Context(), b.Obj()); err != nil || b.Status.Quota != nil {
		t.Errorf("before there is a wall: %v, %v", b.Status.Quota, err)
	}

	w.arrive(b.Obj())

	change(w, w.host, "vcluster-alice-default", wallName, func(q *corev1.ResourceQuota) {
		q.Status.Used = corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("5500m"), corev1.ResourcePods: resource.MustParse("9")}
	})
	w.mustPass(b.Obj())

	s := b.Status.Quota
	wall := read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName)

	if diff := cmp.Diff(inWords(wall.Spec.Hard), inWords(s.Hard)); diff != "" || len(s.Hard) != 6 {
		t.Errorf("hard: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(map[string]string{"limits.cpu": "5500m", "pods": "9"}, inWords(s.Used)); diff != "" {
		t.Errorf("used: -want, +got:\n%s", diff)
	}

	for name, whole := range s.Hard {
		sum, platform := s.Workloads[name], s.Platform[name]
		sum.Add(platform)

		if sum.Cmp(whole) != 0 || platform.Sign() <= 0 {
			t.Errorf("%s: %s is not the sum of %v and %v", name, whole.String(), s.Workloads[name], platform)
		}
	}

	if cpu := s.Workloads[corev1.ResourceLimitsCPU]; cpu.Cmp(*b.Spec.Quota.CPU) != 0 {
		t.Errorf("the share of the workloads is %s, want the quota", cpu.String())
	}
}

// TestQuotaStatusOfAnOldWall holds that what the wall does not bound has no
// allowance.
func TestQuotaStatusOfAnOldWall(t *testing.T) {
	t.Parallel()

	tn := alice().Obj()
	spec := corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("5")}}
	s := (&facts{shares: quota.Shares(tn.Spec.Quota, spec.Hard), boundary: boundary{quota: &corev1.ResourceQuota{Spec: spec}}}).quotaStatus()

	if diff := cmp.Diff(map[string]string{"limits.cpu": "1"}, inWords(s.Platform)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if (&facts{}).quotaStatus() != nil {
		t.Error("without a wall there is something to show")
	}
}

// TestWallOfTwoAdvisors holds that one which another keeps from its place adds
// nothing to the customer's share, and takes nothing of the Tenant's readiness.
func TestWallOfTwoAdvisors(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	first, second := sized(agent("one", "alice-default"), resources("1", "1Gi"), resources("1", "1Gi")), sized(agent("two", "alice-default"), resources("5", "5Gi"), resources("5", "5Gi"))
	first.SetConditions(xpv2.Available())

	refused := xpv2.Unavailable().WithMessage("conflict: it belongs to one")
	refused.Reason = v1alpha1.ReasonConflict
	second.SetConditions(refused)

	w.idleChildren = true
	w.add(first)
	w.add(second)
	w.idleChildren = false
	w.arrive(tn)

	if got := inWords(read[*corev1.ResourceQuota](w, w.host, "vcluster-alice-default", wallName).Spec.Hard)["limits.cpu"]; got != "8" {
		t.Errorf("the wall is %s, want 4 of the quota, 3 of the vCluster and 1 of the first", got)
	}

	if got := inPlace([]*v1alpha1.AdvisorAgent{second}); len(got) != 1 {
		t.Error("if all are in conflict, their messages must be seen")
	}
}
