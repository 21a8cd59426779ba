// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// chartName is the name of the vCluster chart in its own metadata.
const chartName = "vcluster"

// checkForeign errs with errConflict unless the Tenant may work with a namespace
// that is not its own: because it only looks, or because it was asked in so many
// words to adopt it. A nil namespace is there to be made.
func (e *external) checkForeign(ctx context.Context, t *v1alpha1.Tenant, ns *corev1.Namespace) error {
	if err := e.checkName(t); err != nil || ns == nil {
		return err
	}

	owner, lives, err := e.findOwner(ctx, ns)

	switch {
	case err != nil:
		return err
	case lives:
		return fmt.Errorf("%w: tenantName %q cannot be used, since namespace %q on the host cluster belongs to Tenant %q; "+
			"delete this Tenant and create one with another tenantName", errConflict, t.Spec.TenantName, ns.GetName(), owner)
	case reconciler.PoliciesOf(t).LooksOnly():
		return checkLook(t, ns, owner)
	default:
		return checkAsked(t, ns, owner)
	}
}

// checkLook errs with errConflict when the namespace may belong to a Tenant that this
// provider does not see, unless the Tenant was asked to look at it all the same.
func checkLook(t *v1alpha1.Tenant, ns *corev1.Namespace, owner types.NamespacedName) error {
	if !marked(ns) || t.GetAnnotations()[v1alpha1.AnnotationAdopt] == ns.GetName() {
		return nil
	}

	return fmt.Errorf("%w: namespace %q on the host cluster %s, or lives where this provider does not see it; to look at the vCluster in it, set the annotation %s of this Tenant to %q",
		errConflict, ns.GetName(), madeBy(ns, owner), v1alpha1.AnnotationAdopt, ns.GetName())
}

// marked says that the namespace carries the UID of a Tenant.
func marked(ns *corev1.Namespace) bool { return ns.GetLabels()[v1alpha1.LabelTenantUID] != "" }

// checkAsked errs with errConflict unless the Tenant was asked to adopt the
// namespace, whose owner is gone or never was. What was adopted since the Tenant was
// made is not taken back: its owner may live where this provider does not see it.
func checkAsked(t *v1alpha1.Tenant, ns *corev1.Namespace, owner types.NamespacedName) error {
	asked, ok := t.GetAnnotations()[v1alpha1.AnnotationAdopt]
	since, err := time.Parse(time.RFC3339, ns.GetAnnotations()[v1alpha1.AnnotationAdoptedAt])
	taken := err == nil && marked(ns) && !t.GetCreationTimestamp().After(since)

	switch {
	case !ok:
		return fmt.Errorf("%w: namespace %q exists on the host cluster and %s; to take over the vCluster in it, set the annotation %s of this Tenant to %q; "+
			"or else delete this Tenant and create one with another tenantName", errConflict, ns.GetName(), madeBy(ns, owner), v1alpha1.AnnotationAdopt, ns.GetName())
	case asked != ns.GetName():
		return fmt.Errorf("%w: the annotation %s of this Tenant is %q; to take over the vCluster of tenantName %q, it must be %q, the name of its namespace on the host cluster",
			errConflict, v1alpha1.AnnotationAdopt, asked, t.Spec.TenantName, ns.GetName())
	case !reconciler.PoliciesOf(t).Update:
		return fmt.Errorf("%w: cannot adopt namespace %q, since that changes it, which spec.managementPolicies do not allow; add Update to them",
			errConflict, ns.GetName())
	case taken:
		return fmt.Errorf("%w: cannot adopt namespace %q, since Tenant %q adopted it at %s, after this Tenant was made; "+
			"if it is to change hands once more, delete this Tenant and create it anew", errConflict, ns.GetName(), owner, since.Format(time.RFC3339))
	default:
		return nil
	}
}

// madeBy says whose a namespace is whose owner does not live.
func madeBy(ns *corev1.Namespace, owner types.NamespacedName) string {
	switch {
	case !marked(ns):
		return "was not made by this provider"
	case owner.Name == "":
		return "is left from a Tenant that it does not name"
	}

	return fmt.Sprintf("is left from Tenant %q, which is gone", owner)
}

// findOwner names the Tenant whose mark the namespace carries, and says whether it
// lives, in the cluster of this provider. The mark is its UID; by its name alone, it
// is another Tenant.
func (e *external) findOwner(ctx context.Context, ns *corev1.Namespace) (owner types.NamespacedName, lives bool, err error) {
	uid := types.UID(ns.GetLabels()[v1alpha1.LabelTenantUID])
	if uid == "" {
		return owner, false, nil
	}

	owner, named := host.TenantOf(ns)
	if named {
		o := &v1alpha1.Tenant{}
		if err := e.kubeLive.Get(ctx, owner, o); client.IgnoreNotFound(err) != nil {
			return owner, false, fmt.Errorf("cannot read Tenant %q, which namespace %q on the host cluster names: %w", owner, ns.GetName(), err)
		} else if err == nil && o.GetUID() == uid {
			return owner, true, nil
		}
	}

	// Someone may have changed the name on the namespace. A cache may be behind.
	all := &v1alpha1.TenantList{}
	if err := e.kubeLive.List(ctx, all); err != nil {
		return owner, false, fmt.Errorf("cannot list Tenants: %w", err)
	}

	for i := range all.Items {
		if all.Items[i].GetUID() == uid {
			return client.ObjectKeyFromObject(&all.Items[i]), true, nil
		}
	}

	return owner, false, nil
}

// checkName errs for who expects another release than that of the tenantName.
func (e *external) checkName(t *v1alpha1.Tenant) error {
	if n := meta.GetExternalName(t); n != "" && n != e.names.release {
		return fmt.Errorf("%w: the annotation %s is %q, but the release of tenantName %q is %q; remove the annotation, or create a Tenant with the tenantName of that release",
			errConflict, meta.AnnotationKeyExternalName, n, t.Spec.TenantName, e.names.release)
	}

	return nil
}

// cannotAdopt says why the vCluster in a namespace that is to be adopted must be left
// alone: it would not survive what the spec makes of it. Nothing has been touched yet.
func (e *external) cannotAdopt(ctx context.Context, f *facts) error {
	ns, r := e.names.namespace, f.release

	claims, err := e.leftClaims(ctx, f)

	switch {
	case err != nil:
		return err
	case !f.installed() && len(claims) == 0:
		return fmt.Errorf("%w: cannot adopt namespace %q on the host cluster, since it holds no Helm release %q, nor a volume claim of one; delete it there, or create a Tenant with another tenantName",
			errConflict, ns, e.names.release)
	case r != nil && r.ChartName != chartName:
		return fmt.Errorf("%w: cannot adopt namespace %q on the host cluster, since its release %q is of chart %q and not of %q; create a Tenant with another tenantName",
			errConflict, ns, e.names.release, r.ChartName, chartName)
	case f.invalid != nil:
		return f.invalid
	case f.cannotIsolate() != nil:
		return f.cannotIsolate()
	}

	if r != nil {
		err = refuse(r, f.desired)
	}

	switch {
	case err == nil && f.state == releaseLocked:
		err = errors.New(f.reason) // What its chart refuses is not known before.
	case err == nil:
		_, err = e.prepare(ctx, f)
	}

	if err == nil {
		err = e.checkRoom(ctx, f)
	}

	if err != nil {
		return fmt.Errorf("cannot adopt namespace %q on the host cluster: %w", ns, err)
	}

	return nil
}

// leftClaims are the volume claims of a control plane whose release is gone. Helm leaves
// them behind, and a new one takes them up with what is on them.
func (e *external) leftClaims(ctx context.Context, f *facts) ([]string, error) {
	if f.installed() {
		return nil, nil
	}

	l := &corev1.PersistentVolumeClaimList{}
	if err := e.live.List(ctx, l, client.InNamespace(e.names.namespace), client.MatchingLabels(vcluster.ControlPlaneLabels(e.names.release))); err != nil {
		return nil, unknown(fmt.Errorf("cannot list the volume claims in namespace %q on the host cluster: %w", e.names.namespace, err))
	}

	out := make([]string, 0, len(l.Items))
	for i := range l.Items {
		out = append(out, l.Items[i].GetName())
	}

	return out, nil
}

// adopt makes the namespace the Tenant's, as it was seen. Whatever else is to be done
// follows from that. Of two who adopt it at once, the API server lets one win.
func (e *external) adopt(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	ns := f.boundary.namespace.DeepCopy()
	e.stamp(t, ns)
	maps.Copy(ns.Labels, f.isolation.labels)
	meta.AddAnnotations(ns, map[string]string{v1alpha1.AnnotationAdoptedAt: e.clock.Now().UTC().Format(time.RFC3339)})

	if err := e.live.Update(ctx, ns); err != nil {
		if kerrors.IsNotFound(err) {
			return "", nil // The next pass looks again.
		}

		return v1alpha1.TypeBoundaryReady, fmt.Errorf("cannot adopt namespace %q on the host cluster: %w", ns.GetName(), err)
	}

	t.Status.HostClusterID = e.hostID

	with := "what an earlier vCluster has left on its volume claims"
	if r := f.release; f.installed() {
		with = fmt.Sprintf("revision %d of release %q, chart version %s", r.Revision, r.Name, r.ChartVersion)
	}

	e.record.Event(t, event.Normal(reasonAdopted, fmt.Sprintf("took over namespace %q with %s", ns.GetName(), with)))

	return "", nil
}
