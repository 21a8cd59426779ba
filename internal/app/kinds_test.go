// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// lateMapper knows no kind when it is asked for the first time.
type lateMapper struct {
	meta.RESTMapper
	asked int
}

func (m *lateMapper) RESTMapping(gk schema.GroupKind, _ ...string) (*meta.RESTMapping, error) {
	if m.asked++; m.asked == 1 {
		return nil, &meta.NoKindMatchError{GroupKind: gk}
	}
	return &meta.RESTMapping{}, nil
}

func serve(k *kinds, but schema.GroupVersionKind) {
	for gvk := range needed() {
		if gvk != but {
			k.Set(gvk, true)
		}
	}
}

func TestKinds(t *testing.T) {
	t.Parallel()
	k, mapper := newKinds(), &lateMapper{}

	serve(k, v1alpha1.TenantGroupVersionKind)
	k.Set(schema.GroupVersionKind{Group: "example.org", Version: "v1", Kind: "Tenant"}, true)

	told := [][]string{}
	err := k.await(t.Context(), mapper, func(crds []string) {
		told = append(told, crds)
		k.Set(v1alpha1.TenantGroupVersionKind, true)
	})
	if err != nil {
		t.Fatalf("await(...): %v", err)
	}
	if diff := cmp.Diff([][]string{{"CRD tenants.kubeopera.io"}}, told); diff != "" {
		t.Errorf("What is waited for is exactly what is not served: -want, +got:\n%s", diff)
	}
	if want := len(needed()) + 1; mapper.asked != want {
		t.Errorf("A kind that is served but not found yet is asked for again: want %d questions, got %d", want, mapper.asked)
	}
}

func TestKindsGone(t *testing.T) {
	t.Parallel()
	k := newKinds()
	serve(k, v1alpha1.AdvisorAgentGroupVersionKind)
	k.Set(v1alpha1.TenantQuotaGroupVersionKind, false)
	if diff := cmp.Diff([]string{"CRD advisoragents.kubeopera.io", "CRD tenantquotas.kubeopera.io"}, k.missing()); diff != "" {
		t.Errorf("A kind that is no longer served is waited for again: -want, +got:\n%s", diff)
	}

	ctx, stop := context.WithCancel(t.Context())
	stop()
	if err := k.await(ctx, &lateMapper{}, func([]string) {}); !errors.Is(err, context.Canceled) {
		t.Errorf("Waiting ends with the context: got %v", err)
	}
}

func TestKindsRegister(t *testing.T) {
	t.Parallel()
	k, called := newKinds(), make(chan struct{})
	k.Register(func() { close(called) }, v1alpha1.TenantGroupVersionKind)
	if !k.Set(v1alpha1.TenantGroupVersionKind, true) || k.Set(v1alpha1.TenantGroupVersionKind, true) {
		t.Error("Only the first of two equal values is a change.")
	}
	ctx, stop := context.WithTimeout(t.Context(), 10*time.Second)
	defer stop()
	select {
	case <-called:
	case <-ctx.Done():
		t.Error("The function was not called.")
	}
}
