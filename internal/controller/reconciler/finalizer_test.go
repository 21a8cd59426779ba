// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
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

// TestRemoveFinalizer takes the finalizer off an object that something happened to
// since it was read.
func TestRemoveFinalizer(t *testing.T) {
	t.Parallel()

	change := func(t *testing.T, c client.Client, fn func(*v1alpha1.AdvisorAgent)) {
		t.Helper()

		a := read(t, c, &v1alpha1.AdvisorAgent{ObjectMeta: identity})
		fn(a)

		if err := c.Update(t.Context(), a); err != nil {
			t.Fatal(err)
		}
	}
	label := func(a *v1alpha1.AdvisorAgent) { a.SetLabels(map[string]string{"a": "b"}) }
	free := func(a *v1alpha1.AdvisorAgent) { a.SetFinalizers(nil) }

	cases := map[string]struct {
		reason string
		happen func(*testing.T, client.Client)
		left   bool
	}{
		"Nothing": {"it goes", func(*testing.T, client.Client) {}, false},
		"Changed": {"it goes as it is now, without a backoff", func(t *testing.T, c client.Client) { t.Helper(); change(t, c, label) }, false},
		"Gone":    {"one that is gone is a success", func(t *testing.T, c client.Client) { t.Helper(); change(t, c, free) }, false},
		"Replaced": {"another of the same name keeps its finalizer, or what it made would leak", func(t *testing.T, c client.Client) {
			t.Helper()
			change(t, c, free)

			another := &v1alpha1.AdvisorAgent{ObjectMeta: identity}
			another.SetUID("uid-2")
			another.SetFinalizers([]string{"f"})

			if err := c.Create(t.Context(), another); err != nil {
				t.Fatal(err)
			}

			change(t, c, label)
		}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			a := deleting()
			c := newKube(t, nil, a)
			a = read(t, c, a)

			if err := c.Delete(t.Context(), a.DeepCopy()); err != nil {
				t.Fatal(err)
			}

			a = read(t, c, a)
			tc.happen(t, c)

			if err := (Finalizer{Finalizer: resource.NewAPIFinalizer(c, "f"), Live: c}).RemoveFinalizer(t.Context(), a); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}

			have := &v1alpha1.AdvisorAgent{}
			if err := c.Get(t.Context(), client.ObjectKeyFromObject(a), have); (err == nil) != tc.left || (tc.left && len(have.GetFinalizers()) != 1) {
				t.Errorf("%s: %v, finalizers %v", tc.reason, err, have.GetFinalizers())
			}
		})
	}
}

func deleting() *v1alpha1.AdvisorAgent {
	a := &v1alpha1.AdvisorAgent{ObjectMeta: identity}
	a.SetFinalizers([]string{"f"})

	return a
}

// TestRemoveFinalizerFails holds that a write that is refused, and a conflict that
// cannot be looked into, stay errors.
func TestRemoveFinalizerFails(t *testing.T) {
	t.Parallel()

	a := deleting()

	refused := Finalizer{Finalizer: resource.NewAPIFinalizer(newKube(t, errInjected, a.DeepCopy()), "f")}
	if err := refused.RemoveFinalizer(t.Context(), a.DeepCopy()); !errors.Is(err, errInjected) {
		t.Errorf("refused: %v", err)
	}

	c := newKube(t, nil, a.DeepCopy())
	blind := interceptor.NewClient(c, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return errInjected
		},
	})

	outdated := read(t, c, a.DeepCopy())
	outdated.SetResourceVersion("1")

	if err := (Finalizer{Finalizer: resource.NewAPIFinalizer(c, "f"), Live: blind}).RemoveFinalizer(t.Context(), outdated); !errors.Is(err, errInjected) || kerrors.IsConflict(err) {
		t.Errorf("a conflict that cannot be looked into: %v", err)
	}
}
