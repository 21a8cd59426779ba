// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const day = 24 * time.Hour

const (
	// renewWithin is how long before its end a client certificate is renewed at the
	// earliest. vCluster makes new ones when it starts with less than 90 days left. Newer
	// ones do so by themselves, once a day, and are given the time for it.
	renewWithin = 85 * day
	// renewSpread is over how long the renewals of Tenants of one age are spread.
	renewSpread = 20 * day
	// warnWithin is how long before its end a person is told.
	warnWithin = 30 * day
)

// certificate is what is known of the client certificate that vCluster exports.
type certificate struct {
	// ends is zero when there is none.
	ends time.Time
	// due says that it is time to renew it, and that this was not tried for it yet.
	due bool
	// late says that it is still the same when it should not be.
	late bool
}

// renewalTime is how long before its end the client certificate of the Tenant with that
// UID is renewed: always the same, and another for another Tenant, so that those of one
// age do not restart at once.
func renewalTime(uid types.UID) time.Duration {
	h := fnv.New64a()
	_, _ = h.Write([]byte(uid)) // It never errs.

	return renewWithin - time.Duration(h.Sum64()%uint64(renewSpread))
}

// certificateOf is what follows from when it is valid, for one that is renewed within that
// time before its end. One that is short-lived is renewed in its second half: each
// restart makes another, and none may call for the next.
func certificateOf(a access, w controlPlaneFacts, within time.Duration, now time.Time) certificate {
	c := certificate{ends: a.ends}
	if a.ends.IsZero() {
		return c
	}

	half, left := a.ends.Sub(a.begins)/2, a.ends.Sub(now)
	c.due = w.found && left <= min(within, half) && w.renewed != renewalOf(a.ends)
	c.late = left <= min(warnWithin, half)

	return c
}

// renewalOf is the value of the annotation for a certificate that ends then. It makes
// one restart of one certificate, whoever dies meanwhile.
func renewalOf(ends time.Time) string { return ends.UTC().Format(time.RFC3339) }

// warning says when the certificate ends; empty as long as that is far away.
func (c certificate) warning() string {
	if !c.late {
		return ""
	}

	return fmt.Sprintf("the client certificate of the kubeconfig ends at %s and was not renewed; restart the control plane, or see its log", renewalOf(c.ends))
}

// renewalDue says that the control plane is to be restarted now. One that would lose all
// its objects by that is left to a person, who is told.
func (f *facts) renewalDue() bool {
	return f.certificate.due && f.may.Update && !f.adopting && f.release != nil && vcluster.SurvivesRestart(f.release.Values)
}

// renew restarts the control plane, which makes vCluster renew its certificates and
// export them anew.
func (e *external) renew(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	ct := v1alpha1.TypeKubeconfigPublished
	want := renewalOf(f.certificate.ends)

	// The cache may not have the restart of a moment ago.
	o, have, err := e.liveControlPlane(ctx, f.workload)
	if err != nil || have == want {
		return ct, err
	}

	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"template": map[string]any{
		"metadata": map[string]any{"annotations": map[string]string{v1alpha1.AnnotationRenewed: want}},
	}}})
	if err != nil {
		return ct, fmt.Errorf("cannot write the annotation of the control plane: %w", err)
	}

	if err := e.live.Patch(ctx, o, client.RawPatch(types.MergePatchType, patch)); err != nil {
		return ct, fmt.Errorf("cannot restart %s %q of the control plane, whose client certificate ends at %s: %w", f.workload.kind, f.workload.name, want, err)
	}

	e.record.Event(t, event.Normal(reasonRenewing, fmt.Sprintf("restarted the control plane to renew its certificates, since the kubeconfig's ends at %s", want)))

	return ct, nil
}

// liveControlPlane reads the control plane at the API server, with the certificate that
// it was restarted for last.
func (e *external) liveControlPlane(ctx context.Context, w controlPlaneFacts) (client.Object, string, error) {
	key := client.ObjectKey{Namespace: e.names.namespace, Name: w.name}

	var (
		o   client.Object
		pod *corev1.PodTemplateSpec
	)

	if w.kind == kindDeployment {
		d := &appsv1.Deployment{}
		o, pod = d, &d.Spec.Template
	} else {
		s := &appsv1.StatefulSet{}
		o, pod = s, &s.Spec.Template
	}

	if err := e.live.Get(ctx, key, o); err != nil {
		return nil, "", fmt.Errorf("cannot read %s %q on the host cluster: %w", w.kind, w.name, err)
	}

	return o, pod.GetAnnotations()[v1alpha1.AnnotationRenewed], nil
}

// tellExpiry records once that a certificate that should have been renewed was not.
func (e *external) tellExpiry(t *v1alpha1.Tenant) {
	was, is := e.before.GetCondition(v1alpha1.TypeKubeconfigPublished), t.GetCondition(v1alpha1.TypeKubeconfigPublished)
	if is.Reason == v1alpha1.ReasonExpiring && was.Reason != is.Reason {
		e.record.Event(t, event.Warning(reasonExpiring, errors.New(is.Message)))
	}
}
