// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/host"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// epoch is when the tests begin.
var epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// errInjected is the failure of a read or write that a test asks for.
var errInjected = errors.New("injected failure")

// testScheme knows the kinds of both clusters.
var testScheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(s), apiextensionsv1.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic(err)
	}

	return s
})

// world is a host cluster, the cluster of the Tenants, Helm and the time, all
// fake, with a journal of what was done to them.
type world struct {
	t *testing.T

	host, kube client.WithWatch
	// connection to the host, which remembers the cluster's id.
	connection *host.Host
	helm       *fakeHelm
	clock      *clocktesting.FakePassiveClock
	events     *recorder
	failures   *failures
	stages     *stopwatch
	places     *places
	unseen     *unseen
	woken      []time.Duration
	journal    *journal
	reads      *reads
	// refuseWrites fails the writes of which it returns an error.
	refuseWrites func(action string) error
	// die ends the pass after a deletion of which it returns an error, as a kill does.
	die func(action string) error

	chart    func(ctx context.Context, version string) (*helm.Chart, error)
	probe    func(ctx context.Context, cfg *rest.Config) error
	defaults defaults

	// inner is the API inside the vCluster, flux its releases, followed and
	// dnsFollowed whether Flux and CoreDNS are waited for there.
	inner                 client.WithWatch
	flux                  *fakeHelm
	followed, dnsFollowed bool
	// idle children, and an idle Flux, do not become ready by themselves.
	idleChildren bool
	idleFlux     bool
	fluxChart    func(ctx context.Context, version string) (*helm.Chart, error)
	fluxNeeds    func() (quota.Allowance, error)
	reports      bool
	keep         keeper
}

// newWorld has the given objects, each in the cluster of its kind.
func newWorld(t *testing.T, objs ...client.Object) *world {
	t.Helper()

	w := &world{
		t:            t,
		clock:        clocktesting.NewFakePassiveClock(epoch),
		events:       &recorder{},
		failures:     newFailures(),
		stages:       newStopwatch(),
		places:       newPlaces(),
		unseen:       newUnseen(),
		journal:      &journal{},
		reads:        &reads{},
		refuseWrites: func(string) error { return nil },
		die:          func(string) error { return nil },
		chart:        oneChart,
		probe:        func(context.Context, *rest.Config) error { return nil },
		defaults: defaults{
			chartVersion: "0.36.1", fluxChartVersion: "2.18.3", environment: "test",
			HostDefaults: v1alpha1.HostDefaults{AllowedValuesOverrides: []string{vcluster.AllowAll}}, isolatedBy: `ClusterProviderConfig "default"`,
		},
		fluxChart: oneFluxChart,
		fluxNeeds: func() (quota.Allowance, error) { return quota.Allowance{}, nil },
	}
	w.inner = w.builder("inner").WithObjects(coreDNS().Ready().Obj()).Build()
	w.helm = w.newHelm("vcluster-alice-default", manifest, func() {})
	w.flux = w.newHelm(flux.Namespace, fluxManifest, func() { w.aside(w.makeFlux) })

	b := map[bool]*fake.ClientBuilder{true: w.builder("kube"), false: w.builder("host").WithObjects(hostAPI("10.89.0.1"), kubeSystem("cluster-a"))}
	for _, o := range objs {
		b[livesBesideTenants(o)].WithObjects(o)
	}

	w.kube, w.host = b[true].Build(), b[false].Build()
	w.connection = &host.Host{Live: w.host}

	// A failure that is never met proves nothing. Worlds are large, and not kept.
	reads := w.reads
	t.Cleanup(func() {
		if why := reads.unmet(); why != "" {
			t.Error(why)
		}
	})

	return w
}

func (w *world) newHelm(namespace, manifest string, makeAll func()) *fakeHelm {
	return &fakeHelm{
		journal: w.journal, reads: w.reads, clock: w.clock, die: func(a string) error { return w.die(a) },
		namespace: namespace, manifest: manifest, make: makeAll,
	}
}

// makeFlux is what a release of Flux makes of what is not there.
func (w *world) makeFlux() {
	for _, name := range []string{"kustomize-controller", "source-controller"} {
		b := fluxController(name)
		if !w.idleFlux {
			b.Ready()
		}

		if !has[*appsv1.Deployment](w, w.inner, b.GetNamespace(), name) {
			w.addInside(b.Obj())
		}
	}

	if !has[*apiextensionsv1.CustomResourceDefinition](w, w.inner, "", fluxCRD) {
		w.addInside(fluxDefinition(!w.idleFlux))
	}
}

// fluxComesUp makes what of Flux is idle ready.
func (w *world) fluxComesUp() {
	w.t.Helper()

	for _, name := range []string{"kustomize-controller", "source-controller"} {
		changeStatus(w, w.inner, flux.Namespace, name, func(d *appsv1.Deployment) { d.Status = fluxController(name).Ready().Status })
	}

	changeStatus(w, w.inner, "", fluxCRD, func(c *apiextensionsv1.CustomResourceDefinition) { c.Status = fluxDefinition(true).Status })
}

// livesBesideTenants is true for what the tests keep in the Tenants' cluster.
func livesBesideTenants(o client.Object) bool {
	switch o.(type) {
	case *v1alpha1.Tenant, *v1alpha1.AdvisorAgent, *v1alpha1.TenantQuota, *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		return true
	case *corev1.Secret:
		return o.GetNamespace() == tenantNamespace
	default:
		return false
	}
}

// decoder of the kinds that the tests know.
var decoder = sync.OnceValue(func() runtime.Decoder { return serializer.NewCodecFactory(testScheme()).UniversalDecoder() })

func (w *world) builder(cluster string) *fake.ClientBuilder {
	b := fake.NewClientBuilder().WithScheme(testScheme()).WithRESTMapper(testMapper()).
		// Nothing here looks at managed fields. To keep them takes most of the time.
		WithObjectTracker(clienttesting.NewObjectTracker(testScheme(), decoder())).
		WithStatusSubresource(&v1alpha1.Tenant{}).
		WithIndex(&v1alpha1.AdvisorAgent{}, inside.IndexTenant, tenantNamedBy).
		WithIndex(&v1alpha1.TenantQuota{}, inside.IndexTenant, tenantNamedBy).
		WithIndex(&v1alpha1.Tenant{}, IndexCloudSpaceID, cloudSpaceIDOf).
		WithIndex(&v1alpha1.Tenant{}, indexConfig, configOf).
		WithIndex(&corev1.Namespace{}, host.IndexTenantID, host.TenantIDOf).
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

			if child, ok := o.(resource.Managed); ok && !w.idleChildren {
				child.SetConditions(xpv2.Available().WithObservedGeneration(o.GetGeneration()))
			}

			if _, child := inside.TenantOf(o); child {
				o.SetFinalizers(nil) // Who takes it off does not run here.
			}

			return c.Create(ctx, o, opts...)
		},
		Update: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.UpdateOption) error {
			if err := write("update", o); err != nil {
				return err
			}

			return c.Update(ctx, o, opts...)
		},
		SubResourceUpdate: func(ctx context.Context, c client.Client, _ string, o client.Object, opts ...client.SubResourceUpdateOption) error {
			if err := w.refuseWrites(fmt.Sprintf("%s status %s %s", cluster, kindOf(o), o.GetName())); err != nil {
				return err
			}

			return c.Status().Update(ctx, o, opts...)
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
		kube: w.kube, cached: watchedOnly{w.host}, live: w.host, clusterID: w.connection.ClusterID, helm: w.helm.client(),
		kubeLive: w.kube, open: w.open, record: w.events, clock: w.clock, failures: w.failures, stages: w.stages, unseen: w.unseen,
		wakeAfter: func(d time.Duration) { w.woken = append(w.woken, d) },
		keep:      func(managed.ExternalObservation) {},
		hold: func(_ context.Context, o resource.Object) error {
			meta.AddFinalizer(o, managed.FinalizerName)
			return nil
		},
		chart: w.chart, fluxChart: w.fluxChart,
		fluxNeeds: func(context.Context, desired) (quota.Allowance, error) { return w.fluxNeeds() },
		names:     namesOf(t), defaults: w.defaults, before: *t.Status.DeepCopy(), reports: w.reports, retry: retryRequested(t),
	}
}

// open is the way into the vCluster.
func (w *world) open(k *vcluster.Kubeconfig) (*wayIn, error) {
	return &wayIn{
		live: w.inner, flux: func() (helm.Client, error) { return w.flux.client(), nil },
		probe:    func(ctx context.Context) error { return w.probe(ctx, k.RESTConfig()) },
		follow:   func(namespace string) { w.await(namespace, true) },
		unfollow: func(namespace string) { w.await(namespace, false) },
	}, nil
}

// await notes whether the Deployments of that namespace are waited for.
func (w *world) await(namespace string, yes bool) {
	if namespace == vcluster.DNSNamespace {
		w.dnsFollowed = yes
	} else {
		w.followed = yes
	}
}

func tenantNamedBy(o client.Object) []string {
	return []string{namedTenant(context.Background(), o)[0].Name}
}

// pass does what one pass of the managed reconciler does with the external
// client, and stores the status as the API server would.
func (w *world) pass(t *v1alpha1.Tenant) (managed.ExternalObservation, error) {
	w.t.Helper()

	ctx, e := w.t.Context(), w.external(t)

	o, err := e.Observe(ctx, t)

	if err == nil && t.GetDeletionTimestamp() == nil {
		meta.AddFinalizer(t, managed.FinalizerName)
	}

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

	w.store(t, &e.before)

	if derr := e.Disconnect(ctx); derr != nil {
		w.t.Fatal(derr)
	}

	return o, err
}

// store the status as the API server does: in its form, and as another version if
// it changed.
func (w *world) store(t *v1alpha1.Tenant, before *v1alpha1.TenantStatus) {
	w.t.Helper()

	is, err := json.Marshal(t.Status)
	if err != nil {
		w.t.Fatal(err)
	}

	was, err := json.Marshal(before)
	if err != nil {
		w.t.Fatal(err)
	}

	t.Status = v1alpha1.TenantStatus{}
	if err := json.Unmarshal(is, &t.Status); err != nil {
		w.t.Fatal(err)
	}

	if !bytes.Equal(is, was) {
		t.SetResourceVersion(t.GetResourceVersion() + "+")
	}
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
// and clears the journal and the events.
func (w *world) arrive(t *v1alpha1.Tenant) {
	w.t.Helper()

	w.mustPass(t)
	w.bringUp(t)
	w.mustPass(t)

	if t.Status.Phase != v1alpha1.PhaseReady {
		w.t.Fatalf("Tenant did not become Ready: %s: %s", t.Status.Phase, t.Status.Message)
	}

	w.journal.clear()
	w.events.events = nil
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
