// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// Parts are what an installed Flux consists of, as far as its health depends on
// it. They are sorted by name, and shared by callers: they must not be changed.
type Parts struct {
	Deployments []Deployment
	CRDs        []CRD
}

// Deployment is one that the release makes.
type Deployment struct {
	Namespace, Name string
	// Replicas that the release asks for.
	Replicas int32
	// Images of its containers, init containers first.
	Images []string
}

// String is namespace/name.
func (d Deployment) String() string { return d.Namespace + "/" + d.Name }

// CRD is a CustomResourceDefinition that the release makes.
type CRD struct {
	Name string
	// Resource is the plural name of its kind.
	Resource string
	// GroupVersions that it serves.
	GroupVersions []schema.GroupVersion
}

// parts holds what was read of manifests: they are large, and mostly equal.
var parts = newMemo[Parts]()

// Expected is what a release of the flux2 chart consists of. It reads equal
// manifests once.
func Expected(r *helm.Release) (Parts, error) {
	key := fmt.Sprintf("%s %x", r.Namespace, sha256.Sum256([]byte(r.Manifest)))

	return parts.get(key, func() (Parts, error) {
		objs, err := helm.ManifestObjects(r)
		if err != nil {
			return Parts{}, err
		}

		return readParts(objs, r.Namespace)
	})
}

// readParts picks the parts out of objects, which are in namespace if they name
// none.
func readParts(objs []*unstructured.Unstructured, namespace string) (Parts, error) {
	var out Parts

	for _, o := range objs {
		switch o.GroupVersionKind().GroupKind() {
		case schema.GroupKind{Group: appsv1.GroupName, Kind: "Deployment"}:
			d, err := readDeployment(o, namespace)
			if err != nil {
				return Parts{}, err
			}

			out.Deployments = append(out.Deployments, d)
		case schema.GroupKind{Group: "apiextensions.k8s.io", Kind: "CustomResourceDefinition"}:
			out.CRDs = append(out.CRDs, readCRD(o))
		}
	}

	slices.SortFunc(out.Deployments, func(a, b Deployment) int { return cmp.Compare(a.String(), b.String()) })
	slices.SortFunc(out.CRDs, func(a, b CRD) int { return cmp.Compare(a.Name, b.Name) })

	return out, nil
}

func readDeployment(o *unstructured.Unstructured, namespace string) (Deployment, error) {
	var d appsv1.Deployment

	raw, err := o.MarshalJSON()
	if err == nil {
		err = json.Unmarshal(raw, &d)
	}

	if err != nil {
		return Deployment{}, fmt.Errorf("cannot read Deployment %q of Flux: %w", o.GetName(), err)
	}

	return Deployment{
		Namespace: cmp.Or(d.GetNamespace(), namespace),
		Name:      d.GetName(),
		Replicas:  ptr.Deref(d.Spec.Replicas, 1),
		Images:    imagesOf(&d),
	}, nil
}

// imagesOf are the images of a Deployment's containers, init containers first.
func imagesOf(d *appsv1.Deployment) []string {
	var out []string

	pod := d.Spec.Template.Spec
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		out = append(out, c.Image)
	}

	return out
}

// readCRD leaves the schemas alone, which are large. What it does not find is not
// there: the API server has taken the object.
func readCRD(o *unstructured.Unstructured) CRD {
	group, _, _ := unstructured.NestedString(o.Object, "spec", "group")
	out := CRD{Name: o.GetName()}
	out.Resource, _, _ = unstructured.NestedString(o.Object, "spec", "names", "plural")

	versions, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "versions")
	list, _ := versions.([]any)

	for _, v := range list {
		version, _ := v.(map[string]any)
		name, _, _ := unstructured.NestedString(version, "name")

		if served, _, _ := unstructured.NestedBool(version, "served"); served {
			out.GroupVersions = append(out.GroupVersions, schema.GroupVersion{Group: group, Version: name})
		}
	}

	return out
}
