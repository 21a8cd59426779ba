// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"fmt"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// Observed is what there is of a CloudSpace. What is nil is not there.
type Observed struct {
	Tenant  *v1alpha1.Tenant
	Advisor *v1alpha1.AdvisorAgent
	Quota   *v1alpha1.TenantQuota

	// Details are the Tenant's connection details, Published those of the XR.
	Details, Published map[string][]byte
}

// Desired is what a CloudSpace is composed of.
type Desired struct {
	Tenant *v1alpha1.Tenant
	// Advisor is nil when none is composed.
	Advisor *v1alpha1.AdvisorAgent
	Quota   *v1alpha1.TenantQuota

	// Ignored says what of the spec has no effect, and why.
	Ignored []string
}

// Compose says what a CloudSpace is made of. What exists keeps what can never
// change of it.
func Compose(xr XR, o Observed) Desired {
	var d Desired

	d.Tenant = tenant(xr, o)
	d.Ignored = keepImmutable(d.Tenant, o.Tenant)

	if xr.Claimed {
		d.Tenant.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: "cloudspace-" + d.Tenant.Spec.CloudSpaceID + "-connection"}
	}

	d.Quota = tenantQuota(xr, d.Tenant)

	if runsAdvisor(xr.Spec.Advisor) {
		d.Advisor = advisorAgent(xr, d.Tenant)
	}

	return d
}

func tenant(xr XR, o Observed) *v1alpha1.Tenant {
	t := &v1alpha1.Tenant{TypeMeta: typeMeta(v1alpha1.TenantGroupVersionKind), ObjectMeta: metav1.ObjectMeta{Namespace: xr.Namespace, Name: tenantName(xr, o)}}
	t.Spec.UserID = xr.Spec.UserID
	t.Spec.TenantName = xr.Spec.Name()
	t.Spec.CloudSpaceID = string(xr.UID)
	t.Spec.Quota = v1alpha1.QuotaSpec{CPU: xr.Spec.CPU, Memory: xr.Spec.Memory, Storage: xr.Spec.Storage, Pods: xr.Spec.Pods}
	t.Spec.Advisor = xr.Spec.Advisor

	if f := xr.Spec.Flux; f != nil {
		t.Spec.Flux = &v1alpha1.FluxSpec{Enabled: f.Enabled, ChartVersion: f.ChartVersion}
	}

	if v := xr.Spec.VCluster; v != nil {
		t.Spec.VCluster = &v1alpha1.VClusterSpec{ChartVersion: v.ChartVersion, KubernetesVersion: v.KubernetesVersion}
	}

	return t
}

// keepImmutable writes into the Tenant that is wanted what can never change of the one that
// exists. It returns what of the spec therefore has no effect.
func keepImmutable(want, have *v1alpha1.Tenant) []string {
	if have == nil {
		return nil
	}

	const remedy = "which never changes: set it back, or delete the CloudSpace and create another"

	var ignored []string
	if want.Spec.UserID != have.Spec.UserID {
		ignored = append(ignored, fmt.Sprintf("spec.userID %q has no effect: the CloudSpace belongs to %q, %s", want.Spec.UserID, have.Spec.UserID, remedy))
	}

	if want.Spec.TenantName != have.Spec.TenantName {
		ignored = append(ignored, fmt.Sprintf("spec.spaceName %q has no effect: the CloudSpace is named %q, %s", want.Spec.TenantName, have.Spec.TenantName, remedy))
	}

	want.Spec.UserID, want.Spec.TenantName, want.Spec.CloudSpaceID = have.Spec.UserID, have.Spec.TenantName, have.Spec.CloudSpaceID

	return ignored
}

// tenantName is the name of the Tenant object. The other two refer to it, and
// cannot be made to refer to another. It has a part of the XR's UID, so that
// nobody's Tenant has it already, whom Crossplane would take it from.
func tenantName(xr XR, o Observed) string {
	if o.Tenant != nil {
		return o.Tenant.GetName()
	}

	if o.Quota != nil {
		return o.Quota.Spec.TenantRef.Name
	}

	if o.Advisor != nil {
		return o.Advisor.Spec.TenantRef.Name
	}

	part, _, _ := strings.Cut(string(xr.UID), "-")

	return xr.Name + "-" + part
}

// runsAdvisor says whether an AdvisorAgent is composed: when an image is named, or
// when one is asked for in so many words. Without either, the Tenant runs one if the
// provider has a default image, and none if not, which only the provider knows.
func runsAdvisor(a *v1alpha1.AdvisorSpec) bool {
	if a == nil {
		return false
	}

	if a.Enabled != nil {
		return *a.Enabled
	}

	return a.Image != ""
}

func advisorAgent(xr XR, t *v1alpha1.Tenant) *v1alpha1.AdvisorAgent {
	a := &v1alpha1.AdvisorAgent{TypeMeta: typeMeta(v1alpha1.AdvisorAgentGroupVersionKind), ObjectMeta: metav1.ObjectMeta{Namespace: xr.Namespace}}
	a.Spec.TenantRef.Name = t.GetName()
	a.Spec.AdvisorSettings = xr.Spec.Advisor.AdvisorSettings

	return a
}

// tenantQuota shows the team inside what the Tenant's own quota is.
func tenantQuota(xr XR, t *v1alpha1.Tenant) *v1alpha1.TenantQuota {
	q := &v1alpha1.TenantQuota{TypeMeta: typeMeta(v1alpha1.TenantQuotaGroupVersionKind), ObjectMeta: metav1.ObjectMeta{Namespace: xr.Namespace}}
	q.Spec.TenantRef.Name = t.GetName()
	q.Spec.Hard = quota.TenantHard(t.Spec.Quota)
	q.Spec.Namespaces = []string{metav1.NamespaceDefault}

	return q
}

func typeMeta(k schema.GroupVersionKind) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: k.GroupVersion().String(), Kind: k.Kind}
}
