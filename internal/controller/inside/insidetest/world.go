// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package insidetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler"
	"github.com/kubeopera/provider-kubeopera/internal/controller/reconciler/reconcilertest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// ErrInjected is the failure that a test asks for.
var ErrInjected = errors.New("injected failure")

// Failing fails the actions that contain the text, see [VCluster.Fail].
func Failing(text string) func(string) error {
	return func(action string) error {
		if strings.Contains(action, text) {
			return ErrInjected
		}

		return nil
	}
}

// World is the cluster of the Tenants, a vCluster and the time, all fake, for the
// objects of one kind.
type World[O resource.Managed] struct {
	T *testing.T

	Kube     client.WithWatch
	VCluster *VCluster
	Clock    *clocktesting.FakePassiveClock
	Events   *Recorder
	Waker    *reconciler.Waker
	// Reconciler makes that of the kind, for one pass.
	Reconciler func() reconcile.Reconciler

	api   *tenantapi.API
	empty func() O
}

// NewWorld has an empty vCluster beside the cluster of the Tenants. Empty makes an empty
// object of the kind.
func NewWorld[O resource.Managed](t *testing.T, kube client.WithWatch, empty func() O) *World[O] {
	t.Helper()

	w := &World[O]{
		T: t, Kube: kube, Clock: clocktesting.NewFakePassiveClock(Epoch), Events: &Recorder{}, Waker: &reconciler.Waker{}, empty: empty,
	}
	w.Renew()

	return w
}

// Ready adds a Tenant that is Ready.
func Ready(objs ...client.Object) []client.Object {
	t := Tenant()
	return append(objs, t, Secret(t, Kubeconfig()))
}

// Renew has an empty vCluster in the place of the one before.
func (w *World[O]) Renew() {
	w.VCluster = NewVCluster(w.T)
	w.api = &tenantapi.API{Live: w.VCluster}
}

// Open makes the clients for the vCluster.
func (w *World[O]) Open(types.UID, *vcluster.Kubeconfig) (*tenantapi.API, error) { return w.api, nil }

// Manager has the cluster of the Tenants.
func (w *World[O]) Manager() *reconcilertest.Manager {
	return reconcilertest.NewManager(w.Kube, Scheme())
}

// Options of a controller that knows management policies.
func (*World[O]) Options() controller.Options {
	features := &feature.Flags{}
	features.Enable(feature.EnableBetaManagementPolicies)

	return controller.Options{Logger: logging.NewNopLogger(), Features: features, PollInterval: time.Minute}
}

// Reconcile the object of that name once, and return it as it is stored; nil when
// it is gone.
func (w *World[O]) Reconcile(name string) O {
	w.T.Helper()

	w.Poll(name)

	key := types.NamespacedName{Namespace: Namespace, Name: name}

	var none O

	o := w.empty()
	if err := w.Kube.Get(w.T.Context(), key, o); client.IgnoreNotFound(err) != nil {
		w.T.Fatal(err)
	} else if err != nil {
		return none
	}

	if c := o.GetCondition(xpv2.TypeReady); c.Message != "" && c.Message != messageOf(o) {
		w.T.Errorf("two messages: %q, and of Ready %q", messageOf(o), c.Message)
	}

	return o
}

// Poll reconciles the object of that name once, and returns when it is to be looked
// at again.
func (w *World[O]) Poll(name string) time.Duration {
	w.T.Helper()

	w.Clock.SetTime(w.Clock.Now().Add(time.Second))

	r := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: Namespace, Name: name}}
	res, err := w.Reconciler().Reconcile(w.T.Context(), r)
	w.Must(err)

	return res.RequeueAfter
}

// Policies sets those of an object.
func Policies[O resource.Managed](o O, p ...xpv2.ManagementAction) O {
	o.SetManagementPolicies(p)
	return o
}

// PollEvery asks for that poll by the annotation.
func PollEvery[O resource.Managed](o O, d string) O {
	meta.AddAnnotations(o, map[string]string{meta.AnnotationKeyPollInterval: d})
	return o
}

// Expect where an object stands.
func (w *World[O]) Expect(o O, reason xpv2.ConditionReason, says string) {
	w.T.Helper()

	if c := o.GetCondition(xpv2.TypeReady); c.Reason != reason || !strings.Contains(messageOf(o), says) {
		w.T.Errorf("it is %s: %q; want %s: %q", c.Reason, messageOf(o), reason, says)
	}
}

// Remove the object of that name.
func (w *World[O]) Remove(name string) {
	w.T.Helper()

	o := w.empty()
	o.SetNamespace(Namespace)
	o.SetName(name)
	w.Must(w.Kube.Delete(w.T.Context(), o))
}

// Must fails the test on an error.
func (w *World[O]) Must(err error) {
	w.T.Helper()

	if err != nil {
		w.T.Fatal(err)
	}
}

// Has says whether the object is inside the vCluster, and reads it.
func (w *World[O]) Has(o client.Object) bool {
	w.T.Helper()

	err := w.VCluster.Get(w.T.Context(), client.ObjectKeyFromObject(o), o)
	w.Must(client.IgnoreNotFound(err))

	return err == nil
}

// Take the object away from the vCluster, behind the back of the code.
func (w *World[O]) Take(o client.Object) {
	w.T.Helper()

	if !w.Has(o) {
		w.T.Fatalf("no %T %q", o, o.GetName())
	}

	uid := o.GetUID()
	w.Must(w.VCluster.Delete(w.T.Context(), o, client.Preconditions{UID: &uid}))
	w.VCluster.Writes()
}

// Change an object behind the back of the code.
func Change[T client.Object](t *testing.T, c client.Client, o T, fn func(T)) {
	t.Helper()

	if err := c.Get(t.Context(), client.ObjectKeyFromObject(o), o); err != nil {
		t.Fatal(err)
	}

	fn(o)

	if err := c.Update(t.Context(), o); err != nil {
		t.Fatal(err)
	}
}

// ExpectTold holds that an object says in words where it stands, and what is the matter.
func ExpectTold(t *testing.T, o resource.Managed) {
	t.Helper()

	synced := o.GetCondition(xpv2.TypeSynced)
	if synced.Reason == xpv2.ReasonReconcilePaused {
		return
	}

	says := messageOf(o)
	if synced.Status != corev1.ConditionTrue {
		says = synced.Message
	}

	if len(strings.Fields(says)) < 2 {
		t.Errorf("it says nothing: %q, Synced is %s: %q", messageOf(o), synced.Status, synced.Message)
	}
}

// Synced says whether the last pass was without an error.
func Synced(o resource.Managed) bool {
	return o.GetCondition(xpv2.TypeSynced).Status == corev1.ConditionTrue
}

func messageOf(o resource.Managed) string {
	switch o := o.(type) {
	case *v1alpha1.AdvisorAgent:
		return o.Status.Message
	case *v1alpha1.TenantQuota:
		return o.Status.Message
	default:
		return ""
	}
}
