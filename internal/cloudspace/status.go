// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"cmp"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// connectionKeys are what a claim's connection Secret holds.
var connectionKeys = []string{
	xpv2.CredentialsSecretKubeconfigKey,
	xpv2.CredentialsSecretEndpointKey,
	xpv2.CredentialsSecretCAKey,
	xpv2.CredentialsSecretClientCertKey,
	xpv2.CredentialsSecretClientKeyKey,
}

// unknown is said of what has not said anything itself.
const unknown = "nothing is known of it yet"

// Status is what a team reads of its CloudSpace.
type Status struct {
	// Phase is a Tenant's. It is Ready if the CloudSpace is, and only then.
	Phase   v1alpha1.TenantPhase `json:"phase,omitempty"`
	Message string               `json:"message,omitempty"`
	// SpaceName, Namespace, Endpoint and KubeconfigSecret say what the CloudSpace is
	// named, where it lies on the host cluster, and where and how it is reached.
	SpaceName        string `json:"spaceName,omitempty"`
	Namespace        string `json:"namespace,omitempty"`
	Endpoint         string `json:"endpoint,omitempty"`
	KubeconfigSecret string `json:"kubeconfigSecret,omitempty"`
}

// Summary is how a CloudSpace is.
type Summary struct {
	Status Status

	// Ready says that all of it is there. The others say it of its parts.
	Ready, TenantReady, AdvisorReady, QuotaReady bool

	// Details are the connection details for a claim. Those that are not known at
	// the moment are left out, and stay as they are.
	Details map[string][]byte
	// AwaitsDetails says that only they are missing. Nothing tells when they come.
	AwaitsDetails bool
}

// Summarize says how the CloudSpace is, given what there is of what is desired.
func Summarize(xr XR, o Observed, d Desired) Summary {
	s := Summary{Status: Status{SpaceName: d.Tenant.Spec.TenantName}}
	if xr.Claimed {
		s.Details = details(o.Details)
	}

	if t := o.Tenant; t != nil {
		s.TenantReady = isReady(t)
		s.Status.Namespace = t.Status.Namespace
		s.Status.Endpoint = t.Status.Endpoint
		s.Status.KubeconfigSecret = t.Status.KubeconfigSecret
	}

	s.QuotaReady = o.Quota != nil && isReady(o.Quota)
	s.AdvisorReady = o.Advisor != nil && isReady(o.Advisor)

	parts := s.TenantReady && s.QuotaReady && (d.Advisor == nil || s.AdvisorReady)
	s.AwaitsDetails = parts && xr.Claimed && !complete(o.Details) && !complete(o.Published)

	s.Status.Phase, s.Status.Message = s.phase(o, d)
	s.Ready = s.Status.Phase == v1alpha1.PhaseReady

	return s
}

// phase is the one place where phase and message come from. The first part that is
// not ready decides.
func (s *Summary) phase(o Observed, d Desired) (v1alpha1.TenantPhase, string) {
	switch {
	case o.Tenant == nil:
		return v1alpha1.PhasePending, "the Tenant is not there yet"
	case !s.TenantReady:
		return unready(o.Tenant)
	case d.Advisor != nil && o.Advisor == nil:
		return v1alpha1.PhaseInstallingFlux, "the AdvisorAgent is not there yet"
	case d.Advisor != nil && !s.AdvisorReady:
		return v1alpha1.PhaseInstallingFlux, fmt.Sprintf("AdvisorAgent %q is not ready: %s", o.Advisor.GetName(), cmp.Or(o.Advisor.Status.Message, unknown))
	case o.Quota == nil:
		return v1alpha1.PhaseInstallingFlux, "the TenantQuota is not there yet"
	case !s.QuotaReady:
		return v1alpha1.PhaseInstallingFlux, fmt.Sprintf("TenantQuota %q is not ready: %s", o.Quota.GetName(), cmp.Or(o.Quota.Status.Message, unknown))
	case s.AwaitsDetails:
		return v1alpha1.PhaseProvisioning, fmt.Sprintf("Secret %q does not hold the connection details yet", d.Tenant.Spec.WriteConnectionSecretToReference.Name)
	default:
		return v1alpha1.PhaseReady, o.Tenant.Status.Message
	}
}

// unready is where a Tenant stands that is not Ready, in its own words. What it asks
// for when its name is taken, a CloudSpace gets by another spaceName.
func unready(t *v1alpha1.Tenant) (v1alpha1.TenantPhase, string) {
	if c := t.GetCondition(v1alpha1.TypeBoundaryReady); c.Reason == v1alpha1.ReasonConflict && t.Status.Phase == v1alpha1.PhaseFailed {
		return t.Status.Phase, fmt.Sprintf("spaceName %q cannot be used: delete this CloudSpace and create one with another spaceName; its Tenant %q says: %s",
			t.Spec.TenantName, t.GetName(), t.Status.Message)
	}

	switch t.Status.Phase {
	case v1alpha1.PhaseProvisioning, v1alpha1.PhaseInstallingFlux, v1alpha1.PhaseFailed, v1alpha1.PhaseDeleting:
		return t.Status.Phase, t.Status.Message
	case v1alpha1.PhasePending, "":
		if t.Status.Message == "" {
			return v1alpha1.PhasePending, fmt.Sprintf("Tenant %q is waiting for the provider", t.GetName())
		}

		return v1alpha1.PhasePending, t.Status.Message
	default: // Ready in one word only, or a phase of a newer provider.
		return v1alpha1.PhaseProvisioning, t.Status.Message
	}
}

func isReady(c resource.Conditioned) bool {
	return resource.IsConditionTrue(c.GetCondition(xpv2.TypeReady))
}

// details are those that a claim gets.
func details(all map[string][]byte) map[string][]byte {
	out := map[string][]byte{}

	for _, key := range connectionKeys {
		if v, ok := all[key]; ok {
			out[key] = v
		}
	}

	return out
}

// complete says whether a kubeconfig, with all that goes with it, is among the
// details. A kubeconfig may do without a certificate of its own.
func complete(all map[string][]byte) bool {
	return len(all[xpv2.CredentialsSecretKubeconfigKey]) > 0 && len(all[xpv2.CredentialsSecretEndpointKey]) > 0
}
