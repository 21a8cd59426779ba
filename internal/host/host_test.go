// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

var alice = types.NamespacedName{Namespace: "kubeopera-system", Name: "alice"}

func named(tenant string) map[string]string {
	return map[string]string{v1alpha1.AnnotationTenant: tenant}
}

func TestTenantOf(t *testing.T) {
	t.Parallel()

	for annotation, want := range map[string]types.NamespacedName{
		"kubeopera-system/alice": alice, "": {}, "alice": {}, "/alice": {}, "kubeopera-system/": {}, "/": {},
	} {
		got, ok := TenantOf(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Annotations: named(annotation)}})
		if got != want || ok != (want != types.NamespacedName{}) {
			t.Errorf("%q: got %v, %t", annotation, got, ok)
		}
	}

	if _, ok := TenantOf(&corev1.Namespace{}); ok {
		t.Error("an object without annotations has an owner")
	}
}

// TestHandler holds who is woken by which object, whatever happens to it.
func TestHandler(t *testing.T) {
	t.Parallel()

	cached := fake.NewClientBuilder().WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vcluster-alice", Annotations: named("kubeopera-system/alice")}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
	).Build()

	in := func(namespace string, a map[string]string) *corev1.Service {
		return &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "x", Annotations: a}}
	}

	synced := func(namespace string, a map[string]string) *corev1.Service {
		s := in(namespace, a)
		s.SetLabels(map[string]string{vcluster.LabelApp: vcluster.AppName, vcluster.LabelSyncedBy: "vc-alice"})

		return s
	}

	cases := map[string]struct {
		reason string
		obj    any
		want   []types.NamespacedName
		// tombstone says that obj comes with deletions only.
		tombstone bool
	}{
		"Own":         {"the object names its Tenant", in("anywhere", named("kubeopera-system/alice")), []types.NamespacedName{alice}, false},
		"Namespace":   {"its namespace does", in("vcluster-alice", nil), []types.NamespacedName{alice}, false},
		"Metadata":    {"the exported Secret is watched without its body", &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "vcluster-alice", Name: "vc-x"}}, []types.NamespacedName{alice}, false},
		"Foreign":     {"who may write into it names another", in("vcluster-alice", named("kubeopera-system/bob")), []types.NamespacedName{alice}, false},
		"Synced":      {"a tenant's own Service", synced("vcluster-alice", nil), nil, false},
		"SyncedAs":    {"whatever it says", synced("vcluster-alice", named("kubeopera-system/bob")), nil, false},
		"Unowned":     {"a namespace of nobody", in("plain", nil), nil, false},
		"Unknown":     {"a namespace that is not there", in("gone", nil), nil, false},
		"Cluster":     {"an object without a namespace", &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plain"}}, nil, false},
		"Tombstone":   {"a deletion that was missed", toolscache.DeletedFinalStateUnknown{Key: "x", Obj: in("vcluster-alice", nil)}, []types.NamespacedName{alice}, true},
		"Nonsense":    {"what is no object", "x", nil, false},
		"EmptyCoffin": {"a tombstone of nothing", toolscache.DeletedFinalStateUnknown{}, nil, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var got []types.NamespacedName

			h := (&Host{unchecked: cached}).handler(t.Context(), func(t types.NamespacedName, _ bool) { got = append(got, t) })

			for what, happen := range map[string]func(){
				"add":    func() { h.OnAdd(tc.obj, false) },
				"update": func() { h.OnUpdate(before(tc.obj), tc.obj) },
				"delete": func() { h.OnDelete(tc.obj) },
			} {
				got = nil

				happen()

				want := tc.want
				if what == "update" && tc.tombstone {
					want = nil // There are none of updates.
				}

				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, %s: -want, +got:\n%s", tc.reason, what, diff)
				}
			}
		})
	}
}

// TestListed holds that what is only found on a host is told apart from what changes
// there: a thousand Tenants that are there do not go before a new one.
func TestListed(t *testing.T) {
	t.Parallel()

	cached := fake.NewClientBuilder().Build()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vcluster-alice", Annotations: named("kubeopera-system/alice")}}

	var got []bool

	h := (&Host{unchecked: cached}).handler(t.Context(), func(_ types.NamespacedName, listed bool) { got = append(got, listed) })

	h.OnAdd(ns, true)
	h.OnAdd(ns, false)
	h.OnUpdate(before(ns), ns)
	h.OnDelete(ns)

	if diff := cmp.Diff([]bool{true, false, false, false}, got); diff != "" {
		t.Errorf("listed, added, changed, deleted: -want, +got:\n%s", diff)
	}
}

// TestHandlerOfTheHostsAPI holds that all Tenants on a host are woken when its API
// moves.
func TestHandlerOfTheHostsAPI(t *testing.T) {
	t.Parallel()

	cached := fake.NewClientBuilder().WithObjects(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vcluster-alice", Annotations: named("kubeopera-system/alice")}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "vcluster-bob", Annotations: named("kubeopera-system/bob")}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "plain"}},
	).Build()

	var got []types.NamespacedName

	h := (&Host{unchecked: cached}).handler(t.Context(), func(t types.NamespacedName, _ bool) { got = append(got, t) })
	is := &discoveryv1.EndpointSlice{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "kubernetes"}, Endpoints: []discoveryv1.Endpoint{{Addresses: []string{"10.0.0.1"}}}}
	was := is.DeepCopy()
	was.SetResourceVersion("before")

	h.OnUpdate(was, is)

	if len(got) > 0 {
		t.Errorf("it did not move, but %v are woken", got)
	}

	was.Endpoints = nil
	h.OnUpdate(was, is)

	if diff := cmp.Diff([]types.NamespacedName{alice, {Namespace: "kubeopera-system", Name: "bob"}}, got); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	got = nil
	h = (&Host{unchecked: fake.NewClientBuilder().WithScheme(runtime.NewScheme()).Build()}).handler(t.Context(), func(t types.NamespacedName, _ bool) { got = append(got, t) })
	h.OnDelete(is)

	if len(got) > 0 {
		t.Errorf("what cannot be listed wakes %v", got)
	}
}

// before is an object as it was before it changed.
func before(obj any) any {
	o, ok := obj.(client.Object)
	if !ok {
		return obj
	}

	out := o.DeepCopyObject().(client.Object)
	out.SetResourceVersion("before")

	return out
}

// TestCountingTransport holds what counts as a write. It is the only test that
// counts, so that it may look at the global counters.
func TestCountingTransport(t *testing.T) {
	const core, reviews = "/api/v1/namespaces", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"

	cases := map[string]struct {
		method, path string
		want         float64
	}{
		"Get":     {http.MethodGet, core, 0},
		"Head":    {http.MethodHead, core, 0},
		"Options": {http.MethodOptions, core, 0},
		"Post":    {http.MethodPost, core, 1},
		"Put":     {http.MethodPut, core, 1},
		"Patch":   {http.MethodPatch, core, 1},
		"Delete":  {http.MethodDelete, core, 1},
		"Review":  {http.MethodPost, reviews, 0},
	}
	for name, tc := range cases {
		for _, err := range []error{nil, errInjected} {
			before := testutil.ToFloat64(writes.WithLabelValues(tc.method))

			r, rerr := http.NewRequestWithContext(t.Context(), tc.method, "https://host"+tc.path, nil)
			if rerr != nil {
				t.Fatal(rerr)
			}

			passed := false
			rt := countingTransport{next: roundTripper(func(got *http.Request) (*http.Response, error) {
				passed = got == r
				return nil, err
			})}

			if _, got := rt.RoundTrip(r); !errors.Is(got, err) || !passed { //nolint:bodyclose // There is no response.
				t.Errorf("%s: the request was passed on: %t, error %v", name, passed, got)
			}

			if got := testutil.ToFloat64(writes.WithLabelValues(tc.method)) - before; got != tc.want {
				t.Errorf("%s: counted %v, want %v", name, got, tc.want)
			}
		}
	}

	// All methods show from the beginning.
	if got := testutil.CollectAndCount(Collectors()[0], "kubeopera_host_writes_total"); got < 4 {
		t.Errorf("%d series, want one a method", got)
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestWatched holds that everything whose change wakes a Tenant is bound to a
// label: a cache of all Secrets or Services of a host would be large.
func TestWatched(t *testing.T) {
	t.Parallel()

	for o, s := range watched() {
		if s.Label == nil || s.Label.Empty() {
			t.Errorf("%T is watched without a label", o)
		}

		if _, body := o.(*corev1.Secret); body {
			t.Error("the bodies of Secrets are kept in memory")
		}
	}

	for app, want := range map[string]bool{"vcluster": true, "vcluster-etcd": true, "other": false, "": false} {
		if got := byVCluster().Matches(labels.Set{vcluster.LabelApp: app}); got != want {
			t.Errorf("app %q: watched %t, want %t", app, got, want)
		}
	}
}

// TestNewHost holds that a change of an object on a host is told of as one of
// its Tenant, by a watch and not by a poll.
func TestNewHost(t *testing.T) {
	t.Parallel()

	s := newAPIServer(t)
	heard := make(chan types.NamespacedName, 10)
	cfg := &rest.Config{Host: s.URL}

	h, err := newHost(t.Context(), cfg, func(t types.NamespacedName, _ bool) { heard <- t })
	if err != nil {
		t.Fatal(err)
	}

	if err := h.wait(t.Context()); err != nil {
		t.Fatal(err)
	}

	if cfg.WrapTransport != nil || cfg.QPS != 0 {
		t.Error("the caller's configuration was changed")
	}

	s.push("/api/v1/namespaces", &corev1.Namespace{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"},
		ObjectMeta: metav1.ObjectMeta{
			Name: "vcluster-alice", Annotations: named("kubeopera-system/alice"),
			Labels:        map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelTenantID: "alice-id"},
			ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "x"}},
		},
	})

	if got := <-heard; got != alice {
		t.Errorf("heard of %v, want %v", got, alice)
	}

	s.push("/api/v1/services", &corev1.Service{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Service"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "vcluster-alice", Name: "vc-alice", Labels: map[string]string{vcluster.LabelApp: vcluster.AppName}},
	})

	if got := <-heard; got != alice {
		t.Errorf("heard of %v, want the Tenant of the namespace, %v", got, alice)
	}

	ns := &corev1.Namespace{}
	if err := h.Cached.Get(t.Context(), client.ObjectKey{Name: "vcluster-alice"}, ns); err != nil || len(ns.ManagedFields) > 0 {
		t.Errorf("the cached namespace: %v, managed fields %v", err, ns.ManagedFields)
	}

	for id, want := range map[string]int{"alice-id": 1, "bob-id": 0} {
		found := &corev1.NamespaceList{}
		if err := h.Cached.List(t.Context(), found, client.MatchingFields{IndexTenantID: id}); err != nil || len(found.Items) != want {
			t.Errorf("of cloudSpaceID %s: %d namespaces, %v, want %d", id, len(found.Items), err, want)
		}
	}

	if err := h.Cached.List(t.Context(), &discoveryv1.EndpointSliceList{}, client.InNamespace("default")); err != nil {
		t.Errorf("where the host's API is cannot be read: %v", err)
	}

	if err := h.Cached.List(t.Context(), &corev1.PodList{}); err == nil {
		t.Error("a kind that is not watched is read without an error, and would be watched for ever")
	}

	if err := h.Live.Get(t.Context(), client.ObjectKey{Name: "none"}, ns); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("the live read: %v", err)
	}

	if h.Helm == nil {
		t.Error("the host has no Helm")
	}

	s.mu.Lock()
	defer s.mu.Unlock()

	for path := range watchPaths {
		if s.asked[path] == "" {
			t.Errorf("%s is not watched by a label", path)
		}
	}
}

// TestNewHostRefuses holds that what cannot become a client is an error.
func TestNewHostRefuses(t *testing.T) {
	t.Parallel()

	for name, cfg := range map[string]*rest.Config{
		"TLS": {Host: "https://host", TLSClientConfig: rest.TLSClientConfig{CAData: []byte("no PEM")}},
		"URL": {Host: "https://host:no-port"},
	} {
		if _, err := newHost(t.Context(), cfg, func(types.NamespacedName, bool) {}); err == nil {
			t.Errorf("%s: a host was made of it", name)
		}
	}
}

// TestForbiddenHost holds that a host that forbids something says so, in its own
// words, and is not waited for.
func TestForbiddenHost(t *testing.T) {
	t.Parallel()

	s := newAPIServer(t)
	s.forbid = true

	p := NewPool()
	t.Cleanup(p.cancel)

	_, err := p.Get(t.Context(), "one", func() (*rest.Config, error) { return &rest.Config{Host: s.URL}, nil })
	if !errors.Is(err, ErrUnreachable) || !strings.Contains(err.Error(), "the provider may not list this") {
		t.Errorf("got %v", err)
	}
}

// TestPoolOnARealServer holds that the pool opens real hosts, and that they end
// with it.
func TestPoolOnARealServer(t *testing.T) {
	t.Parallel()

	s := newAPIServer(t)
	p := NewPool()
	heard := make(chan types.NamespacedName, 10)
	p.Notify(func(t types.NamespacedName, _ bool) { heard <- t })

	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error)

	go func() { done <- p.Start(ctx) }()

	if _, err := p.Get(t.Context(), "one", func() (*rest.Config, error) { return &rest.Config{Host: s.URL}, nil }); err != nil {
		t.Fatal(err)
	}

	s.push("/api/v1/resourcequotas", &corev1.ResourceQuota{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "vcluster-alice", Name: "q", Annotations: named("kubeopera-system/alice"), Labels: map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy},
		},
	})

	if got := <-heard; got != alice {
		t.Errorf("heard of %v", got)
	}

	cancel()

	if err := <-done; err != nil {
		t.Error(err)
	}
}
