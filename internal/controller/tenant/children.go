// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// children are the AdvisorAgents and TenantQuotas that name the Tenant. Those
// that are someone else's take the place of the Tenant's own.
type children struct {
	otherAgents []*v1alpha1.AdvisorAgent
	otherQuotas []*v1alpha1.TenantQuota

	// The Tenant's own, as they are and as they should be; nil is none.
	agent     *v1alpha1.AdvisorAgent
	quota     *v1alpha1.TenantQuota
	wantAgent *v1alpha1.AdvisorAgent
	wantQuota *v1alpha1.TenantQuota
	// noAgent says why no App Advisor is wanted at all.
	noAgent string
}

// readChildren finds those that there are, and says what the Tenant's own should be.
func (e *external) readChildren(ctx context.Context, t *v1alpha1.Tenant) (children, error) {
	var c children

	agents, quotas, err := listChildren(ctx, e.kube, t)
	if err != nil {
		return c, err
	}

	c.agent, c.otherAgents = split(t, agents)
	c.quota, c.otherQuotas = split(t, quotas)
	c.noAgent = e.whyNoAgent(t)

	if c.noAgent == "" && len(c.otherAgents) == 0 {
		c.wantAgent = e.agentOf(t)
	}

	if len(c.otherQuotas) == 0 {
		c.wantQuota = e.quotaOf(t)
	}

	return c, nil
}

// listChildren finds the AdvisorAgents and the TenantQuotas that name the Tenant,
// whoever made them.
func listChildren(ctx context.Context, kube client.Reader, t *v1alpha1.Tenant) ([]v1alpha1.AdvisorAgent, []v1alpha1.TenantQuota, error) {
	of := []client.ListOption{client.InNamespace(t.GetNamespace()), client.MatchingFields{inside.IndexTenant: t.GetName()}}

	agents := &v1alpha1.AdvisorAgentList{}
	if err := kube.List(ctx, agents, of...); err != nil {
		return nil, nil, fmt.Errorf("cannot list the AdvisorAgents of the Tenant: %w", err)
	}

	quotas := &v1alpha1.TenantQuotaList{}
	if err := kube.List(ctx, quotas, of...); err != nil {
		return nil, nil, fmt.Errorf("cannot list the TenantQuotas of the Tenant: %w", err)
	}

	return agents.Items, quotas.Items, nil
}

// whyNoAgent says what turns the App Advisor off; empty when it is on.
func (e *external) whyNoAgent(t *v1alpha1.Tenant) string {
	switch a := t.Spec.Advisor; {
	case a != nil && !ptr.Deref(a.Enabled, true):
		return "advisor.enabled is false"
	case (a == nil || a.Image == "") && e.defaults.advisorImage == "":
		return "no image is set, neither advisor.image nor the provider's ADVISOR_IMAGE"
	default:
		return ""
	}
}

// agentOf is the AdvisorAgent that a Tenant has of its own.
func (e *external) agentOf(t *v1alpha1.Tenant) *v1alpha1.AdvisorAgent {
	a := &v1alpha1.AdvisorAgent{ObjectMeta: e.childMeta(t)}
	a.Spec.TenantRef.Name = t.GetName()
	a.Spec.ManagedResourceSpec = childSpec(t)

	if s := t.Spec.Advisor; s != nil {
		a.Spec.AdvisorSettings = *s.AdvisorSettings.DeepCopy()
	}

	if a.Spec.Replicas == nil {
		a.Spec.Replicas = ptr.To[int32](1)
	}

	return a
}

// quotaOf is the TenantQuota that a Tenant has of its own.
func (e *external) quotaOf(t *v1alpha1.Tenant) *v1alpha1.TenantQuota {
	q := &v1alpha1.TenantQuota{ObjectMeta: e.childMeta(t)}
	q.Spec.TenantRef.Name = t.GetName()
	q.Spec.ManagedResourceSpec = childSpec(t)
	q.Spec.Hard = quota.TenantHard(t.Spec.Quota)
	q.Spec.Namespaces = []string{metav1.NamespaceDefault}

	return q
}

// childMeta is the metadata of what the Tenant makes, once it has a kubeconfig. It holds
// what the controller of that kind would begin with otherwise: the external name, the
// finalizer, and that it is inside of this Tenant.
func (e *external) childMeta(t *v1alpha1.Tenant) metav1.ObjectMeta {
	m := &metav1.PartialObjectMetadata{}
	m.SetNamespace(t.GetNamespace())
	m.SetName(t.GetName())
	m.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(t, v1alpha1.TenantGroupVersionKind))})
	e.stamp(t, m)
	meta.AddLabels(m, map[string]string{v1alpha1.LabelTenantUID: string(t.GetUID())})
	meta.SetExternalName(m, t.GetName())
	meta.AddFinalizer(m, managed.FinalizerName)

	return m.ObjectMeta
}

// childSpec is what a Tenant hands on: where it lives, and whether what was made
// of it is to outlive it.
func childSpec(t *v1alpha1.Tenant) xpv2.ManagedResourceSpec {
	return xpv2.ManagedResourceSpec{
		ProviderConfigReference: t.Spec.ProviderConfigReference.DeepCopy(),
		ManagementPolicies:      t.Spec.ManagementPolicies,
	}
}

// split tells the Tenant's own, nil when it has none, from the others.
func split[T any, P interface {
	*T
	client.Object
}](t *v1alpha1.Tenant, all []T) (own P, others []P) {
	for i := range all {
		if o := P(&all[i]); metav1.IsControlledBy(o, t) {
			own = o
		} else {
			others = append(others, o)
		}
	}

	return own, others
}

// quotaUnfinished says that the Tenant's own TenantQuota is missing.
func (f *facts) quotaUnfinished() bool { return f.children.quota == nil && f.children.wantQuota != nil }

// agentUnfinished says that the Tenant's own AdvisorAgent is missing.
func (f *facts) agentUnfinished() bool { return f.children.agent == nil && f.children.wantAgent != nil }

// agentRight says whether nothing of the Tenant's own AdvisorAgent must change.
func (e *external) agentRight(t *v1alpha1.Tenant, c children) bool {
	if c.agent == nil || c.wantAgent == nil {
		return (c.agent == nil) == (c.wantAgent == nil)
	}

	return e.stamped(t, c.agent) && equality.Semantic.DeepEqual(c.agent.Spec, c.wantAgent.Spec)
}

// quotaRight says whether nothing of the Tenant's own TenantQuota must change.
func (e *external) quotaRight(t *v1alpha1.Tenant, c children) bool {
	if c.quota == nil || c.wantQuota == nil {
		return (c.quota == nil) == (c.wantQuota == nil)
	}

	return e.stamped(t, c.quota) && equality.Semantic.DeepEqual(c.quota.Spec, c.wantQuota.Spec)
}

// makeAgent brings the Tenant's own AdvisorAgent to what is wanted.
func (e *external) makeAgent(ctx context.Context, t *v1alpha1.Tenant, c *children) error {
	switch {
	case c.wantAgent == nil && c.agent == nil:
		return nil
	case c.wantAgent == nil:
		return removeFrom(ctx, e.kube, c.agent)
	case c.agent == nil:
		made, err := e.createChild(ctx, t, c.wantAgent, &v1alpha1.AdvisorAgent{})
		if made {
			c.agent = c.wantAgent
		}

		return err
	}

	e.stamp(t, c.agent)
	c.agent.Spec = c.wantAgent.Spec

	return wrapped(e.kube.Update(ctx, c.agent), "cannot update", c.agent)
}

// makeQuota brings the Tenant's own TenantQuota to what is wanted.
func (e *external) makeQuota(ctx context.Context, t *v1alpha1.Tenant, c *children) error {
	switch {
	case c.wantQuota == nil && c.quota == nil:
		return nil
	case c.wantQuota == nil:
		return removeFrom(ctx, e.kube, c.quota)
	case c.quota == nil:
		made, err := e.createChild(ctx, t, c.wantQuota, &v1alpha1.TenantQuota{})
		if made {
			c.quota = c.wantQuota
		}

		return err
	}

	e.stamp(t, c.quota)
	c.quota.Spec = c.wantQuota.Spec

	return wrapped(e.kube.Update(ctx, c.quota), "cannot update", c.quota)
}

// createChild makes o, or says that there is one already, which the cache did not have. It
// errs with errConflict when the name is taken by one that does not belong to the Tenant.
func (e *external) createChild(ctx context.Context, t *v1alpha1.Tenant, o, have client.Object) (made bool, err error) {
	err = e.kube.Create(ctx, o)
	if !kerrors.IsAlreadyExists(err) {
		return err == nil, wrapped(err, "cannot create", o)
	}

	if err := e.kubeLive.Get(ctx, client.ObjectKeyFromObject(o), have); err != nil {
		return false, wrapped(client.IgnoreNotFound(err), "cannot read", o)
	}

	if named, _ := inside.TenantOf(have); metav1.IsControlledBy(have, t) || named == client.ObjectKeyFromObject(t) {
		return false, nil
	}

	return false, fmt.Errorf("%w: %s %q exists and does not belong to this Tenant; delete it, or let its tenantRef name this Tenant",
		errConflict, inside.KindOf(o), o.GetName())
}

func wrapped(err error, what string, o client.Object) error {
	if err == nil {
		return nil
	}

	return fmt.Errorf("%s %s %q: %w", what, inside.KindOf(o), o.GetName(), err)
}

func (f *facts) quotaStage() xpv2.Condition {
	const what = "the quota inside the vCluster"

	ct, c := v1alpha1.TypeQuotaApplied, f.children

	switch {
	case len(c.otherQuotas) > 0:
		return mirrored(ct, what, inPlace(c.otherQuotas)...)
	case c.quota != nil:
		return mirrored(ct, what, c.quota)
	case f.may.LooksOnly():
		return skipped(ct, "there is no TenantQuota, "+onlyObserved)
	default:
		return notDone(ct, v1alpha1.ReasonWaiting, what+" is not asked for yet")
	}
}

func (f *facts) advisorStage() xpv2.Condition {
	const what = "the App Advisor"

	ct, c := v1alpha1.TypeAdvisorReady, f.children

	switch {
	case len(c.otherAgents) > 0:
		return mirrored(ct, what, inPlace(c.otherAgents)...)
	case c.noAgent != "":
		return skipped(ct, c.noAgent)
	case c.agent != nil:
		return mirrored(ct, what, c.agent)
	case f.may.LooksOnly():
		return skipped(ct, "there is no AdvisorAgent, "+onlyObserved)
	default:
		return notDone(ct, v1alpha1.ReasonWaiting, what+" is not asked for yet")
	}
}

// inPlace leaves out those that another one keeps from their place, as long as there
// is one that has it: they run nothing.
func inPlace[T resource.Managed](all []T) []T {
	var out []T

	for _, o := range all {
		if o.GetCondition(xpv2.TypeReady).Reason != v1alpha1.ReasonConflict {
			out = append(out, o)
		}
	}

	if len(out) == 0 {
		return all
	}

	return out
}

// mirrored is the readiness of all of them, as they say themselves. One that was
// ready before its last change works as before.
func mirrored[T resource.Managed](ct xpv2.ConditionType, what string, of ...T) xpv2.Condition {
	out := done(ct)

	for _, o := range of {
		ready := o.GetCondition(xpv2.TypeReady)

		switch news := ready.ObservedGeneration != o.GetGeneration(); {
		case news && ready.Status == corev1.ConditionTrue:
			out = pendingChange(ct, what+" is to change")
		case news:
			return notDone(ct, v1alpha1.ReasonProgressing, what+" has been asked for")
		case ready.Status != corev1.ConditionTrue:
			return notDone(ct, v1alpha1.ReasonProgressing, fmt.Sprintf("%s is not ready: %s", what, cmp.Or(ready.Message, string(ready.Reason), "nothing is known of it yet")))
		case o.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionFalse:
			out = pendingChange(ct, fmt.Sprintf("%s: %s", what, cmp.Or(ready.Message, o.GetCondition(xpv2.TypeSynced).Message)))
		}
	}

	return out
}
