// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// wanted are the facts of a boundary of which nothing is there.
func (w *world) wanted(tn *v1alpha1.Tenant) *facts {
	w.t.Helper()

	want, err := w.external(tn).wantIsolation(boundary{}, []discoveryv1.EndpointSlice{*hostAPI("10.89.0.1")})
	if err != nil {
		w.t.Fatal(err)
	}

	return &facts{wall: wallOf(w.t, alice()), isolation: want}
}

func TestMakeBoundary(t *testing.T) {
	t.Parallel()

	const (
		ns, limits, hard = "host create Namespace vcluster-alice-default", "host create LimitRange kubeopera-tenant", "host create ResourceQuota kubeopera-tenant"
		api, all         = "host create NetworkPolicy kubeopera-control-plane", "host create NetworkPolicy kubeopera-tenant"
	)

	unstamped := namespaceOf(alice().Obj()).Obj()
	delete(unstamped.Labels, v1alpha1.LabelUserID)
	unstamped.Labels["keep"] = "me"

	cases := map[string]struct {
		reason string
		host   []client.Object
		refuse string
		want   []string
		errs   string
		is     error
	}{
		"New":       {reason: "the LimitRange before the ResourceQuota", want: []string{ns, limits, hard, api, all}},
		"Resumed":   {reason: "an interrupted creation goes on", host: []client.Object{namespaceOf(alice().Obj()).Obj()}, want: []string{ns, limits, hard, api, all}},
		"Unstamped": {reason: "a stamp is repaired", host: []client.Object{unstamped}, want: []string{ns, "host update Namespace vcluster-alice-default", limits, hard, api, all}},
		"Foreign":   {reason: "nobody's namespace is refused", host: []client.Object{bareNamespace("vcluster-alice-default").Obj()}, want: []string{ns}, errs: "is not this Tenant's", is: errConflict},
		"Race": {
			reason: "of two creators one wins", host: []client.Object{namespaceOf(alice().Named("first").UID("uid-first").Obj()).Obj()},
			want: []string{ns}, errs: "is not this Tenant's", is: errConflict,
		},
		"NoNamespace": {reason: "a host that forbids namespaces", refuse: ns, errs: "cannot create namespace", is: errInjected},
		"NoLimits":    {reason: "without limits no quota", refuse: limits, want: []string{ns}, errs: "LimitRange", is: errInjected},
		"NoQuota":     {reason: "a host that forbids quotas", refuse: hard, want: []string{ns, limits}, errs: "ResourceQuota", is: errInjected},
		"NoWayOut":    {reason: "a host that forbids policies", refuse: api, want: []string{ns, limits, hard}, errs: "NetworkPolicy \"kubeopera-control-plane\"", is: errInjected},
		"NoIsolation": {reason: "the way to the host's API comes first", refuse: all, want: []string{ns, limits, hard, api}, errs: "NetworkPolicy \"kubeopera-tenant\"", is: errInjected},
		"NoRepair": {
			reason: "a host that forbids the repair", host: []client.Object{unstamped.DeepCopy()}, refuse: "host update Namespace vcluster-alice-default",
			want: []string{ns}, errs: "repair the labels", is: errInjected,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t, tc.host...), alice().Obj()
			w.refuseWrites = func(action string) error {
				if action == tc.refuse {
					return errInjected
				}

				return nil
			}

			err := w.external(tn).makeBoundary(t.Context(), tn, w.wanted(tn))
			if (err == nil) != (tc.errs == "") || !errors.Is(err, tc.is) || (err != nil && !strings.Contains(err.Error(), tc.errs)) {
				t.Errorf("%s: got error %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, w.journal.take()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// TestBoundaryIsStamped holds what everything on the host carries, and that
// labels of others stay.
func TestBoundaryIsStamped(t *testing.T) {
	t.Parallel()

	unstamped := namespaceOf(alice().Obj()).Obj()
	delete(unstamped.Labels, v1alpha1.LabelUserID)
	unstamped.Labels["keep"] = "me"

	w, tn := newWorld(t, unstamped), alice().Obj()
	wall := wallOf(t, alice())

	if err := w.external(tn).makeBoundary(t.Context(), tn, w.wanted(tn)); err != nil {
		t.Fatal(err)
	}

	ns := read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default")
	l := read[*corev1.LimitRange](w, w.host, ns.Name, wallName)
	q := read[*corev1.ResourceQuota](w, w.host, ns.Name, wallName)
	p := read[*networkingv1.NetworkPolicy](w, w.host, ns.Name, isolation.TenantPolicy)
	c := read[*networkingv1.NetworkPolicy](w, w.host, ns.Name, isolation.ControlPlanePolicy)

	for _, o := range []client.Object{ns, l, q, p, c} {
		want := map[string]string{
			"kubeopera.io/managed-by": "tenant-controller", "kubeopera.io/tenant-id": "7e9d3a1b-0000-4000-8000-000000000002",
			"kubeopera.io/tenant-uid": "uid-alice", "kubeopera.io/user-id": "3f1a2b4c-0000-4000-8000-000000000001",
			"kubeopera.io/tenant-name": "alice-default", "kubeopera.io/environment": "test",
		}
		if o == client.Object(ns) {
			want["keep"] = "me"
			maps.Copy(want, isolation.PodSecurity(nil))
		}

		if diff := cmp.Diff(want, o.GetLabels()); diff != "" {
			t.Errorf("labels of %T: -want, +got:\n%s", o, diff)
		}

		if got := o.GetAnnotations()[v1alpha1.AnnotationTenant]; got != "kubeopera-system/alice-default" {
			t.Errorf("%T names the Tenant %q", o, got)
		}
	}

	if !cmp.Equal(l.Spec, quota.LimitRange()) || q.Spec.Hard.Name(corev1.ResourceLimitsCPU, resource.DecimalSI).Cmp(wall.Hard[corev1.ResourceLimitsCPU]) != 0 {
		t.Errorf("limits %v or quota %v is not what was asked for", l.Spec, q.Spec)
	}
}

// TestIsRight holds that each thing that differs is noticed.
func TestIsRight(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(*boundary)
		want   bool
	}{
		"Right":       {"nothing differs", func(*boundary) {}, true},
		"Rewritten":   {"5000m is 5", func(b *boundary) { b.quota.Spec.Hard[corev1.ResourceLimitsCPU] = resource.MustParse("7000m") }, true},
		"MoreLabels":  {"labels of others are theirs", func(b *boundary) { b.namespace.Labels["x"] = "y" }, true},
		"NoNamespace": {"no namespace", func(b *boundary) { b.namespace = nil }, false},
		"NoQuota":     {"no quota", func(b *boundary) { b.quota = nil }, false},
		"NoLimits":    {"no limits", func(b *boundary) { b.limits = nil }, false},
		"OtherQuota":  {"another quota", func(b *boundary) { b.quota.Spec.Hard[corev1.ResourceLimitsCPU] = resource.MustParse("8") }, false},
		"MoreQuota":   {"a quota on more", func(b *boundary) { b.quota.Spec.Hard[corev1.ResourcePods] = resource.MustParse("8") }, false},
		"OtherLimits": {"other limits", func(b *boundary) { b.limits.Spec.Limits = nil }, false},
		"NoLabel":     {"a label that is gone", func(b *boundary) { delete(b.limits.Labels, v1alpha1.LabelTenantUID) }, false},
		"NoTenant":    {"an annotation that is gone", func(b *boundary) { b.quota.Annotations = nil }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			e, wall := w.external(tn), wallOf(t, alice())

			if err := e.makeBoundary(t.Context(), tn, w.wanted(tn)); err != nil {
				t.Fatal(err)
			}

			b, err := e.readBoundary(t.Context(), tn)
			if err != nil {
				t.Fatal(err)
			}

			tc.change(&b)

			if got := e.isRight(tn, b, wall); got != tc.want {
				t.Errorf("%s: right is %t, want %t", tc.reason, got, tc.want)
			}
		})
	}
}

// staleCache still has a namespace that is gone from the API server.
type staleCache struct {
	client.Reader
	ns *corev1.Namespace
}

func (c staleCache) Get(ctx context.Context, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
	if ns, ok := o.(*corev1.Namespace); ok && key.Name == c.ns.Name {
		c.ns.DeepCopyInto(ns)
		return nil
	}

	return c.Reader.Get(ctx, key, o, opts...)
}

func (c staleCache) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	if ns, ok := l.(*corev1.NamespaceList); ok {
		ns.Items = []corev1.Namespace{*c.ns}
		return nil
	}

	return c.Reader.List(ctx, l, opts...)
}

// TestStaleCacheIsNoConflict holds that a Tenant is not refused for the sake of
// a namespace that only the cache still has.
func TestStaleCacheIsNoConflict(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		ns     *corev1.Namespace
		real   []client.Object
		errs   bool
	}{
		"EarlierTenant": {"one of the same name that is gone", namespaceOf(alice().UID("uid-earlier").Obj()).Obj(), nil, false},
		"SameID":        {"one of the same cloudSpaceID that is gone", namespaceOf(bob().ID(alice().Spec.CloudSpaceID).Obj()).Obj(), nil, false},
		"Real":          {"one that is there", namespaceOf(alice().UID("uid-other").Obj()).Obj(), []client.Object{namespaceOf(alice().UID("uid-other").Obj()).Obj()}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t, tc.real...), alice().Obj()
			e := w.external(tn)
			e.cached = staleCache{Reader: e.cached, ns: tc.ns}

			f, err := e.gather(t.Context(), tn)
			if errors.Is(err, errConflict) != tc.errs {
				t.Fatalf("%s: got %v", tc.reason, err)
			}

			if err == nil && f.boundary.namespace != nil {
				t.Errorf("%s: a namespace that is gone counts as there", tc.reason)
			}
		})
	}
}

// TestFindLooksTwice holds that what the cache lacks may exist.
func TestFindLooksTwice(t *testing.T) {
	t.Parallel()

	w := newWorld(t, bareNamespace("plain").Obj())
	e := w.external(alice().Obj())

	if ok, err := e.find(t.Context(), client.ObjectKey{Name: "plain"}, &corev1.Namespace{}); err != nil || !ok {
		t.Errorf("a namespace without our labels is not found: %v", err)
	}

	if ok, err := e.find(t.Context(), client.ObjectKey{Name: "none"}, &corev1.Namespace{}); err != nil || ok {
		t.Errorf("found a namespace that is not there: %v", err)
	}

	e.cached = watchedOnly{client.Reader(failing{})}
	if ok, err := e.find(t.Context(), client.ObjectKey{Name: "none"}, &corev1.Namespace{}); !kerrors.IsForbidden(err) || ok {
		t.Errorf("a read that fails is %t, %v", ok, err)
	}
}

// failing answers every read with Forbidden.
type failing struct{ client.Reader }

func (failing) Get(_ context.Context, key client.ObjectKey, _ client.Object, _ ...client.GetOption) error {
	return kerrors.NewForbidden(schema.GroupResource{Resource: "namespaces"}, key.Name, errInjected)
}

// TestCreateOr holds that what was seen absent is created without another look, and what
// appeared meanwhile is changed all the same.
func TestCreateOr(t *testing.T) {
	t.Parallel()

	key := metav1.ObjectMeta{Namespace: "vcluster-alice-default", Name: wallName}
	there := &corev1.LimitRange{ObjectMeta: key}
	there.SetLabels(map[string]string{"theirs": "stays"})

	cases := map[string]struct {
		reason string
		there  []client.Object
		absent bool
		mutate error
		writes []string
		reads  int
		labels map[string]string
	}{
		"New":      {"nothing is asked for", nil, true, nil, []string{"host create LimitRange kubeopera-tenant"}, 0, map[string]string{"ours": "set"}},
		"Appeared": {"somebody was faster", []client.Object{there}, true, nil, []string{"host create LimitRange kubeopera-tenant", "host patch LimitRange kubeopera-tenant"}, 1, map[string]string{"ours": "set", "theirs": "stays"}},
		"Seen":     {"it was seen", []client.Object{there}, false, nil, []string{"host patch LimitRange kubeopera-tenant"}, 1, map[string]string{"ours": "set", "theirs": "stays"}},
		"Gone":     {"it was seen, and is gone", nil, false, nil, []string{"host create LimitRange kubeopera-tenant"}, 1, map[string]string{"ours": "set"}},
		"Refused":  {"it must not be written", nil, true, errInjected, nil, 0, nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, clonesOf(tc.there)...)
			w.journal.clear()
			w.reads.fail(0)

			o := &corev1.LimitRange{ObjectMeta: key}
			if err := createOr(t.Context(), controllerutil.CreateOrPatch, tc.absent, w.host, o, func() error {
				if tc.mutate == nil {
					meta.AddLabels(o, map[string]string{"ours": "set"})
				}

				return tc.mutate
			}); !errors.Is(err, tc.mutate) {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.writes, w.journal.take()); diff != "" || w.reads.count != tc.reads {
				t.Errorf("%s: %d reads, writes: -want, +got:\n%s", tc.reason, w.reads.count, diff)
			}

			if tc.labels == nil {
				return
			}

			if diff := cmp.Diff(tc.labels, read[*corev1.LimitRange](w, w.host, key.Namespace, key.Name).GetLabels()); diff != "" {
				t.Errorf("%s: labels: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
