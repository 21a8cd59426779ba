// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// tenantIn is a Tenant in that phase.
func tenantIn(p v1alpha1.TenantPhase, message string, c xpv2.Condition) *v1alpha1.Tenant {
	return made(func(t *v1alpha1.Tenant) {
		t.Status.Phase, t.Status.Message = p, message
		t.SetConditions(c)
	})
}

func readyTenant() *v1alpha1.Tenant {
	t := tenantIn(v1alpha1.PhaseReady, "vCluster and Flux ready", xpv2.Available())
	t.Status.Namespace, t.Status.Endpoint, t.Status.KubeconfigSecret = "vcluster-space", "https://10.0.0.1:443", "tenant-x-kubeconfig"

	return t
}

func quotaWith(message string, c xpv2.Condition) *v1alpha1.TenantQuota {
	q := &v1alpha1.TenantQuota{}
	q.SetName("staging-quota")
	q.Status.Message = message
	q.SetConditions(c)

	return q
}

func agentWith(message string, c xpv2.Condition) *v1alpha1.AdvisorAgent {
	a := &v1alpha1.AdvisorAgent{}
	a.SetName("staging-advisor")
	a.Status.Message = message
	a.SetConditions(c)

	return a
}

// connection are all details that a Tenant has, and one more.
func connection() map[string][]byte {
	return map[string][]byte{
		"kubeconfig": []byte("k"), "endpoint": []byte("e"), "clusterCA": []byte("ca"), "clientCert": []byte("c"), "clientKey": []byte("p"), "password": []byte("x"),
	}
}

func TestSummarizePhase(t *testing.T) {
	t.Parallel()

	withImage := func(x *XR) {
		x.Spec.Advisor = &v1alpha1.AdvisorSpec{AdvisorSettings: v1alpha1.AdvisorSettings{Image: "a/b:c"}}
	}
	quotaReady, agentReady := quotaWith("in place", xpv2.Available()), agentWith("1 of 1", xpv2.Available())

	type want struct {
		Phase   v1alpha1.TenantPhase
		Message string
		Ready   bool
	}

	cases := map[string]struct {
		reason string
		xr     XR
		o      Observed
		want   want
	}{
		"New":          {"Nothing is there yet.", xr(), Observed{}, want{v1alpha1.PhasePending, "the Tenant is not there yet", false}},
		"Untouched":    {"A provider that does not run says nothing.", xr(), Observed{Tenant: made()}, want{v1alpha1.PhasePending, `Tenant "made-before" is waiting for the provider`, false}},
		"Pending":      {"The Tenant says itself that nothing was made.", xr(), Observed{Tenant: tenantIn(v1alpha1.PhasePending, "nothing", xpv2.Creating())}, want{v1alpha1.PhasePending, "nothing", false}},
		"Provisioning": {"The Tenant says what it waits for.", xr(), Observed{Tenant: tenantIn(v1alpha1.PhaseProvisioning, "0 of 1", xpv2.Creating())}, want{v1alpha1.PhaseProvisioning, "0 of 1", false}},
		"Failed":       {"The Tenant says why.", xr(), Observed{Tenant: tenantIn(v1alpha1.PhaseFailed, "taken", xpv2.Unavailable()), Quota: quotaReady}, want{v1alpha1.PhaseFailed, "taken", false}},
		"Taken": {"What the Tenant asks for is of no use to a team, which has no Tenants.", xr(), Observed{Tenant: tenantIn(v1alpha1.PhaseFailed, "taken",
			xpv2.Condition{Type: v1alpha1.TypeBoundaryReady, Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonConflict})}, want{v1alpha1.PhaseFailed,
			`spaceName "space-3f1a2b4c" cannot be used: delete this CloudSpace and create one with another spaceName; its Tenant "made-before" says: taken`, false}},
		"Deleting":     {"The Tenant says what it waits for.", xr(), Observed{Tenant: tenantIn(v1alpha1.PhaseDeleting, "a claim", xpv2.Deleting()), Quota: quotaReady}, want{v1alpha1.PhaseDeleting, "a claim", false}},
		"ReadyInWord":  {"Without the condition a Tenant is not Ready, and nor is the CloudSpace.", xr(), Observed{Tenant: tenantIn(v1alpha1.PhaseReady, "ready", xpv2.Unavailable()), Quota: quotaReady}, want{v1alpha1.PhaseProvisioning, "ready", false}},
		"NewerPhase":   {"A phase that nobody knew is not handed on.", xr(), Observed{Tenant: tenantIn("Hibernating", "zzz", xpv2.Unavailable())}, want{v1alpha1.PhaseProvisioning, "zzz", false}},
		"NoQuota":      {"The quota belongs to it.", xr(), Observed{Tenant: readyTenant()}, want{v1alpha1.PhaseInstallingFlux, "the TenantQuota is not there yet", false}},
		"QuotaWaits":   {"The quota belongs to it.", xr(), Observed{Tenant: readyTenant(), Quota: quotaWith("refused", xpv2.Unavailable())}, want{v1alpha1.PhaseInstallingFlux, `TenantQuota "staging-quota" is not ready: refused`, false}},
		"NoAdvisor":    {"So does the App Advisor.", xr(withImage), Observed{Tenant: readyTenant(), Quota: quotaReady}, want{v1alpha1.PhaseInstallingFlux, "the AdvisorAgent is not there yet", false}},
		"AdvisorWaits": {"So does the App Advisor.", xr(withImage), Observed{Tenant: readyTenant(), Quota: quotaReady, Advisor: agentWith("no image", xpv2.Unavailable())}, want{v1alpha1.PhaseInstallingFlux, `AdvisorAgent "staging-advisor" is not ready: no image`, false}},
		"AdvisorGoes":  {"One that is no longer wanted holds nothing up.", xr(), Observed{Tenant: readyTenant(), Quota: quotaReady, Advisor: agentWith("going", xpv2.Deleting())}, want{v1alpha1.PhaseReady, "vCluster and Flux ready", true}},
		"Ready":        {"All is there.", xr(withImage), Observed{Tenant: readyTenant(), Quota: quotaReady, Advisor: agentReady}, want{v1alpha1.PhaseReady, "vCluster and Flux ready", true}},
		"NoDetails":    {"A claim is Ready only with its Secret.", xr(isClaimed), Observed{Tenant: readyTenant(), Quota: quotaReady}, want{v1alpha1.PhaseProvisioning, `Secret "cloudspace-` + uid + `-connection" does not hold the connection details yet`, false}},
		"HalfDetails":  {"Half of it is nothing.", xr(isClaimed), Observed{Tenant: readyTenant(), Quota: quotaReady, Details: map[string][]byte{"endpoint": []byte("e")}}, want{v1alpha1.PhaseProvisioning, `Secret "cloudspace-` + uid + `-connection" does not hold the connection details yet`, false}},
		"Details":      {"All is there.", xr(isClaimed), Observed{Tenant: readyTenant(), Quota: quotaReady, Details: connection()}, want{v1alpha1.PhaseReady, "vCluster and Flux ready", true}},
		"Published":    {"What was published before is in the claim's Secret still.", xr(isClaimed), Observed{Tenant: readyTenant(), Quota: quotaReady, Published: connection()}, want{v1alpha1.PhaseReady, "vCluster and Flux ready", true}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := Summarize(tc.xr, tc.o, Compose(tc.xr, tc.o))
			if diff := cmp.Diff(tc.want, want{s.Status.Phase, s.Status.Message, s.Ready}); diff != "" {
				t.Errorf("%s\nSummarize(...): -want, +got:\n%s", tc.reason, diff)
			}

			if awaits := name == "NoDetails" || name == "HalfDetails"; s.AwaitsDetails != awaits {
				t.Errorf("No event tells of a Secret.\nSummarize(...): AwaitsDetails: want %t, got %t", awaits, s.AwaitsDetails)
			}
		})
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()

	x := xr(isClaimed)
	o := Observed{Tenant: readyTenant(), Quota: quotaWith("in place", xpv2.Available()), Details: connection()}
	o.Tenant.Spec.TenantName = "before"

	want := Summary{
		Status: Status{
			Phase: v1alpha1.PhaseReady, Message: "vCluster and Flux ready",
			SpaceName: "before", Namespace: "vcluster-space", Endpoint: "https://10.0.0.1:443", KubeconfigSecret: "tenant-x-kubeconfig",
		},
		Ready: true, TenantReady: true, QuotaReady: true,
		Details: connection(),
	}
	delete(want.Details, "password")

	if diff := cmp.Diff(want, Summarize(x, o, Compose(x, o))); diff != "" {
		t.Errorf("A claim gets the five details and no more, and the name is the one that holds.\nSummarize(...): -want, +got:\n%s", diff)
	}

	x.Claimed = false
	want.Details = nil

	if diff := cmp.Diff(want, Summarize(x, o, Compose(x, o)), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("Without a claim nothing asks for details, and none are handed on.\nSummarize(...): -want, +got:\n%s", diff)
	}
}
