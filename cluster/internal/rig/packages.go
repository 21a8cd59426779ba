// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// CrossplaneNamespace is where Crossplane runs, and the provider with it.
	CrossplaneNamespace = "crossplane-system"

	// packageLimit is how long a package may take to be pulled and to run.
	packageLimit = 3 * time.Minute
)

// InstallPackages brings a cluster with Crossplane to where a CloudSpace can be
// made, as README says it: the rights and the packages of examples/install below
// root, and the ClusterProviderConfig "default" for the test bed's registry. It
// says what it waits for.
func (c *Cluster) InstallPackages(ctx context.Context, root string, say func(string, ...any)) error {
	for _, f := range []string{
		"cluster/rbac/clusterrole.yaml", "cluster/rbac/boundary.yaml",
		"examples/install/rights.yaml", "examples/install/runtime.yaml", "examples/install/activation.yaml",
		"examples/install/provider.yaml", "examples/install/function.yaml", "examples/install/configurations.yaml",
	} {
		all, err := ReadManifests(filepath.Join(root, filepath.FromSlash(f)))
		if err != nil {
			return err
		}

		for _, u := range all {
			if err := c.Establish(ctx, u, say); err != nil {
				return err
			}
		}
	}

	for _, kindOfSpace := range []string{"CloudSpace.v1alpha1.platform.kubeopera.io", "CloudSpace.v1alpha1.claims.kubeopera.io"} {
		if err := c.awaitKind(ctx, kindOfSpace); err != nil {
			return err
		}
	}

	if err := c.ensure(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}); err != nil {
		return err
	}

	return c.ensure(ctx, ProviderConfig("default", v1alpha1.Chart{Repository: ChartRepository, Version: ChartVersion, PlainHTTP: true}))
}

// Establish applies what Crossplane has to work with first, a package or a
// definition, says that it waits, and does so. All else is applied only.
func (c *Cluster) Establish(ctx context.Context, u *unstructured.Unstructured, say func(string, ...any)) error {
	if err := c.Apply(ctx, u.DeepCopy()); err != nil {
		return err
	}

	want := awaitedOf(u.GroupVersionKind().GroupKind())
	if want == "" {
		return nil
	}

	say("waiting for %s %s to be %s", u.GetKind(), u.GetName(), want)

	err := wait.PollUntilContextTimeout(ctx, pollInterval, packageLimit, true, func(ctx context.Context) (bool, error) {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(u), u); err != nil {
			return false, err
		}

		return ConditionOf(u, want)["status"] == string(metav1.ConditionTrue), nil
	})
	if err != nil {
		return fmt.Errorf("%s %q does not become %s: %w\n%s", u.GetKind(), u.GetName(), want, err, DescribeConditions(u))
	}

	return nil
}

// awaitedOf is the condition that says that Crossplane works with an object of the
// kind, empty if there is none.
func awaitedOf(k schema.GroupKind) string {
	switch {
	case k.Group == "pkg.crossplane.io" && k.Kind != "DeploymentRuntimeConfig":
		return "Healthy"
	case k.Group == "apiextensions.crossplane.io" && k.Kind == "CompositeResourceDefinition":
		return "Established"
	default:
		return ""
	}
}

// awaitKind waits until the API server serves the kind, which is written as
// Kind.version.group.
func (c *Cluster) awaitKind(ctx context.Context, name string) error {
	k, _ := schema.ParseKindArg(name)

	err := wait.PollUntilContextTimeout(ctx, pollInterval, packageLimit, true, func(ctx context.Context) (bool, error) {
		l := &unstructured.UnstructuredList{}
		l.SetGroupVersionKind(*k)

		err := c.Client.List(ctx, l)
		if meta.IsNoMatchError(err) || kerrors.IsNotFound(err) {
			return false, nil
		}

		return err == nil, err
	})
	if err != nil {
		return fmt.Errorf("kind %s is not served: %w", name, err)
	}

	return nil
}

// ConditionOf is that condition of any object, or nil.
func ConditionOf(o *unstructured.Unstructured, conditionType string) map[string]any {
	for _, cond := range conditionsOf(o) {
		if cond["type"] == conditionType {
			return cond
		}
	}

	return nil
}

// DescribeConditions says where any object stands, for a person.
func DescribeConditions(o *unstructured.Unstructured) string {
	var b strings.Builder

	fmt.Fprintf(&b, "%s %s/%s\n", o.GetKind(), o.GetNamespace(), o.GetName())

	for _, cond := range conditionsOf(o) {
		fmt.Fprintf(&b, "  %v=%v %v %v\n", cond["type"], cond["status"], cond["reason"], cond["message"])
	}

	return b.String()
}

func conditionsOf(o *unstructured.Unstructured) []map[string]any {
	list, _, err := unstructured.NestedSlice(o.Object, "status", "conditions")
	if err != nil {
		return nil
	}

	var out []map[string]any

	for _, e := range list {
		if m, ok := e.(map[string]any); ok {
			out = append(out, m)
		}
	}

	return out
}
