// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	kerrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/answers"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// errUnseenHost says that the host cluster does not answer, does not know the provider,
// or cannot be found. No other failure says so.
var errUnseenHost = errors.New("the host cluster is unreachable")

// unfound adds errUnseenHost to the failure to find the host of a Tenant that is being
// deleted if the provider configuration, or its Secret, does not exist.
func unfound(t *v1alpha1.Tenant, err error) error {
	if meta.WasDeleted(t) && kerrors.IsNotFound(err) {
		return fmt.Errorf("%w: %w", errUnseenHost, err)
	}

	return err
}

// notAnswered adds errUnseenHost to the failure of the host's client, or of a read of the
// namespace there, if no API server answered, or with 401. Whatever else an API server
// answers shows that the host is there.
func notAnswered(err error) error {
	if answers.None(err) || kerrors.IsUnauthorized(err) {
		return fmt.Errorf("%w: %w", errUnseenHost, tenantapi.Steady(err))
	}

	return err
}

// abandons says whether a person let go of the Tenant, and not of another one by a
// manifest that was copied.
func abandons(t *v1alpha1.Tenant) bool {
	return meta.WasDeleted(t) && t.GetAnnotations()[v1alpha1.AnnotationAbandon] == namesOf(t).namespace
}

// letsGo settles the status of a Tenant that is being deleted and could not be looked at,
// for that reason, and says whether it goes all the same: a person asked for that, and the
// host was unseen for abandonAfter without a break.
func (e *external) letsGo(t *v1alpha1.Tenant, why error) bool {
	if !errors.Is(why, errUnseenHost) {
		e.unseen.forget(t.GetUID())
		e.reportDeletion(t, v1alpha1.ReasonRemoving, why.Error())

		return false
	}

	now := e.clock.Now()

	counts := e.unseen.since(t.GetUID(), now).Add(abandonAfter)
	if !abandons(t) || now.Before(counts) {
		e.reportDeletion(t, v1alpha1.ReasonHostUnreachable, why.Error()+e.wayOut(t, counts))
		return false
	}

	e.reportDeletion(t, v1alpha1.ReasonHostUnreachable, "let go as it is, as the annotation "+v1alpha1.AnnotationAbandon+" says: "+why.Error())

	if t.Status.Message != e.before.Message { // Else only what else holds the Tenant is waited for.
		e.record.Event(t, event.Warning(reasonAbandoned, fmt.Errorf("left on the host cluster, as far as it still exists: namespace %q with release %q and all that is in it, "+
			"its volumes, and what was synced out of it; its kubeconfig is deleted: %w", e.names.namespace, e.names.release, why)))
	}

	return true
}

// wayOut tells what to do about a host cluster that does not come back, or until when the
// annotation that is set does not count.
func (e *external) wayOut(t *v1alpha1.Tenant, counts time.Time) string {
	at := counts.UTC().Format(time.RFC3339)
	if abandons(t) {
		return fmt.Sprintf("; waiting for it until %s: if it is unreachable until then, the Tenant is let go, as its annotation %s says", at, v1alpha1.AnnotationAbandon)
	}

	set := ""
	if asked, ok := t.GetAnnotations()[v1alpha1.AnnotationAbandon]; ok {
		set = fmt.Sprintf(", not %q", asked)
	}

	return fmt.Sprintf("; bring back what is missing or, if the host cluster is gone for good, set the annotation %s of this Tenant to %q%s, which counts from %s on",
		v1alpha1.AnnotationAbandon, e.names.namespace, set, at)
}

// wasLetGo says whether the Tenant that goes now does so by its annotation. It is asked
// once the pass has settled the status.
func wasLetGo(t *v1alpha1.Tenant) bool {
	return abandons(t) && t.GetCondition(v1alpha1.TypeBoundaryReady).Reason == v1alpha1.ReasonHostUnreachable
}

// abandoned is the client of a Tenant that goes as it is: nothing of it is looked at.
func abandoned() managed.TypedExternalClient[*v1alpha1.Tenant] {
	return managed.TypedExternalClientFns[*v1alpha1.Tenant]{
		ObserveFn: func(context.Context, *v1alpha1.Tenant) (managed.ExternalObservation, error) {
			return managed.ExternalObservation{}, nil
		},
		DisconnectFn: func(context.Context) error { return nil },
	}
}
