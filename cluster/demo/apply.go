// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// retryEvery is how long to wait before asking the cluster again.
const retryEvery = 200 * time.Millisecond

// prepare applies the CRDs and what a Tenant needs. An existing cluster keeps a
// provider configuration that it has.
func prepare(ctx context.Context, c client.Client, testbed bool, say func(string, ...any)) error {
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
		if err := applyFile(ctx, c, file, nil); err != nil {
			return err
		}
	}
	say("%d CRDs and the namespace are applied", len(crds))

	config := testbedConfig
	if testbed {
		if err := applyFile(ctx, c, "cluster/admission/retry.yaml", nil); err != nil {
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

func applyConfig(ctx context.Context, c client.Client, manifest []byte, overwrite bool) error {
	u := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(manifest, &u.Object); err != nil {
		return fmt.Errorf("cannot parse provider configuration: %w", err)
	}
	if overwrite {
		return apply(ctx, c, u)
	}
	err := whenServed(ctx, func() error { return c.Create(ctx, u) })
	if err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create ClusterProviderConfig %q: %w", u.GetName(), err)
	}
	return nil
}

// applyFile applies the objects in the file, and reads the last of them back into
// out unless that is nil.
func applyFile(ctx context.Context, c client.Client, file string, out client.Object) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("cannot read manifest: %w", err)
	}
	defer func() { _ = f.Close() }()

	last := map[string]any{}
	for docs := utilyaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		u := &unstructured.Unstructured{}
		if err := docs.Decode(&u.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return fmt.Errorf("cannot parse manifest %q: %w", file, err)
		}
		if len(u.Object) == 0 {
			continue
		}
		if err := apply(ctx, c, u); err != nil {
			return err
		}
		last = u.Object
	}
	if out == nil {
		return nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(last, out); err != nil {
		return fmt.Errorf("cannot read back manifest %q: %w", file, err)
	}
	return nil
}

func apply(ctx context.Context, c client.Client, u *unstructured.Unstructured) error {
	err := whenServed(ctx, func() error {
		return c.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner("demo"), client.ForceOwnership)
	})
	if err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", u.GetKind(), u.GetName(), err)
	}
	return nil
}

// whenServed calls f until the cluster knows the kind that it is about: that
// takes a moment after its CRD was applied.
func whenServed(ctx context.Context, f func() error) error {
	var last error
	err := wait.PollUntilContextCancel(ctx, retryEvery, true, func(context.Context) (bool, error) {
		last = f()
		if meta.IsNoMatchError(last) || (kerrors.IsNotFound(last) && last != nil) {
			return false, nil
		}
		return true, last
	})
	if err != nil && last != nil {
		return last
	}
	return err
}
