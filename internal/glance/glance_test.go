// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package glance

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

var (
	epoch       = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	errInjected = errors.New("injected failure")
)

const namespace = "n"

// cluster is an API server, or the cache of one, that notes what it is asked.
type cluster struct {
	client.WithWatch

	asked []string
	fails bool
}

func newCluster(objs ...client.Object) *cluster {
	c := &cluster{}
	note := func(what string) error {
		c.asked = append(c.asked, what)
		if c.fails {
			return errInjected
		}

		return nil
	}
	c.WithWatch = interceptor.NewClient(fake.NewClientBuilder().WithScheme(clientgoscheme.Scheme).WithObjects(objs...).Build(), interceptor.Funcs{
		Get: func(ctx context.Context, inner client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := note("get " + key.Name); err != nil {
				return err
			}

			return inner.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, inner client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if err := note("list"); err != nil {
				return err
			}

			return inner.List(ctx, l, opts...)
		},
	})

	return c
}

// takeAsked is what it was asked since the last time, sorted.
func (c *cluster) takeAsked() []string {
	out := c.asked
	c.asked = nil
	slices.Sort(out)

	return out
}

func named(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name, UID: types.UID("uid-" + name)}
}

func configMap(name string) *corev1.ConfigMap { return &corev1.ConfigMap{ObjectMeta: named(name)} }

// place is all that a look reads from.
type place struct {
	cache, host, inside *cluster
	clock               *clocktesting.FakePassiveClock
	memory              *Memory
	tenant              *v1alpha1.Tenant
}

func newPlace() *place {
	clk := clocktesting.NewFakePassiveClock(epoch)
	elsewhere := metav1.ObjectMeta{Namespace: "elsewhere", Name: "x", UID: "uid-x"}

	return &place{
		cache:  newCluster(configMap("cached"), &corev1.Service{ObjectMeta: named("service")}, &corev1.Secret{ObjectMeta: named("watched")}, &corev1.Service{ObjectMeta: elsewhere}),
		host:   newCluster(&corev1.Secret{ObjectMeta: named("watched")}, configMap("other")),
		inside: newCluster(&appsv1.Deployment{ObjectMeta: named("runs")}, configMap("list"), &corev1.ConfigMap{ObjectMeta: elsewhere}),
		clock:  clk,
		memory: NewMemory(clk),
		tenant: &v1alpha1.Tenant{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "t", UID: "uid-t", ResourceVersion: "1"}},
	}
}

var came = managed.ExternalObservation{ResourceExists: true, ResourceUpToDate: true}

// look reads something of everything, and keeps what it came to.
func (p *place) look(t *testing.T) {
	t.Helper()

	l := &Look{}
	cached, host, inside := l.Cached(p.cache), l.Live(p.host, p.cache), l.Live(p.inside, nil)
	key := func(name string) client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: name} }

	for name, read := range map[string]func() error{
		"cached":   func() error { return cached.Get(t.Context(), key("cached"), &corev1.ConfigMap{}) },
		"services": func() error { return cached.List(t.Context(), &corev1.ServiceList{}, client.InNamespace(namespace)) },
		"watched":  func() error { return host.Get(t.Context(), key("watched"), &corev1.Secret{}) },
		"absent": func() error {
			return client.IgnoreNotFound(host.Get(t.Context(), key("absent"), &corev1.ConfigMap{}))
		},
		"runs": func() error { return inside.Get(t.Context(), key("runs"), &appsv1.Deployment{}) },
		"list": func() error { return inside.List(t.Context(), &corev1.ConfigMapList{}, client.InNamespace(namespace)) },
	} {
		if err := read(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}

	p.memory.Keep(p.tenant, l, came)

	for _, c := range []*cluster{p.cache, p.host, p.inside} {
		c.takeAsked()
	}
}

// TestSame holds what two glances cost: all that caches answer, twice, and one request.
func TestSame(t *testing.T) {
	t.Parallel()

	p := newPlace()
	p.look(t)

	var asked []string

	for n := range 16 {
		if got, ok := p.memory.Same(t.Context(), p.tenant); !ok || got.ResourceUpToDate != came.ResourceUpToDate {
			t.Fatalf("nothing has changed, and it is not the same: %v", got)
		}

		if diff := cmp.Diff([]string{"get cached", "get watched", "list"}, p.cache.takeAsked()); diff != "" {
			t.Errorf("of the cache: -want, +got:\n%s", diff)
		}

		live := append(p.host.takeAsked(), p.inside.takeAsked()...)
		if len(live) != n%2 {
			t.Errorf("asked of API servers at glance %d, want %d: %v", n+1, n%2, live)
		}

		asked = append(asked, live...)
	}

	slices.Sort(asked)

	want := []string{"get absent", "get absent", "get runs", "get runs", "get runs", "get runs", "list", "list"}
	if diff := cmp.Diff(want, asked); diff != "" {
		t.Errorf("what runs is to be asked for every other time, and the rest in turn: -want, +got:\n%s", diff)
	}
}

// TestTurns holds that what API servers know is asked for in turn, at every other glance,
// whatever was read of them.
func TestTurns(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason  string
		running []string
		rest    []string
		// want is what each glance asks; empty for nothing.
		want []string
	}{
		"Both":    {"what runs every other time", []string{"a"}, []string{"x", "y"}, []string{"", "a", "", "x", "", "a", "", "y", "", "a", "", "x"}},
		"Running": {"nothing else was read", []string{"a", "b"}, nil, []string{"", "a", "", "b", "", "a", "", "b"}},
		"Rest":    {"nothing runs", nil, []string{"x", "y", "z"}, []string{"", "x", "", "y", "", "z", "", "x"}},
		"None":    {"caches answer all", nil, nil, []string{"", "", "", ""}},
	} {
		asked := make([]string, len(tc.want))
		glance := 0

		question := func(names []string) []question {
			var out []question
			for _, n := range names {
				out = append(out, question{ask: func(context.Context) (string, error) { asked[glance] += n; return "", nil }})
			}

			return out
		}
		l := &Look{running: question(tc.running), rest: question(tc.rest)}

		for ; glance < len(tc.want); glance++ {
			if !l.same(t.Context()) {
				t.Errorf("%s: nothing has changed, and it is not the same", name)
			}
		}

		if diff := cmp.Diff(tc.want, asked); diff != "" {
			t.Errorf("%s: %s: -want, +got:\n%s", name, tc.reason, diff)
		}
	}
}

// TestKeptNoLonger holds that looks of objects that went without a word are dropped.
func TestKeptNoLonger(t *testing.T) {
	t.Parallel()

	p := newPlace()
	p.look(t)

	p.tenant = p.tenant.DeepCopy()
	p.tenant.UID = "uid-next"
	p.clock.SetTime(epoch.Add(Longest))
	p.look(t)

	if len(p.memory.looks) != 1 {
		t.Errorf("%d looks are kept, want that of the other only", len(p.memory.looks))
	}
}

// TestChanged holds that each change of what was read is found, and by how many
// glances at the latest.
func TestChanged(t *testing.T) {
	t.Parallel()

	touch := func(o client.Object) func(context.Context, *cluster) error {
		return func(ctx context.Context, c *cluster) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
				return err
			}

			o.SetLabels(map[string]string{"a": "b"})

			return c.Update(ctx, o)
		}
	}
	create := func(o client.Object) func(context.Context, *cluster) error {
		return func(ctx context.Context, c *cluster) error { return c.Create(ctx, o) }
	}
	remove := func(o client.Object) func(context.Context, *cluster) error {
		return func(ctx context.Context, c *cluster) error { return c.Delete(ctx, o) }
	}

	cases := map[string]struct {
		reason string
		change func(*testing.T, *place) error
		// within is by how many glances it is found, whatever was asked last.
		within int
	}{
		"Cached": {"what a cache has is found at once", func(t *testing.T, p *place) error {
			t.Helper()
			return touch(configMap("cached"))(t.Context(), p.cache)
		}, 1},
		"Gone": {"also that it is gone", func(t *testing.T, p *place) error {
			t.Helper()
			return remove(configMap("cached"))(t.Context(), p.cache)
		}, 1},
		"More": {"or one of a list more", func(t *testing.T, p *place) error {
			t.Helper()
			return create(&corev1.Service{ObjectMeta: named("new")})(t.Context(), p.cache)
		}, 1},
		"Less": {"or one less", func(t *testing.T, p *place) error {
			t.Helper()
			return remove(&corev1.Service{ObjectMeta: named("service")})(t.Context(), p.cache)
		}, 1},
		"Watched": {"the cache of metadata is asked in the place of the API server", func(t *testing.T, p *place) error {
			t.Helper()
			return touch(&corev1.Secret{ObjectMeta: named("watched")})(t.Context(), p.cache)
		}, 1},
		"Runs": {"what runs is asked for at every fourth", func(t *testing.T, p *place) error {
			t.Helper()
			return touch(&appsv1.Deployment{ObjectMeta: named("runs")})(t.Context(), p.inside)
		}, 4},
		"Appeared": {"what was absent is read again", func(t *testing.T, p *place) error {
			t.Helper()
			return create(configMap("absent"))(t.Context(), p.host)
		}, 8},
		"Listed": {"and so are lists", func(t *testing.T, p *place) error { t.Helper(); return touch(configMap("list"))(t.Context(), p.inside) }, 8},
		"Fails":  {"what cannot be asked for is not the same", func(_ *testing.T, p *place) error { p.inside.fails = true; return nil }, 4},
		"Itself": {"a change of the object itself is one", func(_ *testing.T, p *place) error { p.tenant.ResourceVersion = "2"; return nil }, 1},
		"Time": {"after some time it is looked at whatever was asked", func(_ *testing.T, p *place) error {
			p.clock.SetTime(epoch.Add(2 * lasts))
			return nil
		}, 1},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			latest := 0
			for before := range 8 { // All that is asked for in turn is asked by then.
				latest = max(latest, glancesUntilFound(t, before, tc.change))
			}

			if latest != tc.within {
				t.Errorf("%s: found by %d glances at the latest, want %d", tc.reason, latest, tc.within)
			}
		})
	}
}

// glancesUntilFound counts the glances that find a change, which comes so many glances
// after a look.
func glancesUntilFound(t *testing.T, before int, change func(*testing.T, *place) error) int {
	t.Helper()

	p := newPlace()
	p.look(t)

	same := func() bool {
		_, ok := p.memory.Same(t.Context(), p.tenant)
		return ok
	}

	for range before {
		if !same() {
			t.Fatal("nothing has changed, and it is not the same")
		}
	}

	if err := change(t, p); err != nil {
		t.Fatal(err)
	}

	n := 1
	for same() {
		if n++; n > 100 {
			t.Fatal("not found by 100 glances")
		}
	}

	if same() {
		t.Error("what was changed is taken for the same later")
	}

	return n
}

// TestUsersOfConfigs holds that a Tenant more or less changes nothing for the others of
// its provider configuration.
func TestUsersOfConfigs(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		reason string
		change func(c *v1alpha1.ClusterProviderConfig)
		same   bool
	}{
		"Users": {"the count of users is nothing that a Tenant depends on", func(c *v1alpha1.ClusterProviderConfig) {
			c.ResourceVersion, c.Status.Users = "2", 2
		}, true},
		"Spec":    {"the spec is", func(c *v1alpha1.ClusterProviderConfig) { c.ResourceVersion, c.Generation = "2", 2 }, false},
		"Another": {"another of the same name is not the same", func(c *v1alpha1.ClusterProviderConfig) { c.UID = "uid-other" }, false},
	} {
		config := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid", ResourceVersion: "1", Generation: 1}}
		before, err := versionOf(config, nil)

		tc.change(config)

		after, failed := versionOf(config, nil)
		if err != nil || failed != nil || (before == after) != tc.same {
			t.Errorf("%s: %s: %q, then %q (%v, %v)", name, tc.reason, before, after, err, failed)
		}
	}
}

// TestFailedRead holds that a look with a read that failed is no ground for anything.
func TestFailedRead(t *testing.T) {
	t.Parallel()

	p := newPlace()
	l := &Look{}
	p.host.fails = true

	if err := l.Live(p.host, nil).Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "other"}, &corev1.ConfigMap{}); !errors.Is(err, errInjected) {
		t.Fatalf("the read did not fail: %v", err)
	}

	p.host.fails = false
	p.memory.Keep(p.tenant, l, came)

	if _, ok := p.memory.Same(t.Context(), p.tenant); ok {
		t.Error("it is taken for the same")
	}
}

// TestAsked holds the same of what was read by other means.
func TestAsked(t *testing.T) {
	t.Parallel()

	p, version := newPlace(), "1"
	l := &Look{}
	l.Asked(version, nil, func(context.Context) (string, error) { return version, nil })
	p.memory.Keep(p.tenant, l, came)

	if _, ok := p.memory.Same(t.Context(), p.tenant); !ok {
		t.Error("nothing has changed, and it is not the same")
	}

	version = "2"

	if _, ok := p.memory.Same(t.Context(), p.tenant); ok {
		t.Error("a change was not found by the second glance")
	}

	var probed error

	probe := &Look{}
	probe.Asked("", nil, func(context.Context) (string, error) { return "", probed })
	p.memory.Keep(p.tenant, probe, came)

	probed = errInjected

	if _, ok := p.memory.Same(t.Context(), p.tenant); !ok {
		t.Error("the first glance asks, although all was just read")
	}

	if _, ok := p.memory.Same(t.Context(), p.tenant); ok {
		t.Error("what cannot be asked is taken for the same")
	}

	failed := &Look{}
	failed.Asked("", errInjected, nil)
	p.memory.Keep(p.tenant, failed, came)

	if _, ok := p.memory.Same(t.Context(), p.tenant); ok {
		t.Error("what could not be read is taken for the same")
	}
}

// TestOfManager holds that all is asked for each time, and Secrets where a cache of
// metadata has them.
func TestOfManager(t *testing.T) {
	t.Parallel()

	kube := newCluster(configMap("config"), &corev1.Secret{ObjectMeta: named("published")}, &corev1.Secret{ObjectMeta: named("credentials")})
	metadata := newCluster(&corev1.Secret{ObjectMeta: named("published")})
	p, l := newPlace(), &Look{}
	c := l.OfManager(kube, metadata)

	for name, o := range map[string]client.Object{"config": &corev1.ConfigMap{}, "published": &corev1.Secret{}, "credentials": &corev1.Secret{}} {
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
			t.Fatal(err)
		}
	}

	p.memory.Keep(p.tenant, l, came)
	kube.takeAsked()
	metadata.takeAsked()

	for range 2 {
		if _, ok := p.memory.Same(t.Context(), p.tenant); !ok {
			t.Fatal("nothing has changed, and it is not the same")
		}

		if diff := cmp.Diff([]string{"get config", "get credentials"}, kube.takeAsked()); diff != "" {
			t.Errorf("of the client: -want, +got:\n%s", diff)
		}

		if diff := cmp.Diff([]string{"get published"}, metadata.takeAsked()); diff != "" {
			t.Errorf("of the cache of metadata: -want, +got:\n%s", diff)
		}
	}
}

func TestSeen(t *testing.T) {
	t.Parallel()

	c := Seen[*v1alpha1.Tenant](came)
	if got, err := c.Observe(t.Context(), &v1alpha1.Tenant{}); err != nil || !got.ResourceUpToDate {
		t.Errorf("it observes %+v, %v", got, err)
	}

	if err := c.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
}
