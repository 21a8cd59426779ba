// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxNamed is how many objects a message names.
const maxNamed = 5

// maxListed is how many objects of a kind are looked at for that.
const maxListed = 50

// remaining matches one kind in the text of the namespace controller's condition
// NamespaceContentRemaining, such as "persistentvolumeclaims. has 1 resource instances".
var remaining = regexp.MustCompile(`([a-z0-9-]+)\.([a-z0-9.-]*) has \d+ resource instances`)

// describeNamespace names what is still in a namespace that is going, and what
// else keeps it.
func (e *external) describeNamespace(ctx context.Context, ns *corev1.Namespace) string {
	if ns.GetDeletionTimestamp() == nil {
		return fmt.Sprintf("waiting for namespace %q to be deleted", ns.GetName())
	}

	var words []string

	for _, c := range ns.Status.Conditions {
		if c.Status != corev1.ConditionTrue {
			continue
		}

		switch c.Type {
		case corev1.NamespaceContentRemaining:
			words = append(words, e.nameRemaining(ctx, ns.GetName(), remainders(c.Message))...)
		case corev1.NamespaceFinalizersRemaining:
			// The objects above are named with their finalizers.
		default:
			words = append(words, c.Message)
		}
	}

	if len(words) == 0 {
		// Pods go first, and no condition tells of them.
		words = e.nameRemaining(ctx, ns.GetName(), []remainder{{GroupResource: schema.GroupResource{Resource: "pods"}, text: "pods"}})
	}

	if len(words) == 0 {
		return fmt.Sprintf("waiting for namespace %q, which is being deleted", ns.GetName())
	}

	return fmt.Sprintf("waiting for namespace %q: %s", ns.GetName(), strings.Join(words, "; "))
}

// remainder is a resource of which a namespace still holds something.
type remainder struct {
	schema.GroupResource

	// text says so without naming the objects.
	text string
}

// remainders are those that the message of NamespaceContentRemaining counts.
func remainders(message string) []remainder {
	var out []remainder
	for _, m := range remaining.FindAllStringSubmatch(message, -1) {
		out = append(out, remainder{GroupResource: schema.GroupResource{Resource: m[1], Group: m[2]}, text: m[0]})
	}

	return out
}

// nameRemaining names the objects that remain. What cannot be listed stays a text.
func (e *external) nameRemaining(ctx context.Context, namespace string, of []remainder) []string {
	var held, going []string

	for _, r := range of {
		kind, items, err := e.listResource(ctx, namespace, r.GroupResource)
		if err != nil {
			going = append(going, r.text)
			continue
		}

		for i := range items {
			if o := &items[i]; len(o.GetFinalizers()) > 0 {
				held = append(held, named(kind, o))
			} else {
				going = append(going, named(kind, o))
			}
		}
	}

	slices.Sort(held)
	slices.Sort(going)

	words := slices.Concat(held, going)
	if len(words) > maxNamed {
		words = append(words[:maxNamed:maxNamed], fmt.Sprintf("and %d more", len(words)-maxNamed))
	}

	return words
}

func (e *external) listResource(ctx context.Context, namespace string, r schema.GroupResource) (string, []metav1.PartialObjectMetadata, error) {
	gvk, err := e.live.RESTMapper().KindFor(r.WithVersion(""))
	if err != nil {
		return "", nil, err
	}

	l := &metav1.PartialObjectMetadataList{}
	l.SetGroupVersionKind(gvk.GroupVersion().WithKind(gvk.Kind + "List"))

	if err := e.live.List(ctx, l, client.InNamespace(namespace), client.Limit(maxListed)); err != nil {
		return "", nil, err
	}

	return gvk.Kind, l.Items, nil
}
