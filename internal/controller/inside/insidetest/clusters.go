// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package insidetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// Clusters are two real API servers: the one that the controllers run beside, and
// the one inside the vCluster of the Tenant.
type Clusters struct {
	t *testing.T

	// Kube holds the Tenant, and Inside is the API of its vCluster.
	Kube, Inside client.Client

	inside *rest.Config
	// requests counts the requests for a pass.
	requests int
}

// RunClusters starts them with a Tenant that is Ready, and runs the controllers
// that setup adds until the test ends.
func RunClusters(t *testing.T, setup func(ctrl.Manager) error) *Clusters {
	t.Helper()

	host := testenv.RunControlPlane(t, "package/crds")
	c := &Clusters{t: t, inside: testenv.RunControlPlane(t)}

	var err error

	c.Kube, err = client.New(host, client.Options{Scheme: Scheme()})
	c.Must(err)
	c.Inside, err = client.New(c.inside, client.Options{Scheme: Scheme()})
	c.Must(err)
	c.Must(c.Kube.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}}))
	c.makeTenant()

	skip := true
	o := ctrl.Options{
		Scheme:  Scheme(),
		Logger:  zap.New(zap.WriteTo(t.Output())),
		Metrics: metricsserver.Options{BindAddress: "0"},
		Client:  client.Options{Cache: &client.CacheOptions{DisableFor: []client.Object{&corev1.Secret{}}}},
	}
	o.Controller.SkipNameValidation = &skip

	mgr, err := ctrl.NewManager(host, o)
	c.Must(err)
	c.Must(setup(mgr))

	reconcilertest.Start(t, mgr)

	return c
}

func (c *Clusters) makeTenant() {
	t := Tenant()
	status := t.Status
	t.SetUID("")
	c.Must(c.Kube.Create(c.t.Context(), t))

	t.Status = status
	for i := range t.Status.Conditions {
		t.Status.Conditions[i].LastTransitionTime = metav1.Now()
	}

	c.Must(c.Kube.Status().Update(c.t.Context(), t))
	c.Must(c.Kube.Create(c.t.Context(), Secret(t, KubeconfigOf(c.inside))))
}

// Tenant as it is stored.
func (c *Clusters) Tenant() *v1alpha1.Tenant {
	c.t.Helper()

	t := Tenant()
	c.Must(c.Kube.Get(c.t.Context(), client.ObjectKeyFromObject(t), t))

	return t
}

// CA is the certificate of the CA of the API inside the vCluster.
func (c *Clusters) CA() []byte { return c.inside.CAData }

// Must fails the test on an error.
func (c *Clusters) Must(err error) {
	c.t.Helper()

	if err != nil {
		c.t.Fatal(err)
	}
}

// New makes o a new object.
func New[T client.Object](o T) T {
	o.SetUID("")
	o.SetGeneration(0)
	o.SetResourceVersion("")
	o.SetLabels(nil)

	return o
}

// Await waits until the object is as it should be, and returns how long it took. A
// nil check waits until it is gone.
func (c *Clusters) Await(from client.Client, o client.Object, what string, check func() bool) time.Duration {
	c.t.Helper()

	begin := time.Now()

	err := wait.PollUntilContextTimeout(c.t.Context(), 50*time.Millisecond, patience, true, func(ctx context.Context) (bool, error) {
		err := from.Get(ctx, client.ObjectKeyFromObject(o), o)
		if check == nil {
			return err != nil && client.IgnoreNotFound(err) == nil, client.IgnoreNotFound(err)
		}

		return err == nil && check(), err
	})
	if err != nil {
		c.t.Fatalf("%s: %v; it is %+v", what, err, o)
	}

	return time.Since(begin)
}

// Pass has the controller look at the object once more, and waits until it has.
func (c *Clusters) Pass(o resource.Managed) {
	c.t.Helper()

	c.requests++
	token := fmt.Sprintf("request-%d", c.requests)

	before := o.DeepCopyObject().(client.Object) //nolint:forcetypeassert // It is a copy of one.
	c.Must(c.Kube.Get(c.t.Context(), client.ObjectKeyFromObject(o), before))

	now := before.DeepCopyObject().(client.Object) //nolint:forcetypeassert // It is a copy of one.
	meta.AddAnnotations(now, map[string]string{meta.AnnotationKeyReconcileRequestedAt: token})
	c.Must(c.Kube.Patch(c.t.Context(), now, client.MergeFrom(before)))

	handled, ok := o.(interface{ GetLastHandledReconcileAt() string })
	if !ok {
		c.t.Fatalf("%T does not tell what it has handled", o)
	}

	c.Await(c.Kube, o, "the pass was not made", func() bool { return handled.GetLastHandledReconcileAt() == token })
}

// Example reads a file of the examples into o, and has the API server check it.
func (c *Clusters) Example(file string, o client.Object) {
	c.t.Helper()

	_, here, _, _ := runtime.Caller(0)

	raw, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "..", "..", "..", "examples", file))
	c.Must(err)
	c.Must(yaml.UnmarshalStrict(raw, o))
	c.Must(c.Kube.Create(c.t.Context(), o, client.DryRunAll))
}

// EndNamespace lets a namespace inside the vCluster go that is being deleted: no
// controller runs there that would.
func (c *Clusters) EndNamespace(name string) {
	c.t.Helper()

	ns := &corev1.Namespace{}
	c.Must(c.Inside.Get(c.t.Context(), client.ObjectKey{Name: name}, ns))

	ns.Spec.Finalizers = nil
	c.Must(c.Inside.SubResource("finalize").Update(c.t.Context(), ns))
}

// Versions are the resource versions of these objects inside the vCluster.
func (c *Clusters) Versions(objs ...client.Object) map[string]string {
	c.t.Helper()

	out := map[string]string{}

	for _, o := range objs {
		c.Must(c.Inside.Get(c.t.Context(), client.ObjectKeyFromObject(o), o))
		out[kindOf(o)+" "+o.GetNamespace()+"/"+o.GetName()] = o.GetResourceVersion()
	}

	return out
}
