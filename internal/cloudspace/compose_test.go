// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// xr is a CloudSpace with defaults only.
func xr(more ...func(*XR)) XR {
	out := XR{Name: "staging", UID: uid, Namespace: "team-alice", Spec: Spec{UserID: user, CPU: amountOf("2"), Memory: amountOf("4Gi")}}
	for _, f := range more {
		f(&out)
	}

	return out
}

func isClaimed(x *XR) { x.Claimed = true }

// made is the Tenant that an XR has, with a name of its own.
func made(more ...func(*v1alpha1.Tenant)) *v1alpha1.Tenant {
	out := Compose(xr(), Observed{}).Tenant
	out.SetName("made-before")

	for _, f := range more {
		f(out)
	}

	return out
}

func TestComposeNames(t *testing.T) {
	t.Parallel()

	quotaOf := func(tenant string) *v1alpha1.TenantQuota {
		return &v1alpha1.TenantQuota{Spec: v1alpha1.TenantQuotaSpec{TenantRef: v1alpha1.TenantReference{Name: tenant}}}
	}
	agentOf := func(tenant string) *v1alpha1.AdvisorAgent {
		return &v1alpha1.AdvisorAgent{Spec: v1alpha1.AdvisorAgentSpec{TenantRef: v1alpha1.TenantReference{Name: tenant}}}
	}
	cases := map[string]struct {
		reason string
		o      Observed
		want   string
	}{
		"New":     {"The name is the XR's with a part of its UID, so that no other Tenant has it.", Observed{}, "staging-7e9d3a1b"},
		"Made":    {"A Tenant that exists keeps its name.", Observed{Tenant: made(), Quota: quotaOf("other")}, "made-before"},
		"Quota":   {"A TenantQuota refers to a Tenant for ever: it is made anew by that name.", Observed{Quota: quotaOf("made-before")}, "made-before"},
		"Advisor": {"So does an AdvisorAgent.", Observed{Advisor: agentOf("made-before")}, "made-before"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			x := xr(func(x *XR) { x.Spec.Advisor = &v1alpha1.AdvisorSpec{Enabled: ptr.To(true)} })
			d := Compose(x, tc.o)

			for what, got := range map[string]string{
				"the Tenant": d.Tenant.GetName(), "tenantRef of the quota": d.Quota.Spec.TenantRef.Name, "tenantRef of the advisor": d.Advisor.Spec.TenantRef.Name,
			} {
				if got != tc.want {
					t.Errorf("%s\nCompose(...): %s: want %q, got %q", tc.reason, what, tc.want, got)
				}
			}

			if d.Quota.GetName() != "" || d.Advisor.GetName() != "" {
				t.Errorf("Crossplane names the rest, unlike all others.\nCompose(...): got %q and %q", d.Quota.GetName(), d.Advisor.GetName())
			}
		})
	}
}

func TestComposeKeeps(t *testing.T) {
	t.Parallel()

	type ids struct{ User, Space, ID string }

	cases := map[string]struct {
		reason      string
		have        *v1alpha1.Tenant
		want        ids
		wantIgnored int
	}{
		"New":  {"The id of a CloudSpace is its XR's UID.", nil, ids{user, "space-3f1a2b4c", uid}, 0},
		"Same": {"Nothing is ignored when nothing differs.", made(), ids{user, "space-3f1a2b4c", uid}, 0},
		"Restored": {
			"The id stays that of the Tenant, and nobody asked for another.",
			made(func(t *v1alpha1.Tenant) { t.Spec.CloudSpaceID = "before" }), ids{user, "space-3f1a2b4c", "before"}, 0,
		},
		"Name": {
			"A name that cannot change is kept, with a word about it.",
			made(func(t *v1alpha1.Tenant) { t.Spec.TenantName = "before" }), ids{user, "before", uid}, 1,
		},
		"Both": {
			"So is the owner.",
			made(func(t *v1alpha1.Tenant) { t.Spec.TenantName, t.Spec.UserID = "before", "bob" }), ids{"bob", "before", uid}, 2,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := Compose(xr(isClaimed), Observed{Tenant: tc.have})
			s := d.Tenant.Spec

			if diff := cmp.Diff(tc.want, ids{s.UserID, s.TenantName, s.CloudSpaceID}); diff != "" {
				t.Errorf("%s\nCompose(...): -want, +got:\n%s", tc.reason, diff)
			}

			if len(d.Ignored) != tc.wantIgnored {
				t.Errorf("%s\nCompose(...): want %d ignored, got %q", tc.reason, tc.wantIgnored, d.Ignored)
			}

			if diff := cmp.Diff(&xpv2.LocalSecretReference{Name: "cloudspace-" + tc.want.ID + "-connection"}, s.WriteConnectionSecretToReference); diff != "" {
				t.Errorf("The connection Secret is that of the id.\nCompose(...): -want, +got:\n%s", diff)
			}
		})
	}
}

func TestComposeAdvisor(t *testing.T) {
	t.Parallel()

	image := v1alpha1.AdvisorSettings{Image: "a/b:c"}
	cases := map[string]struct {
		reason string
		a      *v1alpha1.AdvisorSpec
		want   bool
	}{
		"Unset":          {"The provider's default decides, which the Tenant knows.", nil, false},
		"Empty":          {"So it does where nothing is said of it.", &v1alpha1.AdvisorSpec{}, false},
		"Image":          {"Who names an image has it run.", &v1alpha1.AdvisorSpec{AdvisorSettings: image}, true},
		"Asked":          {"Who asks for it has it, or is told that there is no image.", &v1alpha1.AdvisorSpec{Enabled: ptr.To(true)}, true},
		"AskedWithImage": {"Both are no contradiction.", &v1alpha1.AdvisorSpec{Enabled: ptr.To(true), AdvisorSettings: image}, true},
		"Off":            {"What is turned off does not run.", &v1alpha1.AdvisorSpec{Enabled: ptr.To(false)}, false},
		"OffWithImage":   {"Also with an image.", &v1alpha1.AdvisorSpec{Enabled: ptr.To(false), AdvisorSettings: image}, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := Compose(xr(func(x *XR) { x.Spec.Advisor = tc.a }), Observed{})
			if got := d.Advisor != nil; got != tc.want {
				t.Errorf("%s\nCompose(...): want an AdvisorAgent: %t, got one: %t", tc.reason, tc.want, got)
			}

			if diff := cmp.Diff(tc.a, d.Tenant.Spec.Advisor); diff != "" {
				t.Errorf("A hand-over needs no order, since the Tenant has the same settings.\nCompose(...): -want, +got:\n%s", diff)
			}

			if tc.want && d.Advisor.Spec.Image != tc.a.Image {
				t.Errorf("%s\nCompose(...): image: want %q, got %q", tc.reason, tc.a.Image, d.Advisor.Spec.Image)
			}
		})
	}
}

func TestComposeSpec(t *testing.T) {
	t.Parallel()

	x := xr(func(x *XR) {
		x.Spec.Storage, x.Spec.Pods = amountOf("50Gi"), ptr.To[int32](50)
		x.Spec.Flux = &Flux{Enabled: ptr.To(false), ChartVersion: ptr.To("2.19.0")}
		x.Spec.VCluster = &VCluster{ChartVersion: ptr.To("0.36.1"), KubernetesVersion: ptr.To("v1.36.0")}
	})
	d := Compose(x, Observed{})

	want := v1alpha1.TenantSpec{
		UserID: user, TenantName: "space-3f1a2b4c", CloudSpaceID: uid,
		Quota:    v1alpha1.QuotaSpec{CPU: amountOf("2"), Memory: amountOf("4Gi"), Storage: amountOf("50Gi"), Pods: ptr.To[int32](50)},
		Flux:     &v1alpha1.FluxSpec{Enabled: ptr.To(false), ChartVersion: ptr.To("2.19.0")},
		VCluster: &v1alpha1.VClusterSpec{ChartVersion: ptr.To("0.36.1"), KubernetesVersion: ptr.To("v1.36.0")},
	}
	if diff := cmp.Diff(want, d.Tenant.Spec); diff != "" {
		t.Errorf("Nothing of the spec is lost, and nobody but a claim needs a connection Secret.\nCompose(...): -want, +got:\n%s", diff)
	}

	hard := corev1.ResourceList{
		corev1.ResourceLimitsCPU: *amountOf("2"), corev1.ResourceRequestsCPU: *amountOf("2"),
		corev1.ResourceLimitsMemory: *amountOf("4Gi"), corev1.ResourceRequestsMemory: *amountOf("4Gi"),
		corev1.ResourceRequestsStorage: *amountOf("50Gi"), corev1.ResourcePods: *amountOf("50"),
	}
	if diff := cmp.Diff(hard, d.Quota.Spec.Hard); diff != "" {
		t.Errorf("The quota inside says what the Tenant's own says.\nCompose(...): -want, +got:\n%s", diff)
	}

	for _, got := range []string{d.Tenant.GetNamespace(), d.Quota.GetNamespace()} {
		if got != x.Namespace {
			t.Errorf("All lies in one namespace.\nCompose(...): want %q, got %q", x.Namespace, got)
		}
	}
}
