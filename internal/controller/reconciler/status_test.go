// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

var errInjected = errors.New("injected failure")

var identity = metav1.ObjectMeta{Namespace: "n", Name: "o", UID: "uid-1"}

// kinds are all that have a managed reconciler.
func kinds() []resource.Managed {
	return []resource.Managed{
		&v1alpha1.Tenant{ObjectMeta: identity}, &v1alpha1.AdvisorAgent{ObjectMeta: identity}, &v1alpha1.TenantQuota{ObjectMeta: identity},
	}
}

// newKube stores statuses apart, as an API server does. Writes fail with that error.
func newKube(t *testing.T, refuse error, objs ...client.Object) client.WithWatch {
	t.Helper()

	s := runtime.NewScheme()
	if err := v1alpha1.AddToScheme(s); err != nil {
		t.Fatal(err)
	}

	return fake.NewClientBuilder().WithScheme(s).WithObjects(objs...).
		WithStatusSubresource(&v1alpha1.Tenant{}, &v1alpha1.AdvisorAgent{}, &v1alpha1.TenantQuota{}).
		WithInterceptorFuncs(interceptor.Funcs{
			Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
				if refuse != nil {
					return refuse
				}

				return c.Update(ctx, o, opts...)
			},
		}).Build()
}

func read[T client.Object](t *testing.T, c client.Client, o T) T {
	t.Helper()

	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}

	return o
}

// TestKeepsStatus holds that what a pass has set survives the write that adds the
// finalizer, whether or not it succeeds.
func TestKeepsStatus(t *testing.T) {
	t.Parallel()

	for _, refuse := range []error{nil, errInjected} {
		for _, mg := range kinds() {
			c := newKube(t, refuse, mg)
			mg = read(t, c, mg)
			mg.SetConditions(xpv2.Available())

			if err := (Finalizer{Finalizer: resource.NewAPIFinalizer(c, "f")}).AddFinalizer(t.Context(), mg); !errors.Is(err, refuse) {
				t.Errorf("%T: %v", mg, err)
			}

			if mg.GetCondition(xpv2.TypeReady).Reason != xpv2.ReasonAvailable {
				t.Errorf("%T: the status was lost", mg)
			}

			if refuse != nil {
				continue
			}

			stored := read(t, c, mg)
			if len(stored.GetFinalizers()) != 1 || stored.GetCondition(xpv2.TypeReady).Reason != "" {
				t.Errorf("%T: stored is %+v", mg, stored)
			}
		}
	}
}

// TestMerges holds that what is merged is what the API server has stored.
func TestMerges(t *testing.T) {
	t.Parallel()

	tn := &v1alpha1.Tenant{ObjectMeta: identity, Status: v1alpha1.TenantStatus{Message: "stored", VClusterName: "stored"}}
	c := newKube(t, nil, tn)
	tn = read(t, c, tn)
	tn.Status.Message, tn.Status.VClusterName = "set", "set"

	f := Finalizer{Finalizer: resource.NewAPIFinalizer(c, "f"), Merge: func(kept, stored client.Object) {
		kept.(*v1alpha1.Tenant).Status.VClusterName = stored.(*v1alpha1.Tenant).Status.VClusterName
	}}
	if err := f.AddFinalizer(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	if tn.Status.Message != "set" || tn.Status.VClusterName != "stored" {
		t.Errorf("status: %+v", tn.Status)
	}
}
