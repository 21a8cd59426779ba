// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// kinds are those that the provider, or a chart, makes anywhere.
func kinds() []schema.GroupVersionKind {
	of := func(group string, ks ...string) []schema.GroupVersionKind {
		var out []schema.GroupVersionKind
		for _, k := range ks {
			out = append(out, schema.GroupVersionKind{Group: group, Version: "v1", Kind: k})
		}

		return out
	}

	return slices.Concat(
		of("", "Namespace", "Secret", "ConfigMap", "Service", "ServiceAccount", "ResourceQuota", "LimitRange", "PersistentVolumeClaim"),
		of("apps", "StatefulSet", "Deployment"),
		of("rbac.authorization.k8s.io", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding"),
		of("networking.k8s.io", "NetworkPolicy"),
		of("apiextensions.k8s.io", "CustomResourceDefinition"),
	)
}

// ourKinds are those that only the host has.
func ourKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		v1alpha1.TenantGroupVersionKind, v1alpha1.AdvisorAgentGroupVersionKind, v1alpha1.TenantQuotaGroupVersionKind,
		v1alpha1.ProviderConfigUsageGroupVersionKind,
	}
}

// object is one of an inventory.
type object = metav1.PartialObjectMetadata

// record is how Helm names those of a release. How many there are is another question.
var record = regexp.MustCompile(`^sh\.helm\.release\.v1\.(.*)\.v\d+$`)

// inventory is what there is, by words that are the same for each life. It leaves
// out what has no part in the life, or is in without.
func (w *world) inventory(c client.Client, life string, without map[string]bool) map[string]*object {
	w.t.Helper()

	ks := kinds()
	if c == w.host {
		ks = append(ks, ourKinds()...)
	}

	out := map[string]*object{}

	for _, k := range ks {
		l := &metav1.PartialObjectMetadataList{}
		l.SetGroupVersionKind(k.GroupVersion().WithKind(k.Kind + "List"))

		if err := c.List(w.t.Context(), l); err != nil {
			w.t.Fatalf("cannot list %s: %v", k.Kind, err)
		}

		for i := range l.Items {
			o := &l.Items[i]
			o.SetGroupVersionKind(k)

			if name := words(o, life); !without[name] && (c != w.host || isOf(o, life)) {
				out[name] = o
			}
		}
	}

	return out
}

// isOf says whether the object has a part in the life.
func isOf(o *object, life string) bool {
	if strings.Contains(o.GetName()+" "+o.GetNamespace(), life) {
		return true
	}

	return slices.ContainsFunc(o.GetOwnerReferences(), func(r metav1.OwnerReference) bool { return r.Name == life })
}

func words(o *object, life string) string {
	name := o.GetName()
	if m := record.FindStringSubmatch(name); m != nil {
		name = "records of release " + m[1]
	}

	// They are named by a UID.
	if o.Kind == v1alpha1.ProviderConfigUsageGroupVersionKind.Kind && len(o.GetOwnerReferences()) == 1 {
		name = "of " + o.GetOwnerReferences()[0].Kind
	}

	out := fmt.Sprintf("%s %s/%s", o.Kind, o.GetNamespace(), name)
	if life == "" {
		return out
	}

	return strings.ReplaceAll(out, life, "LIFE")
}

func keys(m map[string]*object) map[string]bool {
	out := map[string]bool{}
	for k := range m {
		out[k] = true
	}

	return out
}

// difference says what is missing in got, and what there is beyond want; empty when
// they are the same.
func difference(want, got map[string]bool) string {
	var out []string

	for _, k := range slices.Sorted(maps.Keys(want)) {
		if !got[k] {
			out = append(out, "missing: "+k)
		}
	}

	for _, k := range slices.Sorted(maps.Keys(got)) {
		if !want[k] {
			out = append(out, "too much: "+k)
		}
	}

	return strings.Join(out, "; ")
}

// releases says what is wrong with the records of the one release that there is to
// be of the name; empty when nothing is.
func (w *world) releases(c client.Client, namespace, name string, maxRevision int) string {
	l := &corev1.SecretList{}
	if err := c.List(w.t.Context(), l, client.InNamespace(namespace), client.MatchingLabels{"owner": "helm"}); err != nil {
		return err.Error()
	}

	deployed, newest := 0, ""

	for i := range l.Items {
		s := &l.Items[i]
		if s.Labels["name"] != name {
			return fmt.Sprintf("there is another release, %q", s.Labels["name"])
		}

		switch s.Labels["status"] {
		case "deployed":
			deployed++
			newest = s.Labels["version"]
		case "superseded", "failed":
		default:
			return fmt.Sprintf("record %q is %s", s.GetName(), s.Labels["status"])
		}
	}

	revision := 0
	_, _ = fmt.Sscan(newest, &revision)

	switch {
	case deployed != 1:
		return fmt.Sprintf("%d of %d records of release %q are deployed", deployed, len(l.Items), name)
	case revision > maxRevision:
		return fmt.Sprintf("release %q is at revision %d, more than %d", name, revision, maxRevision)
	default:
		return ""
	}
}

// wipe makes the vCluster of the slot bare again, as a new one is. It says what is left.
func (w *world) wipe(s *slot) string {
	return await(w.t.Context(), func() string {
		left := w.inventory(s.inside, "", s.bare)
		for _, o := range left {
			if o.GetDeletionTimestamp() == nil {
				_ = s.inside.Delete(w.t.Context(), o) // What is left is looked at again.
			} else if o.Kind == "CustomResourceDefinition" {
				// An API server may take minutes to see that there are no objects of it.
				_ = s.inside.Patch(w.t.Context(), o, client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))
			}
		}

		return difference(nil, keys(left))
	})
}
