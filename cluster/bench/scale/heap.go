// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// heapTenants are reconciled again and again.
	heapTenants = 10
	// fewReconciles and manyReconciles are after how many the heap is measured.
	fewReconciles, manyReconciles = 100, 1000
	// foreignFields is how many fields a foreign kind has.
	foreignFields = 60
)

// heaps measures the provider's heap after few and after many reconciles, on a host with
// many kinds of others.
func (b *bed) heaps(ctx context.Context, r *result) error {
	say("installing %d foreign CRDs", b.flags.ForeignCRDs)

	err := each(ctx, b.flags.ForeignCRDs, atOnce, func(ctx context.Context, i int) error { return b.host.Client.Create(ctx, foreignCRD(i)) })
	if err != nil {
		return fmt.Errorf("cannot install foreign CRDs: %w", err)
	}

	if err := b.addFakes(ctx, heapTenants); err != nil {
		return err
	}

	if err := b.provider.Start(ctx); err != nil {
		return err
	}

	if _, err := b.createAll(ctx, heapTenants); err != nil {
		return err
	}

	out := &growth{ForeignCRDs: b.flags.ForeignCRDs, Tenants: heapTenants}
	for _, m := range []struct {
		n  float64
		to *rig.Footprint
	}{{fewReconciles, &out.Few}, {manyReconciles, &out.Many}} {
		if err := b.provoke(ctx, m.n); err != nil {
			return err
		}

		if *m.to, err = b.provider.IdleFootprint(ctx); err != nil {
			return err
		}

		say("after %.0f reconciles the heap is %s", m.n, mebibytes(m.to.Heap))
	}

	r.Growth = out

	if err := b.delete(ctx, &step{Tenants: heapTenants}); err != nil {
		return err
	}

	return b.provider.Stop()
}

// provoke reconciles until there were so many.
func (b *bed) provoke(ctx context.Context, n float64) error {
	return until(ctx, 20*time.Minute, func(ctx context.Context) (string, error) {
		all, err := b.reconciles(ctx)
		if err != nil {
			return "", err
		}

		now := all[tenantController]
		if now >= n {
			return "", nil
		}

		err = each(ctx, heapTenants, atOnce, func(ctx context.Context, i int) error {
			t := &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: rig.Namespace, Name: tenantName(i)}}
			patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, meta.AnnotationKeyReconcileRequestedAt, time.Now().Format(time.RFC3339Nano))

			return b.host.Client.Patch(ctx, t, client.RawPatch("application/merge-patch+json", []byte(patch)))
		})

		return fmt.Sprintf("%.0f of %.0f reconciles", now, n), err
	})
}

// foreignCRD is one of an add-on that the provider knows nothing of.
func foreignCRD(i int) *apiextensionsv1.CustomResourceDefinition {
	const group = "foreign.example.org"

	name := fmt.Sprintf("thing%03d", i)
	fields := map[string]apiextensionsv1.JSONSchemaProps{}

	for f := range foreignFields {
		fields[fmt.Sprintf("field%02d", f)] = apiextensionsv1.JSONSchemaProps{
			Type: "string", Description: "A setting of an add-on that has a description as long as those of real ones are, on average.",
		}
	}

	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: name + "s." + group}}
	crd.Spec.Group, crd.Spec.Scope = group, apiextensionsv1.NamespaceScoped
	crd.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: name + "s", Singular: name, Kind: "T" + name[1:], ListKind: "T" + name[1:] + "List"}
	crd.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{
		Name: "v1", Served: true, Storage: true,
		Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
			Type:       "object",
			Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": {Type: "object", Properties: fields}},
		}},
	}}

	return crd
}
