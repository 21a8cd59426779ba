// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// wholeManifest is that of a release whose control plane is of that kind.
func wholeManifest(kind string) string {
	return fmt.Sprintf(`
apiVersion: v1
kind: ServiceAccount
metadata: {name: vc-vc-alice-default}
---
apiVersion: apps/v1
kind: %s
metadata: {name: vc-alice-default, labels: {app: vcluster}}
spec: {replicas: 1}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vc-alice-default-etcd, labels: {app: vcluster-etcd}}
spec: {replicas: 3}
---
apiVersion: v1
kind: Service
metadata: {name: vc-alice-default, namespace: vcluster-alice-default, labels: {app: vcluster}}
---
apiVersion: v1
kind: Service
metadata: {name: vc-alice-default-headless, namespace: vcluster-alice-default, labels: {app: vcluster}}
---
apiVersion: v1
kind: Service
metadata: {name: unlabelled}
`, kind)
}

// wholeRelease makes on the host what is missing of the objects of wholeManifest, and
// gives those their replicas back that have none, as Helm does.
func (w *world) wholeRelease(kind string) {
	n := namesOf(alice().Obj())

	bare := service(n)
	bare.SetName(n.release + "-headless")

	meta := controlPlane(n).ObjectMeta
	etcd := controlPlane(n).StatefulSet
	etcd.SetName(n.release + "-etcd")
	etcd.SetLabels(map[string]string{vcluster.LabelApp: vcluster.EtcdAppName})
	etcd.Spec.Replicas = ptr.To[int32](3)

	plain := service(n)
	plain.SetName("unlabelled")
	plain.SetLabels(nil)

	account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: "vc-" + n.release, UID: "uid-account"}}
	objs := []client.Object{account, service(n), bare, plain, etcd}

	if kind == "Deployment" {
		objs = append(objs, &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](1)}})
	} else {
		objs = append(objs, &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: ptr.To[int32](1)}})
	}

	done := w.journal.take()

	for _, o := range objs {
		if w.host.Get(w.t.Context(), client.ObjectKeyFromObject(o), o.DeepCopyObject().(client.Object)) != nil {
			w.add(o)
		}
	}

	w.journal.set(done)
	w.scale(n, n.release, 1)
	w.scale(n, n.release+"-etcd", 3)
}

// scale the StatefulSet or the Deployment of that name, which leaves the journal as it is.
func (w *world) scale(n names, name string, replicas int32) {
	done := w.journal.take()
	defer func() { w.journal.set(done) }()

	if has[*appsv1.StatefulSet](w, w.host, n.namespace, name) {
		change(w, w.host, n.namespace, name, func(s *appsv1.StatefulSet) { s.Spec.Replicas = &replicas })
	} else {
		change(w, w.host, n.namespace, name, func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas })
	}
}

// startUp has all pods of the control plane run.
func (w *world) startUp(n names) {
	if has[*appsv1.StatefulSet](w, w.host, n.namespace, n.release) {
		changeStatus(w, w.host, n.namespace, n.release, func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = 1 })
	} else {
		changeStatus(w, w.host, n.namespace, n.release, func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 1 })
	}
}

// wholeWorld has a Ready Tenant, for an hour, with a control plane of that kind.
func wholeWorld(t *testing.T, kind string) (*world, tenantBuilder) {
	t.Helper()

	w, b := newWorld(t), alice()
	n := namesOf(b.Obj())
	w.helm.manifest, w.helm.make = wholeManifest(kind), func() { w.wholeRelease(kind) }

	w.mustPass(b.Obj())
	w.startUp(n)
	w.add(exported(n, kubeconfig("admin")))
	w.mustPass(b.Obj())

	if b.Status.Phase != v1alpha1.PhaseReady {
		t.Fatalf("Tenant did not become Ready: %s: %s", b.Status.Phase, b.Status.Message)
	}

	w.clock.SetTime(epoch.Add(time.Hour))
	w.journal.clear()
	w.events.events, w.woken = nil, nil

	return w, b
}

// harm is what people do to a release, and how it is told.
type harm struct {
	drift string
	do    func(w *world, n names)
	// besides is what is done on the host before Helm works.
	besides []string
}

// harms by the object and what becomes of it.
func harms(kind string) map[string]harm {
	gone := func(o client.Object) func(*world, names) {
		return func(w *world, n names) {
			found := o.DeepCopyObject().(client.Object)
			if err := w.host.Get(w.t.Context(), client.ObjectKey{Namespace: n.namespace, Name: o.GetName()}, found); err != nil {
				w.t.Fatal(err)
			}

			w.remove(w.host, found)
		}
	}

	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

	var workload client.Object = &appsv1.StatefulSet{ObjectMeta: named("vc-alice-default")}
	if kind == "Deployment" {
		workload = &appsv1.Deployment{ObjectMeta: named("vc-alice-default")}
	}

	return map[string]harm{
		"control plane deleted":     {fmt.Sprintf("its %s %q is gone", kind, "vc-alice-default"), gone(workload), nil},
		"control plane scaled to 0": {fmt.Sprintf("its %s %q was scaled to 0", kind, "vc-alice-default"), func(w *world, n names) { w.scale(n, n.release, 0) }, nil},
		"etcd deleted":              {`its StatefulSet "vc-alice-default-etcd" is gone`, gone(&appsv1.StatefulSet{ObjectMeta: named("vc-alice-default-etcd")}), nil},
		"etcd scaled to 0":          {`its StatefulSet "vc-alice-default-etcd" was scaled to 0`, func(w *world, n names) { w.scale(n, n.release+"-etcd", 0) }, nil},
		"Service deleted":           {`its Service "vc-alice-default" is gone`, gone(&corev1.Service{ObjectMeta: named("vc-alice-default")}), []string{"host create Service vc-alice-default"}},
		"headless Service deleted":  {`its Service "vc-alice-default-headless" is gone`, gone(&corev1.Service{ObjectMeta: named("vc-alice-default-headless")}), nil},
	}
}

// TestH9Drift holds that what someone does to a live object of the release takes Ready
// away at once, and is repaired once, with one event, by the pass that it wakes. That
// the host's watch wakes it is held by TestH9OnAPIServer.
func TestH9Drift(t *testing.T) {
	t.Parallel()

	for _, kind := range []string{"StatefulSet", "Deployment"} {
		for name, harm := range harms(kind) {
			t.Run("H9: "+kind+", "+name, func(t *testing.T) {
				t.Parallel()

				w, b := wholeWorld(t, kind)
				n := namesOf(b.Obj())
				harm.do(w, n)

				look := b.Obj().DeepCopy()
				if _, err := w.external(look).Observe(t.Context(), look); err != nil {
					t.Fatal(err)
				}

				if look.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse || !strings.Contains(look.Status.Message, harm.drift) {
					t.Errorf("looked at: %s: %s", look.Status.Phase, look.Status.Message)
				}

				for range 4 {
					w.mustPass(b.Obj())
					w.clock.SetTime(w.clock.Now().Add(time.Minute))
				}

				if diff := cmp.Diff(append(harm.besides, upgrade), w.doneOnHost()); diff != "" {
					t.Errorf("done: -want, +got:\n%s", diff)
				}

				if e := w.events.of(reasonRepaired); w.events.count(reasonRepaired) != 1 || !strings.Contains(e.Message, harm.drift) {
					t.Errorf("%d events, the first %q", w.events.count(reasonRepaired), e.Message)
				}

				w.startUp(n)
				w.mustPass(b.Obj())

				if b.Status.Phase != v1alpha1.PhaseReady {
					t.Errorf("repaired, but %s: %s", b.Status.Phase, b.Status.Message)
				}
			})
		}
	}
}

// TestH9UnwatchedObject holds that what no watch tells of is looked for when the
// tenant's API does not answer.
func TestH9UnwatchedObject(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		gone func(*world)
		says string
	}{
		"ServiceAccount": {func(w *world) {
			w.remove(w.host, read[*corev1.ServiceAccount](w, w.host, "vcluster-alice-default", "vc-vc-alice-default"))
		}, `its ServiceAccount "vc-vc-alice-default" is gone`},
		"Unlabelled": {func(w *world) {
			w.remove(w.host, read[*corev1.Service](w, w.host, "vcluster-alice-default", "unlabelled"))
		}, `its Service "unlabelled" is gone`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := wholeWorld(t, "StatefulSet")
			tc.gone(w)
			w.mustPass(b.Obj())

			if got := w.events.count(reasonRepaired); got > 0 || b.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("it was looked for in a pass of a Ready Tenant: %d events, %s", got, b.Status.Phase)
			}

			changeStatus(w, w.host, "vcluster-alice-default", "vc-alice-default", func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = 0 })
			w.mustPass(b.Obj())

			if diff := cmp.Diff([]event.Reason{reasonRepaired, event.Reason(v1alpha1.PhaseProvisioning)}, w.events.reasons()); diff != "" {
				t.Errorf("events: -want, +got:\n%s", diff)
			}

			if e := w.events.of(reasonRepaired); !strings.Contains(e.Message, tc.says) {
				t.Errorf("the event says %q", e.Message)
			}
		})
	}
}

// TestH9NotAgainAtOnce holds that what someone takes away again and again is put back
// no more often than every 15 seconds, and is looked at again then.
func TestH9NotAgainAtOnce(t *testing.T) {
	t.Parallel()

	w, b := wholeWorld(t, "StatefulSet")
	n := namesOf(b.Obj())

	for range 3 {
		w.scale(n, n.release, 0)
		w.mustPass(b.Obj())
	}

	if diff := cmp.Diff([]string{upgrade}, w.doneOnHost()); diff != "" {
		t.Errorf("done at once: -want, +got:\n%s", diff)
	}

	if !slices.Contains(w.woken, settleTime) {
		t.Errorf("looked at again after %v", w.woken)
	}

	w.clock.SetTime(w.clock.Now().Add(settleTime))
	w.mustPass(b.Obj())

	if diff := cmp.Diff([]string{upgrade}, w.doneOnHost()); diff != "" {
		t.Errorf("done later: -want, +got:\n%s", diff)
	}
}

// TestH9RefusedChange holds that a vCluster is repaired as it is while the change that
// is wanted of it is refused.
func TestH9RefusedChange(t *testing.T) {
	t.Parallel()

	for name, mistake := range map[string]func(tenantBuilder){
		"volume": func(b tenantBuilder) { b.Overrides(biggerVolume) },
		"chart":  func(b tenantBuilder) { b.Chart("0.36.9") },
		"values": func(b tenantBuilder) { b.Overrides(`[]`) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := wholeWorld(t, "StatefulSet")
			n := namesOf(b.Obj())
			running := *w.helm.release

			mistake(b)
			b.SetGeneration(2)
			w.scale(n, n.release, 0)

			if _, err := w.pass(b.Obj()); err == nil {
				t.Fatal("the change was not refused")
			}

			if diff := cmp.Diff([]string{upgrade}, w.doneOnHost()); diff != "" || w.events.count(reasonRepaired) != 1 {
				t.Errorf("%d events, done: -want, +got:\n%s", w.events.count(reasonRepaired), diff)
			}

			if r := w.helm.release; r.ChartVersion != running.ChartVersion || !helm.ValuesEqual(r.Values, running.Values) {
				t.Errorf("repaired with chart %s and values %v", r.ChartVersion, r.Values)
			}
		})
	}
}

// TestNoRepairWithoutUpdate holds that a refused change is no way around policies that
// leave out Update, whatever else is to be made.
func TestNoRepairWithoutUpdate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		change func(b tenantBuilder)
		made   string
	}{
		"Refused": {func(b tenantBuilder) { b.Overrides(biggerVolume) }, "host create ResourceQuota " + wallName},
		"Invalid": {func(b tenantBuilder) { b.Chart("0.19.0") }, "host create NetworkPolicy " + isolation.TenantPolicy},
	}
	for name, tc := range cases {
		w, b := wholeWorld(t, "StatefulSet")
		n := namesOf(b.Obj())

		w.remove(w.host, read[*corev1.ResourceQuota](w, w.host, n.namespace, wallName))
		w.remove(w.host, read[*networkingv1.NetworkPolicy](w, w.host, n.namespace, isolation.TenantPolicy))
		b.Policies(createOnly...)
		tc.change(b)
		w.scale(n, n.release, 0)
		_, _ = w.pass(b.Obj())

		if got := w.doneOnHost(); slices.Contains(got, upgrade) || !slices.Contains(got, tc.made) {
			t.Errorf("%s: did %v", name, got)
		}
	}
}

// TestScaledToNothing holds that it is drift only where the release asks for pods.
func TestScaledToNothing(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		spec   string
		have   *int32
		want   bool
	}{
		"Zero":    {"someone scaled it", "{replicas: 2}", ptr.To[int32](0), true},
		"Fewer":   {"some of them still serve", "{replicas: 2}", ptr.To[int32](1), false},
		"Default": {"the API server's default is one", "{replicas: 2}", nil, false},
		"Wanted":  {"the values ask for none", "{replicas: 0}", ptr.To[int32](0), false},
		"Open":    {"the values leave it to others", "{}", ptr.To[int32](0), false},
		"Null":    {"as with null", "{replicas: null}", ptr.To[int32](0), false},
	}
	for name, tc := range cases {
		objs, err := helm.ManifestObjects(&helm.Release{Manifest: "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: x}\nspec: " + tc.spec})
		if err != nil {
			t.Fatal(err)
		}

		for _, have := range []client.Object{
			&appsv1.StatefulSet{Spec: appsv1.StatefulSetSpec{Replicas: tc.have}},
			&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: tc.have}},
		} {
			if got := scaledToNothing(objs[0], have); got != tc.want {
				t.Errorf("%s: %s: %T: got %t", name, tc.reason, have, got)
			}
		}
	}

}

// TestH8NoReadyReplicas holds that a deployed release without a ready pod is not Ready,
// and that the pass only looks.
func TestH8NoReadyReplicas(t *testing.T) {
	t.Parallel()

	for _, kind := range []string{"StatefulSet", "Deployment"} {
		t.Run("H8: "+kind+" with 0 ready replicas", func(t *testing.T) {
			t.Parallel()

			w, b := wholeWorld(t, kind)
			n := namesOf(b.Obj())
			if kind == "Deployment" {
				changeStatus(w, w.host, n.namespace, n.release, func(d *appsv1.Deployment) { d.Status.ReadyReplicas = 0 })
			} else {
				changeStatus(w, w.host, n.namespace, n.release, func(s *appsv1.StatefulSet) { s.Status.ReadyReplicas = 0 })
			}

			o := w.mustPass(b.Obj())

			if c := b.GetCondition(xpv2.TypeReady); c.Status != corev1.ConditionFalse || b.Status.Phase != v1alpha1.PhaseProvisioning || w.helm.release.Status != helm.StatusDeployed {
				t.Errorf("Ready is %s, %s: %s; the release is %s", c.Status, b.Status.Phase, b.Status.Message, w.helm.release.Status)
			}

			if done := w.journal.take(); len(done) > 0 || !o.ResourceUpToDate {
				t.Errorf("done: %v", done)
			}
		})
	}
}
