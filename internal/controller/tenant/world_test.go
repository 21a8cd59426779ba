// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// errInjected is the failure of a read or write that a test asks for.
var errInjected = errors.New("injected failure")

// testScheme knows the kinds of both clusters.
var testScheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic(err)
	}

	return s
})

// world is a host cluster, the cluster of the Tenants, Helm and the time, all
// fake, with a journal of what was done to them.
type world struct {
	t *testing.T

	host, kube client.WithWatch
	helm       *fakeHelm
	clock      *clocktesting.FakePassiveClock
	events     *recorder
	failures   *failures
	journal    *journal
	reads      *reads
	// refuseWrites fails the writes of which it returns an error.
	refuseWrites func(action string) error
	// die ends the pass after a deletion of which it returns an error, as a kill does.
	die func(action string) error

	chart    func(ctx context.Context, version string) (*helm.Chart, error)
	probe    func(ctx context.Context, cfg *rest.Config) error
	defaults defaults
}

// newWorld has the given objects, each in the cluster of its kind.
func newWorld(t *testing.T, objs ...client.Object) *world {
	t.Helper()

	w := &world{
		t:            t,
		clock:        clocktesting.NewFakePassiveClock(epoch),
		events:       &recorder{},
		failures:     newFailures(),
		journal:      &journal{},
		reads:        &reads{},
		refuseWrites: func(string) error { return nil },
		die:          func(string) error { return nil },
		chart:        oneChart,
		probe:        func(context.Context, *rest.Config) error { return nil },
		defaults:     defaults{chartVersion: "0.36.1", environment: "test"},
	}
	w.helm = &fakeHelm{journal: w.journal, reads: w.reads, clock: w.clock, die: func(a string) error { return w.die(a) }}

	b := map[bool]*fake.ClientBuilder{true: w.builder("kube"), false: w.builder("host")}
	for _, o := range objs {
		b[livesBesideTenants(o)].WithObjects(o)
	}

	w.kube, w.host = b[true].Build(), b[false].Build()

	return w
}

// livesBesideTenants is true for what the tests keep in the Tenants' cluster.
func livesBesideTenants(o client.Object) bool {
	switch o.(type) {
	case *v1alpha1.Tenant, *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		return true
	case *corev1.Secret:
		return o.GetNamespace() == tenantNamespace
	default:
		return false
	}
}

func (w *world) builder(cluster string) *fake.ClientBuilder {
	b := fake.NewClientBuilder().WithScheme(testScheme()).WithRESTMapper(testMapper()).
		WithStatusSubresource(&v1alpha1.Tenant{}).
		WithIndex(&v1alpha1.Tenant{}, indexCloudSpaceID, cloudSpaceIDOf).
		WithInterceptorFuncs(w.interceptors(cluster))

	for field, of := range map[string]func(*corev1.Event) string{
		"involvedObject.kind": func(e *corev1.Event) string { return e.InvolvedObject.Kind },
		"involvedObject.name": func(e *corev1.Event) string { return e.InvolvedObject.Name },
		"type":                func(e *corev1.Event) string { return e.Type },
	} {
		b.WithIndex(&corev1.Event{}, field, func(o client.Object) []string { return []string{of(o.(*corev1.Event))} })
	}

	return b
}

// interceptors do what the fake client leaves out: they give UIDs, hold deletions
// to their preconditions, keep the journal and inject failures.
func (w *world) interceptors(cluster string) interceptor.Funcs {
	write := func(verb string, o client.Object) error {
		action := fmt.Sprintf("%s %s %s %s", cluster, verb, kindOf(o), o.GetName())
		if err := w.refuseWrites(action); err != nil {
			return err
		}

		w.journal.add(action)

		return nil
	}

	return interceptor.Funcs{
		Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
			if err := w.reads.next(fmt.Sprintf("get %s %s", kindOf(o), key.Name)); err != nil {
				return err
			}

			return c.Get(ctx, key, o, opts...)
		},
		List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			if err := w.reads.next(fmt.Sprintf("list %T", l)); err != nil {
				return err
			}

			return c.List(ctx, l, opts...)
		},
		Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
			if err := write("create", o); err != nil {
				return err
			}

			if o.GetUID() == "" {
				o.SetUID(types.UID("uid-of-" + o.GetName()))
			}

			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := write("update", o); err != nil {
				return err
			}

			return c.Update(ctx, o, opts...)
		},
		Patch: func(ctx context.Context, c client.WithWatch, o client.Object, p client.Patch, opts ...client.PatchOption) error {
			if err := write("patch", o); err != nil {
				return err
			}

			return c.Patch(ctx, o, p, opts...)
		},
		Delete: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.DeleteOption) error {
			if err := write("delete", o); err != nil {
				return err
			}

			if err := w.checkPrecondition(ctx, c, o, opts); err != nil {
				return err
			}

			if err := c.Delete(ctx, o, opts...); err != nil {
				return err
			}

			return w.die("delete " + o.GetName())
		},
	}
}

// checkPrecondition fails the test for a deletion that is not bound to a UID.
func (w *world) checkPrecondition(ctx context.Context, c client.Client, o client.Object, opts []client.DeleteOption) error {
	d := (&client.DeleteOptions{}).ApplyOptions(opts)
	if d.Preconditions == nil || d.Preconditions.UID == nil || *d.Preconditions.UID == "" {
		w.t.Errorf("deletion of %s %q has no UID precondition", kindOf(o), o.GetName())
		return nil
	}

	have := o.DeepCopyObject().(client.Object)
	if err := c.Get(ctx, client.ObjectKeyFromObject(o), have); err != nil {
		return err
	}

	if have.GetUID() != *d.Preconditions.UID {
		return kerrors.NewConflict(schema.GroupResource{Resource: kindOf(o)}, o.GetName(), errors.New("the UID in the precondition differs"))
	}

	return nil
}

// external is a new client for one pass.
func (w *world) external(t *v1alpha1.Tenant) *external {
	return &external{
		kube: w.kube, cached: watchedOnly{w.host}, live: w.host, helm: w.helm.client(),
		chart: w.chart, probe: w.probe, record: w.events, clock: w.clock, failures: w.failures,
		names: namesOf(t), defaults: w.defaults, before: *t.Status.DeepCopy(),
	}
}

// pass does what one pass of the managed reconciler does with the external
// client, and stores the status as the API server would.
func (w *world) pass(t *v1alpha1.Tenant) (managed.ExternalObservation, error) {
	w.t.Helper()

	ctx, e := w.t.Context(), w.external(t)

	o, err := e.Observe(ctx, t)

	switch {
	case err != nil:
	case t.GetDeletionTimestamp() != nil:
		if o.ResourceExists {
			_, err = e.Delete(ctx, t)
		}
	case !o.ResourceExists:
		_, err = e.Create(ctx, t)
	case !o.ResourceUpToDate:
		_, err = e.Update(ctx, t)
	}

	raw, jerr := json.Marshal(t.Status)
	t.Status = v1alpha1.TenantStatus{}

	if jerr := errors.Join(jerr, json.Unmarshal(raw, &t.Status)); jerr != nil {
		w.t.Fatal(jerr)
	}

	return o, err
}

// mustPass is a pass that has to succeed.
func (w *world) mustPass(t *v1alpha1.Tenant) managed.ExternalObservation {
	w.t.Helper()

	o, err := w.pass(t)
	if err != nil {
		w.t.Fatal(err)
	}

	return o
}

// arrive brings a new Tenant to Ready, as a cluster and a vCluster would let it,
// and clears the journal.
func (w *world) arrive(t *v1alpha1.Tenant) {
	w.t.Helper()

	w.mustPass(t)
	w.bringUp(t)
	w.mustPass(t)

	if t.Status.Phase != v1alpha1.PhaseReady {
		w.t.Fatalf("Tenant did not become Ready: %s: %s", t.Status.Phase, t.Status.Message)
	}

	w.journal.clear()
}

// bringUp is what the host and vCluster do after an install.
func (w *world) bringUp(t *v1alpha1.Tenant) {
	w.t.Helper()

	n := namesOf(t)
	for _, o := range []client.Object{controlPlane(n).Ready().Obj(), service(n), exported(n, kubeconfig("admin"))} {
		w.add(o)
	}

	w.journal.clear()
}

// add an object behind the back of the code.
func (w *world) add(o client.Object) {
	w.t.Helper()

	c := w.host
	if livesBesideTenants(o) {
		c = w.kube
	}

	if err := c.Create(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}
}

// change an object on the host behind the back of the code.
func change[T client.Object](w *world, c client.Client, namespace, name string, fn func(T)) {
	w.t.Helper()

	o := newOf[T]()
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		w.t.Fatal(err)
	}

	fn(o)

	if err := c.Update(context.Background(), o); err != nil {
		w.t.Fatal(err)
	}

	w.journal.clear()
}

// has says whether an object exists.
func has[T client.Object](w *world, c client.Client, namespace, name string) bool {
	w.t.Helper()

	err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, newOf[T]())
	if client.IgnoreNotFound(err) != nil {
		w.t.Fatal(err)
	}

	return err == nil
}

// read an object that must exist.
func read[T client.Object](w *world, c client.Client, namespace, name string) T {
	w.t.Helper()

	o := newOf[T]()
	if err := c.Get(context.Background(), client.ObjectKey{Namespace: namespace, Name: name}, o); err != nil {
		w.t.Fatal(err)
	}

	return o
}

// remove an object behind the back of the code.
func (w *world) remove(c client.Client, o client.Object) {
	w.t.Helper()

	uid := o.GetUID()
	if err := c.Delete(context.Background(), o, client.Preconditions{UID: &uid}); err != nil {
		w.t.Fatal(err)
	}

	w.journal.clear()
}

func newOf[T client.Object]() T {
	return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T)
}

func kindOf(o runtime.Object) string {
	gvk, _, err := testScheme().ObjectKinds(o)
	if err != nil {
		return fmt.Sprintf("%T", o)
	}

	return gvk[0].Kind
}

// testMapper knows the kinds that the tests leave in a namespace.
func testMapper() meta.RESTMapper {
	m := meta.NewDefaultRESTMapper([]schema.GroupVersion{corev1.SchemeGroupVersion, appsv1.SchemeGroupVersion})
	m.Add(corev1.SchemeGroupVersion.WithKind("PersistentVolumeClaim"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Pod"), meta.RESTScopeNamespace)
	m.Add(corev1.SchemeGroupVersion.WithKind("Service"), meta.RESTScopeNamespace)
	m.Add(appsv1.SchemeGroupVersion.WithKind("StatefulSet"), meta.RESTScopeNamespace)
	m.Add(appsv1.SchemeGroupVersion.WithKind("Deployment"), meta.RESTScopeNamespace)

	return m
}
