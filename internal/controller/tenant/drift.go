// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// settleTime is the age at which the objects of a release must be there. A younger
// one is only coming up, or was just repaired. Who takes an object away again and again
// does not keep Helm busy either: the failures remember repairs.
const settleTime = 15 * time.Second

// findDrift says in words which object of a deployed release is not there any more,
// or runs no pod although it should. What the host's cache holds is looked at in each
// pass. All else is asked for, and only when the tenant's API does not answer.
func (e *external) findDrift(ctx context.Context, r *helm.Release, answers bool) (string, error) {
	if r == nil || r.Status != helm.StatusDeployed {
		return "", nil
	}

	young := settleTime - e.clock.Since(r.Updated)
	ask := !answers && young <= 0

	var kinds []string
	if !ask {
		kinds = watchedKinds
	}

	objs, err := helm.ManifestObjects(r, kinds...)
	if err != nil {
		return "", err
	}

	for _, o := range objs {
		drift, err := e.driftOf(ctx, o, ask)

		switch {
		case err != nil:
			return "", fmt.Errorf("cannot read %s %q of release %q on the host cluster: %w", o.GetKind(), o.GetName(), r.Name, err)
		case drift == "":
			continue
		case young > 0:
			e.lookAgain(young)
			return "", nil
		default:
			return fmt.Sprintf("its %s %q %s", o.GetKind(), o.GetName(), drift), nil
		}
	}

	return "", nil
}

// driftOf says what is wrong with one object; empty when nothing is. What the host's cache
// does not hold, by its kind or its labels, is looked at only if ask is set.
func (e *external) driftOf(ctx context.Context, o *unstructured.Unstructured, ask bool) (string, error) {
	const gone = "is gone"

	if have := watchedAs(o); have != nil {
		if !ask && !host.Watches(o) {
			return "", nil
		}

		ok, err := e.find(ctx, e.keyOf(o), have)

		switch {
		case err != nil:
			return "", err
		case !ok:
			return gone, nil
		case scaledToNothing(o, have):
			return "was scaled to 0", nil
		default:
			return "", nil
		}
	}

	if !ask {
		return "", nil
	}

	if isGone, err := e.isGone(ctx, o); err != nil || !isGone {
		return "", err
	}

	return gone, nil
}

// watchedKinds are those that watchedAs knows.
var watchedKinds = []string{kindStatefulSet, kindDeployment, kindService}

// watchedAs is what to read o into from the host's cache, or nil.
func watchedAs(o *unstructured.Unstructured) client.Object {
	switch o.GroupVersionKind() {
	case appsv1.SchemeGroupVersion.WithKind(kindStatefulSet):
		return &appsv1.StatefulSet{}
	case appsv1.SchemeGroupVersion.WithKind(kindDeployment):
		return &appsv1.Deployment{}
	case corev1.SchemeGroupVersion.WithKind(kindService):
		return &corev1.Service{}
	default:
		return nil
	}
}

// scaledToNothing says that have runs no pod although the manifest asks for some. A
// manifest that gives no number leaves it to others.
func scaledToNothing(manifest *unstructured.Unstructured, have client.Object) bool {
	number, asks, err := unstructured.NestedFieldNoCopy(manifest.Object, "spec", "replicas")
	if err != nil || !asks || number == nil || fmt.Sprint(number) == "0" {
		return false
	}

	switch w := have.(type) {
	case *appsv1.StatefulSet:
		return toNothing(w.Spec.Replicas)
	case *appsv1.Deployment:
		return toNothing(w.Spec.Replicas)
	default:
		return false
	}
}

// keyOf is where an object of a namespaced kind is.
func (e *external) keyOf(o *unstructured.Unstructured) client.ObjectKey {
	key := client.ObjectKeyFromObject(o)
	if key.Namespace == "" {
		key.Namespace = e.names.namespace
	}

	return key
}

func (e *external) isGone(ctx context.Context, o *unstructured.Unstructured) (bool, error) {
	namespaced, err := e.live.IsObjectNamespaced(o)
	if meta.IsNoMatchError(err) {
		return false, nil // An upgrade could not bring back what the host does not serve.
	}

	if err != nil {
		return false, err
	}

	key := client.ObjectKeyFromObject(o)
	if namespaced {
		key = e.keyOf(o)
	}

	found := &metav1.PartialObjectMetadata{}
	found.SetGroupVersionKind(o.GroupVersionKind())

	err = e.live.Get(ctx, key, found)

	return kerrors.IsNotFound(err), client.IgnoreNotFound(err)
}
