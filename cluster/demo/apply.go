// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// retryEvery is how long to wait before asking the cluster again.
const retryEvery = 200 * time.Millisecond

// prepare applies the CRDs and what a Tenant needs. An existing cluster keeps a
// provider configuration that it has.
func prepare(ctx context.Context, c client.WithWatch, testbed bool, say func(string, ...any)) error {
	if err := checkInstalled(ctx, c, false); err != nil {
		return err
	}
	crds, err := filepath.Glob("package/crds/*.yaml")
	if err != nil {
		return fmt.Errorf("cannot list CRDs: %w", err)
	}
	if len(crds) == 0 {
		return fmt.Errorf("cannot find package/crds: run make demo from the root of the repository")
	}
	for _, file := range append(crds, "examples/tenant/namespace.yaml") {
		if err := on(c).ApplyFile(ctx, file); err != nil {
			return err
		}
	}
	say("%d CRDs and the namespace are applied", len(crds))

	config := testbedConfig
	if testbed {
		if err := on(c).ApplyFile(ctx, "cluster/admission/retry.yaml"); err != nil {
			return err
		}
	} else {
		if config, err = os.ReadFile("examples/tenant/providerconfig.yaml"); err != nil {
			return fmt.Errorf("cannot read provider configuration: %w", err)
		}
	}
	return applyConfig(ctx, c, config, testbed)
}

// checkInstalled refuses a cluster on which the provider was installed in the
// other way: by Crossplane, or from a clone.
func checkInstalled(ctx context.Context, c client.Client, byCrossplane bool) error {
	crd := &metav1.PartialObjectMetadata{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinition"})
	if err := c.Get(ctx, client.ObjectKey{Name: "tenants.kubeopera.io"}, crd); err != nil {
		if kerrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("cannot find out whether the provider is installed: %w", err)
	}
	owned := metav1.GetControllerOf(crd) != nil
	switch {
	case owned && !byCrossplane:
		return errors.New("cannot run a provider beside the one that Crossplane runs on this cluster; on the test bed, make demo-down first")
	case !owned && byCrossplane:
		return errors.New("cannot let Crossplane install the kinds that make demo has installed on this cluster; make demo-down first")
	default:
		return nil
	}
}

func applyConfig(ctx context.Context, c client.WithWatch, manifest []byte, overwrite bool) error {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, &u.Object); err != nil {
		return fmt.Errorf("cannot parse provider configuration: %w", err)
	}
	if overwrite {
		return on(c).Apply(ctx, u)
	}
	err := rig.WhenServed(ctx, func() error { return c.Create(ctx, u) })
	if err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create ClusterProviderConfig %q: %w", u.GetName(), err)
	}
	return nil
}

// applyTenant applies the Tenant in the file, and reads it back.
func applyTenant(ctx context.Context, c client.WithWatch, file string) (*v1alpha1.Tenant, error) {
	all, err := rig.ReadManifests(file)
	if err != nil {
		return nil, err
	}
	if len(all) != 1 {
		return nil, fmt.Errorf("%s holds %d objects, not one Tenant", file, len(all))
	}
	if err := on(c).Apply(ctx, all[0]); err != nil {
		return nil, err
	}
	t := &v1alpha1.Tenant{}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(all[0].Object, t); err != nil {
		return nil, fmt.Errorf("cannot read back %q: %w", file, err)
	}
	return t, nil
}

// on is the cluster of the client.
func on(c client.WithWatch) *rig.Cluster { return &rig.Cluster{Client: c} }
