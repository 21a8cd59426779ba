// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// errUnseenHost says that the host cluster cannot be looked at.
var errUnseenHost = errors.New("the host cluster is unreachable")

// howToAbandon tells what to do about a host cluster that does not come back.
func (e *external) howToAbandon() string {
	return fmt.Sprintf("; bring back what is missing or, if the host cluster is gone for good, set the annotation %s of this Tenant to %q",
		v1alpha1.AnnotationAbandon, e.names.namespace)
}

// abandons says whether a person let go of the Tenant, and not of another one by a
// manifest that was copied.
func abandons(t *v1alpha1.Tenant) bool {
	return meta.WasDeleted(t) && t.GetAnnotations()[v1alpha1.AnnotationAbandon] == namesOf(t).namespace
}

// abandon tells whether the Tenant goes although its host cannot be looked at, for that
// reason: a person asked for that, and the pass before could not look either. What does
// not answer just once is not given up.
func (e *external) abandon(t *v1alpha1.Tenant, why error) bool {
	if !abandons(t) || e.before.GetCondition(v1alpha1.TypeBoundaryReady).Reason != v1alpha1.ReasonHostUnreachable {
		return false
	}

	e.reportDeletion(t, v1alpha1.ReasonHostUnreachable, "let go as it is, as the annotation "+v1alpha1.AnnotationAbandon+" says: "+why.Error())

	if t.Status.Message == e.before.Message {
		return true // Only what else holds the Tenant is waited for.
	}

	e.record.Event(t, event.Warning(reasonAbandoned, fmt.Errorf("left on the host cluster, as far as it still exists: namespace %q with release %q and all that is in it, "+
		"its volumes, and what was synced out of it; its kubeconfig is deleted: %w", e.names.namespace, e.names.release, why)))

	return true
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
