// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	shared "github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
)

// accept writes into the Tenant that its report was accepted.
func (r *reconciler) accept(ctx context.Context, d due) error {
	return r.write(ctx, d, func(t *v1alpha1.Tenant) bool {
		t.Status.Report.AcceptedAt = ptr.To(metav1.NewTime(r.clock.Now()))
		r.setReported(t, xpv2.Condition{Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonDone})

		return true
	})
}

// fail writes into the Tenants whose report is still to be delivered why it is not.
func (r *reconciler) fail(ctx context.Context, s *cloudSpace, tenants []v1alpha1.Tenant, cause error) error {
	var errs []error

	for _, d := range dueOfAll(tenants) {
		if s.knows(d.Report) || s.superseded(d.Report) {
			continue
		}

		errs = append(errs, r.write(ctx, d, func(t *v1alpha1.Tenant) bool {
			return r.setReported(t, xpv2.Condition{Status: corev1.ConditionFalse, Reason: v1alpha1.ReasonFailed, Message: cause.Error()})
		}))
	}

	return errors.Join(errs...)
}

// setReported sets the condition Reported, and says whether that changes anything.
func (r *reconciler) setReported(t *v1alpha1.Tenant, c xpv2.Condition) bool {
	was := t.GetCondition(v1alpha1.TypeReported)
	if was.Status == c.Status && was.Reason == c.Reason && was.Message == shared.Message(c.Message) {
		return false
	}

	c.Type = v1alpha1.TypeReported
	shared.SetCondition(t, was, c, metav1.NewTime(r.clock.Now()))

	return true
}

// write the status of the Tenant as change leaves it, if change says so. A Tenant
// that has changed meanwhile is read anew. It is left alone if it is gone, if
// another has its name, or if its report is not to be delivered any more.
func (r *reconciler) write(ctx context.Context, d due, change func(*v1alpha1.Tenant) bool) error {
	t := d.tenant.DeepCopy()

	err := retry.OnError(retry.DefaultRetry, kerrors.IsConflict, func() error {
		if rep, ok := dueOf(t); !ok || rep.Key() != d.Key() || !change(t) {
			return nil
		}

		t.Status.LastSyncedAt = ptr.To(metav1.NewTime(r.clock.Now()))

		err := r.kube.Status().Update(ctx, t)
		if !kerrors.IsConflict(err) {
			return client.IgnoreNotFound(err)
		}

		t = &v1alpha1.Tenant{}
		if gone := r.live.Get(ctx, client.ObjectKeyFromObject(d.tenant), t); gone != nil {
			return client.IgnoreNotFound(gone)
		}

		return err
	})
	if err != nil {
		return fmt.Errorf("cannot write into Tenant %q how its report went: %w", client.ObjectKeyFromObject(d.tenant), err)
	}

	return nil
}
