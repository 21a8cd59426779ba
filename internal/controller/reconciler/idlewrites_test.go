// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"context"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/manager"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// managerOf is a manager of which only the client is asked for.
type managerOf struct {
	manager.Manager

	client client.Client
	live   client.Reader
}

func (m managerOf) GetClient() client.Client { return m.client }

func (m managerOf) GetAPIReader() client.Reader { return m.live }

// cached is a client that reads a Tenant from a cache, which the test fills.
type cached struct {
	client.Client

	cache  *v1alpha1.Tenant
	writes int
	// refuse is what each write errs with.
	refuse error
}

func newCached(t *testing.T) (c *cached, quiet client.Client) {
	t.Helper()

	c = &cached{}
	stored := newKube(t, nil, &v1alpha1.Tenant{ObjectMeta: identity})
	c.Client = interceptor.NewClient(stored, interceptor.Funcs{
		Get: func(_ context.Context, _ client.WithWatch, _ client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			c.get(o.(*v1alpha1.Tenant), opts...)
			return nil
		},
		SubResourceUpdate: func(ctx context.Context, inner client.Client, sub string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			c.writes++
			if c.refuse != nil {
				return c.refuse
			}

			return inner.SubResource(sub).Update(ctx, o, opts...)
		},
	})
	c.cache = read(t, stored, &v1alpha1.Tenant{ObjectMeta: identity})

	return c, WithoutIdleWrites(managerOf{client: c.Client, live: stored}).GetClient()
}

// get is as that of a real cache, which gives only a copy its kind.
func (c *cached) get(tn *v1alpha1.Tenant, opts ...client.GetOption) {
	o := &client.GetOptions{}
	o.ApplyOptions(opts)

	if ptr.Deref(o.UnsafeDisableDeepCopy, false) {
		*tn = *c.cache
		tn.SetGroupVersionKind(schema.GroupVersionKind{})
	} else {
		c.cache.DeepCopyInto(tn)
		tn.SetGroupVersionKind(v1alpha1.TenantGroupVersionKind)
	}
}

// pass reads the Tenant, sets its message and writes its status, as the runtime does.
func (c *cached) pass(t *testing.T, quiet client.Client, message string) (*v1alpha1.Tenant, error) {
	t.Helper()

	tn := read(t, quiet, &v1alpha1.Tenant{ObjectMeta: identity})
	tn.SetConditions(xpv2.ReconcileSuccess().WithMessage(message))

	return tn, quiet.Status().Update(t.Context(), tn)
}

func TestWithoutIdleWrites(t *testing.T) {
	t.Parallel()

	c, quiet := newCached(t)
	step := func(reason, message string, writes int) *v1alpha1.Tenant {
		t.Helper()

		tn, err := c.pass(t, quiet, message)
		if err != nil || c.writes != writes {
			t.Fatalf("%s: %d writes instead of %d, %v", reason, c.writes, writes, err)
		}

		return tn
	}

	c.cache = step("a status that is not stored is written", "one", 1)
	step("one that is stored is not", "one", 1)
	step("however often", "one", 1)
	c.cache = step("a change is written", "two", 2)

	// Someone else changes the Tenant.
	if err := c.Update(t.Context(), c.cache); err != nil {
		t.Fatal(err)
	}

	step("another's write is no reason to write it again", "two", 2)
}

// TestStaleCache holds that what the cache has not seen yet is read where it is, and not
// taken for stored: a status is not to fall back to what it was before without a word.
func TestStaleCache(t *testing.T) {
	t.Parallel()

	c, quiet := newCached(t)

	first, err := c.pass(t, quiet, "one")
	if err != nil {
		t.Fatal(err)
	}

	c.cache = first

	if _, err := c.pass(t, quiet, "two"); err != nil {
		t.Fatal(err)
	}

	if err := quiet.Status().Update(t.Context(), first.DeepCopy()); !kerrors.IsConflict(err) {
		t.Errorf("what was read before the last write: %v", err)
	}

	third, err := c.pass(t, quiet, "one")
	if err != nil || c.writes != 4 {
		t.Errorf("with a cache that lags behind: %d writes, %v", c.writes, err)
	}

	c.cache = third

	if _, err := c.pass(t, quiet, "two"); err != nil || c.writes != 5 {
		t.Errorf("with a cache that has caught up: %d writes, %v", c.writes, err)
	}

	c.cache.ResourceVersion = "no number"

	if tn, err := c.pass(t, quiet, "three"); err != nil || c.writes != 6 || tn.ResourceVersion == third.ResourceVersion {
		t.Errorf("what is of no known age is read where it is: %d writes, %v", c.writes, err)
	}
}

// TestStatusOfWhatIsGone holds that a pass by a cache that still has an object which is gone
// is no failure, and that nothing else is taken for gone.
func TestStatusOfWhatIsGone(t *testing.T) {
	t.Parallel()

	c, quiet := newCached(t)
	if err := c.Delete(t.Context(), &v1alpha1.Tenant{ObjectMeta: identity}); err != nil {
		t.Fatal(err)
	}

	if _, err := c.pass(t, quiet, "one"); err != nil || c.writes != 1 {
		t.Errorf("what is gone: %d writes, %v", c.writes, err)
	}

	again := identity
	again.UID = "uid-2"

	if err := c.Create(t.Context(), &v1alpha1.Tenant{ObjectMeta: again}); err != nil {
		t.Fatal(err)
	}

	if _, err := c.pass(t, quiet, "one"); err == nil {
		t.Error("another took the name, and its status was written")
	}

	for reason, refuse := range map[string]error{
		"a page of something between": kerrors.NewGenericServerResponse(404, "PUT", schema.GroupResource{Resource: "tenants"}, "o", "404 page not found", 0, true),
		"another failure":             errInjected,
	} {
		c.refuse = refuse

		if _, err := c.pass(t, quiet, "one"); err == nil {
			t.Errorf("%s is taken for the absence of the object", reason)
		}
	}
}

// TestConflictIsNotMetAgain holds that a pass after one that met a conflict does not begin
// with the same old state while the cache lags behind: it would meet it again, ten times a
// second.
func TestConflictIsNotMetAgain(t *testing.T) {
	t.Parallel()

	c, quiet := newCached(t)

	other := c.cache.DeepCopy()
	other.Annotations = map[string]string{"by": "another"}

	if err := c.Update(t.Context(), other); err != nil {
		t.Fatal(err)
	}

	if _, err := c.pass(t, quiet, "one"); !kerrors.IsConflict(err) {
		t.Fatalf("the pass that another was faster than: %v", err)
	}

	if _, err := c.pass(t, quiet, "one"); err != nil {
		t.Errorf("the pass after it: %v", err)
	}
}

// TestIdleStatusOfUnheld holds that the status of a Tenant without a finalizer, since it
// cannot connect, is not sent again and again: its external name is in hand only.
func TestIdleStatusOfUnheld(t *testing.T) {
	t.Parallel()

	c, quiet := newCached(t)

	for range 3 {
		tn := read(t, quiet, &v1alpha1.Tenant{ObjectMeta: identity})
		meta.SetExternalName(tn, "vc-o")
		tn.SetConditions(xpv2.ReconcileError(errInjected))

		if err := quiet.Status().Update(t.Context(), tn); err != nil {
			t.Fatal(err)
		}

		stored := &v1alpha1.Tenant{}
		if err := quiet.(quietClient).live.Get(t.Context(), client.ObjectKeyFromObject(tn), stored); err != nil {
			t.Fatal(err)
		}

		c.cache = stored
	}

	if c.writes != 1 {
		t.Errorf("%d writes, want 1", c.writes)
	}
}

// TestCreatesAreNotMarked holds that what the runtime writes around a Create is not sent:
// names are known beforehand, so that nobody reads it. Any other write is.
func TestCreatesAreNotMarked(t *testing.T) {
	t.Parallel()

	c, quiet := newCached(t)
	stored := func() *v1alpha1.Tenant {
		return read(t, quiet.(quietClient).live.(client.Client), &v1alpha1.Tenant{ObjectMeta: identity})
	}

	tn := stored()
	meta.SetExternalCreatePending(tn, epoch.Time)

	if err := quiet.Update(t.Context(), tn); err != nil || stored().ResourceVersion != c.cache.ResourceVersion {
		t.Errorf("the mark of a Create that begins was sent, %v", err)
	}

	meta.SetExternalCreateSucceeded(tn, epoch.Time)
	tn.SetLabels(map[string]string{"a": "b"})

	if err := quiet.Update(t.Context(), tn); err != nil || stored().Labels["a"] != "b" {
		t.Errorf("a write of something else was not sent, %v", err)
	}
}
