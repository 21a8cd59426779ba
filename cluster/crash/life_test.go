// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	kresource "k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// life is one Tenant, from its creation to its end.
type life struct {
	*slot

	w    *world
	name string
	// kills that it has lived through.
	kills int
}

// newLife begins one in the slot. Nothing of it is there yet.
func (w *world) newLife(s *slot) *life {
	w.mu.Lock()
	defer w.mu.Unlock()

	w.made++
	l := &life{w: w, slot: s, name: fmt.Sprintf("life-%04d", w.made)}
	w.lives[l.name] = s

	return l
}

func (l *life) key() client.ObjectKey {
	return client.ObjectKey{Namespace: rig.Namespace, Name: l.name}
}

func (l *life) namespace() string { return vcluster.HostNamespace(l.name) }

// operation is something that a person does to a Tenant, and the state that is to
// follow from it.
type operation struct {
	name  string
	begin func(l *life) error
	// wrong says what is not as it is to be in the end; empty when all is.
	wrong func(l *life) string
	// calls are how many it takes at least.
	calls int
	// optional says that a life is complete without it.
	optional bool
}

func operations() []operation {
	return []operation{
		{name: "creation", begin: (*life).create, wrong: func(l *life) string { return l.notReady(oldVCluster) }, calls: 50},
		{name: "upgrade", begin: (*life).upgrade, wrong: func(l *life) string { return l.notReady(newVCluster) }, calls: 20, optional: true},
		{name: "deletion", begin: (*life).delete, wrong: (*life).notGone, calls: 35},
	}
}

func (l *life) create() error {
	t := &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: l.name}}
	t.Spec.UserID, t.Spec.TenantName, t.Spec.CloudSpaceID = l.name, l.name, l.name
	t.Spec.Quota = v1alpha1.QuotaSpec{CPU: ptr.To(kresource.MustParse("4")), Memory: ptr.To(kresource.MustParse("8Gi"))}
	t.Spec.Advisor = &v1alpha1.AdvisorSpec{AdvisorSettings: v1alpha1.AdvisorSettings{Image: "registry.example.org/advisor:1"}}
	t.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: l.name + "-connection"}

	return l.w.host.Create(l.w.t.Context(), t)
}

// upgrade changes something of each part that the Tenant is made of.
func (l *life) upgrade() error {
	t, err := l.tenant()
	if err != nil {
		return err
	}

	before := t.DeepCopy()
	t.Spec.VCluster = &v1alpha1.VClusterSpec{ChartVersion: ptr.To(newVCluster)}
	t.Spec.Quota.CPU = ptr.To(kresource.MustParse("6"))
	t.Spec.Advisor.Image = "registry.example.org/advisor:2"
	t.Spec.Flux = &v1alpha1.FluxSpec{ValuesOverrides: &apiextensionsv1.JSON{Raw: []byte(`{"sourceController":{"tag":"v1.9.7"}}`)}}

	return l.w.host.Patch(l.w.t.Context(), t, client.MergeFrom(before))
}

func (l *life) delete() error {
	return l.w.host.Delete(l.w.t.Context(), &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: l.name}})
}

func (l *life) tenant() (*v1alpha1.Tenant, error) {
	t := &v1alpha1.Tenant{}
	return t, l.w.host.Get(l.w.t.Context(), l.key(), t)
}

// notReady says what keeps the Tenant from being Ready with that chart; empty when
// nothing does.
func (l *life) notReady(chart string) string {
	t, err := l.tenant()
	if err != nil {
		return err.Error()
	}

	if t.Status.ChartVersion != chart {
		return fmt.Sprintf("chart %q is to be %q: %s", t.Status.ChartVersion, chart, t.Status.Message)
	}

	agent, quota := &v1alpha1.AdvisorAgent{}, &v1alpha1.TenantQuota{}
	for _, o := range []client.Object{agent, quota} {
		if err := l.w.host.Get(l.w.t.Context(), l.key(), o); err != nil {
			return err.Error()
		}
	}

	return cmp.Or(
		unsettled(t, t.Status.Conditions, t.Status.Message), unsettled(agent, agent.Status.Conditions, agent.Status.Message),
		unsettled(quota, quota.Status.Conditions, quota.Status.Message),
		l.notReported(v1alpha1.ReportActive),
	)
}

// unsettled says what of the object is not as in the best of cases.
func unsettled(mg resource.Managed, conditions []xpv2.Condition, message string) string {
	if meta.ExternalCreateIncomplete(mg) {
		return fmt.Sprintf("%T is marked as being created", mg)
	}

	for _, c := range conditions {
		switch {
		case c.Type == v1alpha1.TypeStalled:
		case c.Status != corev1.ConditionTrue:
			return fmt.Sprintf("%T: condition %s is %s, reason %s: %s (%s)", mg, c.Type, c.Status, c.Reason, c.Message, message)
		case c.Reason == v1alpha1.ReasonPendingChange:
			return fmt.Sprintf("%T: condition %s: %s", mg, c.Type, c.Message)
		case (c.Type == xpv2.TypeReady || c.Type == xpv2.TypeSynced) && c.ObservedGeneration != mg.GetGeneration():
			return fmt.Sprintf("%T: condition %s is of generation %d, not of %d", mg, c.Type, c.ObservedGeneration, mg.GetGeneration())
		}
	}

	if mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		return fmt.Sprintf("%T has no condition Ready", mg)
	}

	return ""
}

// notReported says what is wrong with the reports of the CloudSpace, the last of
// which is to be that.
func (l *life) notReported(last v1alpha1.ReportState) string {
	reports := l.w.reports.Reports(l.name)
	if len(reports) == 0 || reports[len(reports)-1].Status != last {
		return fmt.Sprintf("kubeopera-api was told %q, and not %q at last", l.w.reports.Statuses(l.name), last)
	}

	if !slices.IsSortedFunc(reports, func(a, b rig.FakeReport) int { return a.ObservedAt.Compare(b.ObservedAt) }) {
		return "kubeopera-api was told in another order"
	}

	return ""
}

// notGone says what is left of the life; empty when nothing is.
func (l *life) notGone() string {
	t, err := l.tenant()

	switch {
	case err == nil:
		return "the Tenant is there: " + t.Status.Message
	case !kerrors.IsNotFound(err):
		return err.Error()
	}

	if why := l.notReported(v1alpha1.ReportDeleted); why != "" {
		return why
	}

	left := l.w.inventory(l.w.host, l.name, nil)
	l.collect(left)

	return difference(nil, keys(left))
}

// collect deletes what belongs to a Tenant that is gone, as Kubernetes' garbage
// collector does.
func (l *life) collect(left map[string]*object) {
	for words, o := range left {
		if len(o.GetOwnerReferences()) == 0 || o.GetDeletionTimestamp() != nil {
			continue
		}

		if strings.HasPrefix(words, "AdvisorAgent ") || strings.HasPrefix(words, "TenantQuota ") {
			continue // The provider removes them itself.
		}

		_ = l.w.host.Delete(l.w.t.Context(), o) // What is left is looked at again.
	}
}

// records says what is wrong with the releases of the life.
func (l *life) records() string {
	// One more for each kill: what was left half-way is marked as failed.
	most := 2 + l.kills

	return cmp.Or(
		l.w.releases(l.w.host, l.namespace(), vcluster.ReleaseName(l.name), most),
		l.w.releases(l.inside, flux.Namespace, flux.ReleaseName, most),
	)
}

// inventories of the life, on the host and inside the vCluster.
func (l *life) inventories() (host, inside map[string]bool) {
	return keys(l.w.inventory(l.w.host, l.name, nil)), keys(l.w.inventory(l.inside, l.name, l.bare))
}
