// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// fieldOwner is the field manager of all that is written inside vClusters.
const fieldOwner client.FieldOwner = "provider-kubeopera"

// immutable are the fields that the API server changes only with a new object.
var immutable = map[string][]string{
	kindDeployment:         {"spec", "selector"},
	kindClusterRoleBinding: {"roleRef"},
}

// write makes or repairs, in their order, the objects that are not as they are
// wanted. What is being deleted is left alone.
func write(ctx context.Context, c client.Client, found []Found) error {
	for _, f := range found {
		if f.Same || f.Going() {
			continue
		}

		if err := writeOne(ctx, c, f); err != nil {
			return Explained(fmt.Errorf("cannot write %s: %w", f.Want, err))
		}
	}

	return nil
}

// isRace says that something changed between the look and the write: to look
// again is all that is needed.
func isRace(err error) bool { return kerrors.IsConflict(err) || kerrors.IsAlreadyExists(err) }

func writeOne(ctx context.Context, c client.Client, f Found) error {
	want := f.Want.DeepCopy()

	switch {
	case f.Want.Lock && f.Live == nil:
		made, err := claim(ctx, c, want)
		if err != nil {
			return err
		}

		want.SetResourceVersion(made.GetResourceVersion())
	case f.Want.Lock:
		want.SetResourceVersion(f.Live.GetResourceVersion())
	case f.Live != nil && mustReplace(f.Live, want):
		if err := remove(ctx, c, f.Live); err != nil {
			return err
		}
	}

	return apply(ctx, c, want)
}

// claim makes the bare object, which only one can.
func claim(ctx context.Context, c client.Client, want *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(want.GroupVersionKind())
	bare.SetNamespace(want.GetNamespace())
	bare.SetName(want.GetName())
	bare.SetLabels(want.GetLabels())
	bare.SetAnnotations(want.GetAnnotations())

	return bare, c.Create(ctx, bare, fieldOwner)
}

// mustReplace says that someone made the object with something that cannot be
// repaired.
func mustReplace(live, want *unstructured.Unstructured) bool {
	path, ok := immutable[want.GetKind()]
	if !ok {
		return false
	}

	have, _, _ := unstructured.NestedFieldNoCopy(live.Object, path...)
	need, _, _ := unstructured.NestedFieldNoCopy(want.Object, path...)

	return !equality.Semantic.DeepEqual(have, need)
}

func apply(ctx context.Context, c client.Client, o *unstructured.Unstructured, opts ...client.ApplyOption) error {
	return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(o), append(opts, fieldOwner, client.ForceOwnership)...)
}

// CreateNamespace makes the namespace. One that exists is a success, and is left
// as it is.
func CreateNamespace(ctx context.Context, c client.Client, ns Wanted) error {
	err := c.Create(ctx, ns.DeepCopy(), fieldOwner)
	if err != nil && !kerrors.IsAlreadyExists(err) {
		return Explained(fmt.Errorf("cannot create %s: %w", ns, err))
	}

	return nil
}

// remove asks for the deletion of exactly this object, unless that was asked for
// before. An object that is gone is a success.
func remove(ctx context.Context, c client.Client, o *unstructured.Unstructured) error {
	if o.GetDeletionTimestamp() != nil {
		return nil
	}

	uid := o.GetUID()

	err := c.Delete(ctx, o, client.Preconditions{UID: &uid}, client.PropagationPolicy("Background"))
	if err != nil && !isAbsent(err) {
		return Explained(fmt.Errorf("cannot delete %s: %w", nameOf(o), err))
	}

	return nil
}
