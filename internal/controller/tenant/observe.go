// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Observe finds out what is there, writes it into the status and says what
// follows. It changes nothing on the host, and publishes the way in that it found, as
// the runtime does with connection details.
func (e *external) Observe(ctx context.Context, t *v1alpha1.Tenant) (managed.ExternalObservation, error) {
	if meta.WasDeleted(t) {
		return e.observeDeletion(ctx, t)
	}

	f, err := e.gather(ctx, t)
	if err != nil {
		e.reportUnknown(t, err)
		return managed.ExternalObservation{}, err
	}

	e.seen = f
	if f.settled() {
		e.failures.forget(t, parts...)
	}

	if stage, err := e.prove(ctx, t, f); err != nil {
		// The runtime adds its finalizer only after a look that did not fail.
		err = errors.Join(err, e.hold(ctx, t))
		e.reportFailure(t, stage, err)

		return managed.ExternalObservation{}, err
	}

	e.reportFacts(t)

	// What is not published is not the Tenant's yet, as before it adopts a vCluster. What
	// nobody asked for would be kept for nothing.
	var details managed.ConnectionDetails

	if f.access.published && t.GetWriteConnectionSecretToReference() != nil {
		if details, err = connectionDetails(f.access.kubeconfig); err != nil {
			return managed.ExternalObservation{}, err
		}
	}

	came := managed.ExternalObservation{
		ResourceExists:    f.exists(),
		ResourceUpToDate:  f.settled(),
		ConnectionDetails: details,
	}

	if e.staysSo(t, f) {
		e.keep(came)
	}

	return came, nil
}

// prove that what follows can be done, and have the kubeconfig published. That there is
// no point in trying to create or to adopt something is said from here and not from
// Create, whose error the runtime reports as Creating.
func (e *external) prove(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	switch {
	case f.boundary.namespace == nil && f.may.Create:
		return e.cannotCreate(ctx, t, f)
	case f.adopting && !f.goingAway():
		return v1alpha1.TypeBoundaryReady, e.cannotAdopt(ctx, f)
	case f.mustPublish():
		return v1alpha1.TypeKubeconfigPublished, e.publish(ctx, t, f)
	default:
		return "", nil
	}
}

// cannotCreate says why nothing can be made for the Tenant, and in which stage.
func (e *external) cannotCreate(ctx context.Context, t *v1alpha1.Tenant, f *facts) (xpv2.ConditionType, error) {
	if last, ok := e.pausing(t, partHost); ok {
		return last.stage, last.err
	}

	if err := f.cannotIsolate(); err != nil && f.isolationUnfinished() {
		return v1alpha1.TypeBoundaryReady, err
	}

	_, err := e.prepare(ctx, f)

	return v1alpha1.TypeReleaseDeployed, err
}

// wasReady says that the pass before left the Tenant Ready.
func (e *external) wasReady() bool {
	return e.before.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue
}

// reportFacts settles the status on what was seen.
func (e *external) reportFacts(t *v1alpha1.Tenant) {
	stages := e.seen.stages()
	e.report(t, summarize(stages), stages)
}

// report settles the status on the stages, with what the facts add to them.
func (e *external) report(t *v1alpha1.Tenant, s summary, stages []xpv2.Condition) {
	if r := e.seen.release; r != nil {
		t.Status.ChartVersion = r.ChartVersion
	}

	if k := e.seen.access.kubeconfig; k != nil {
		t.Status.Endpoint = k.Endpoint()
	}

	// Without a kubeconfig it is not known, and stays.
	if at := e.seen.certificate.ends; !at.IsZero() {
		t.Status.KubeconfigExpiresAt = ptr.To(metav1.NewTime(at))
	} else if e.seen.access.kubeconfig != nil {
		t.Status.KubeconfigExpiresAt = nil
	}

	if e.seen.access.published {
		t.Status.KubeconfigSecret = e.names.secret
	}

	t.Status.Quota = e.seen.quotaStatus()

	e.settle(t, s, stages...)
}

// reportUnknown keeps what was known of a Tenant that is Ready: not to know is
// no change, and the message says so. It fails any other, which waits for a person to read why.
func (e *external) reportUnknown(t *v1alpha1.Tenant, err error) {
	reason := v1alpha1.ReasonFailed
	if errors.Is(err, errConflict) {
		reason = v1alpha1.ReasonConflict
	} else if e.wasReady() {
		e.settle(t, summarizeUnknown(e.before.Conditions, err.Error()))
		return
	}

	stage := notDone(v1alpha1.TypeBoundaryReady, reason, err.Error())
	s := summarize([]xpv2.Condition{stage})

	if reason == v1alpha1.ReasonConflict {
		// Who works inside by this Tenant stops as well.
		e.settle(t, s, stage, notDone(v1alpha1.TypeAPIReachable, reason, "the vCluster is not this Tenant's"))
	} else {
		e.settle(t, s) // Which stage cannot be told, so that each stays as it was.
	}
}
