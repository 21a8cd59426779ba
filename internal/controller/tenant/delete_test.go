// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const (
	uninstall       = "helm uninstall vc-alice-default"
	deleteNamespace = "host delete Namespace vcluster-alice-default"
	roleName        = "vc-vc-alice-default-v-vcluster-alice-default"
)

// clusterScoped are what outlives the namespace, and look-alikes of others.
func clusterScoped(n names) (ours, theirs []client.Object) {
	meta := func(name string, l map[string]string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Labels: l, Finalizers: []string{"test/hold"}}
	}
	chart := vcluster.ControlPlaneLabels(n.release)
	synced := map[string]string{vcluster.LabelSyncedBy: vcluster.ClusterSyncOwner(n.release, n.namespace)}

	ours = []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta(roleName, chart)},
		&rbacv1.ClusterRoleBinding{ObjectMeta: meta(roleName, chart)},
		&schedulingv1.PriorityClass{ObjectMeta: meta("synced", synced)},
		&storagev1.StorageClass{ObjectMeta: meta("synced", synced)},
	}
	theirs = []client.Object{
		&rbacv1.ClusterRole{ObjectMeta: meta("vc-mn-vc-alice-default-v-vcluster-alice-default", nil)},
		&schedulingv1.PriorityClass{ObjectMeta: meta("other", map[string]string{vcluster.LabelSyncedBy: "other"})},
	}

	return ours, theirs
}

func volume(name, namespace string, p corev1.PersistentVolumeReclaimPolicy) *corev1.PersistentVolume {
	return &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: name, UID: types.UID("uid-" + name), Finalizers: []string{"kubernetes.io/pv-protection"}},
		Spec: corev1.PersistentVolumeSpec{
			PersistentVolumeReclaimPolicy: p,
			ClaimRef:                      &corev1.ObjectReference{Namespace: namespace, Name: "data-vc-alice-default-0"},
		},
	}
}

// hold an object so that it goes only when let go.
func hold[T client.Object](w *world, name string) {
	change(w, w.host, "", name, func(o T) { o.SetFinalizers([]string{"test/hold"}) })
}

func letGo[T client.Object](w *world, name string) {
	change(w, w.host, "", name, func(o T) { o.SetFinalizers(nil) })
}

// TestD6StrictOrder holds the order of a deletion, in which a step begins only when a
// read has shown that the one before is done, each by a new client, as
// after a kill.
func TestD6StrictOrder(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	ours, theirs := clusterScoped(namesOf(tn))
	for _, o := range append(append([]client.Object{}, ours...), theirs...) {
		w.add(o)
	}

	for _, v := range []*corev1.PersistentVolume{
		volume("goes", "vcluster-alice-default", corev1.PersistentVolumeReclaimDelete),
		volume("kept", "vcluster-alice-default", corev1.PersistentVolumeReclaimRetain),
		volume("others", "vcluster-bob", corev1.PersistentVolumeReclaimDelete),
	} {
		w.add(v)
	}

	w.add(&corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "unbound", UID: "uid-unbound"}})
	hold[*corev1.Namespace](w, "vcluster-alice-default")

	w.helm.stuck = true

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	steps := []struct {
		reason string
		happen func()
		writes []string
		says   string
		errs   string
	}{
		{"what is inside first", func() {}, []string{deleteQuota}, "TenantQuota alice-default", ""},
		{"then the release", func() {}, []string{uninstall}, "still there after it was uninstalled", "still there"},
		{"the namespace only when the release is gone", func() { w.helm.stuck = false }, []string{uninstall, deleteNamespace}, "release", ""},
		{"which is asked for once, and waited for", func() {}, nil, `waiting for namespace "vcluster-alice-default", which is being deleted`, ""},
		{"it is still there", func() {}, nil, "vcluster-alice-default", ""},
		{
			"then what outlives it", func() { letGo[*corev1.Namespace](w, "vcluster-alice-default") },
			[]string{"host delete ClusterRoleBinding " + roleName, "host delete ClusterRole " + roleName, "host delete PriorityClass synced", "host delete StorageClass synced"},
			"ClusterRoleBinding " + roleName + ", finalizer test/hold; ClusterRole " + roleName, "",
		},
		{"all of it", func() {
			letGo[*rbacv1.ClusterRole](w, roleName)
			letGo[*rbacv1.ClusterRoleBinding](w, roleName)
		}, nil, "PriorityClass synced, finalizer test/hold", ""},
		{"then the volumes, which go by themselves", func() {
			letGo[*schedulingv1.PriorityClass](w, "synced")
			letGo[*storagev1.StorageClass](w, "synced")
		}, nil, "PersistentVolume goes, finalizer kubernetes.io/pv-protection", ""},
		{"the Secret last", func() {
			letGo[*corev1.PersistentVolume](w, "goes")
			w.remove(w.host, read[*corev1.PersistentVolume](w, w.host, "", "goes"))
		}, []string{"kube delete Secret " + publishedName}, publishedName, ""},
	}

	for _, s := range steps {
		s.happen()
		w.journal.clear()

		o, err := w.pass(tn)
		if (err == nil) != (s.errs == "") || (err != nil && !strings.Contains(err.Error(), s.errs)) {
			t.Errorf("%s: got error %v", s.reason, err)
		}

		if !o.ResourceExists || tn.Status.Phase != v1alpha1.PhaseDeleting || !strings.Contains(tn.Status.Message, s.says) {
			t.Errorf("%s: exists %t, %s: %s", s.reason, o.ResourceExists, tn.Status.Phase, tn.Status.Message)
		}

		if diff := cmp.Diff(s.writes, w.journal.take()); diff != "" {
			t.Errorf("%s: -want, +got:\n%s", s.reason, diff)
		}
	}

	if o := w.mustPass(tn); o.ResourceExists || tn.Status.Message != "nothing is left" {
		t.Errorf("when all is gone: exists %t: %s", o.ResourceExists, tn.Status.Message)
	}

	for _, name := range []string{"kept", "others", "unbound"} {
		if !has[*corev1.PersistentVolume](w, w.host, "", name) {
			t.Errorf("volume %s is gone", name)
		}
	}

	for _, o := range theirs {
		if !has[*rbacv1.ClusterRole](w, w.host, "", o.GetName()) && !has[*schedulingv1.PriorityClass](w, w.host, "", o.GetName()) {
			t.Errorf("%s of others is gone", o.GetName())
		}
	}
}

// TestDeletionConverges ends the process at each write of a deletion in turn,
// before it and after it: others go on from there.
func TestDeletionConverges(t *testing.T) {
	t.Parallel()

	// The two uninstalls are more, which can only be killed after them here.
	const deletions = 8

	for name, most := range map[string]int{"Before": deletions, "After": deletions + 2} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for nth := 1; nth <= most; nth++ {
				w, tn := newWorld(t), alice().WithFlux("").Advisor("advisor:v1").Obj()
				w.arrive(tn)

				ours, _ := clusterScoped(namesOf(tn))
				for _, o := range ours {
					o.SetFinalizers(nil)
					w.add(o)
				}

				tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

				count := 0
				kill := func(string) error {
					if count++; count == nth {
						return errInjected
					}

					return nil
				}

				if name == "Before" {
					w.refuseWrites = kill
				} else {
					w.die = kill
				}

				kills, exists := 0, true

				for pass := 0; exists && pass < 12; pass++ {
					o, err := w.pass(tn)
					if errors.Is(err, errInjected) {
						kills++
					} else if err != nil {
						t.Fatal(err)
					}

					exists = err != nil || o.ResourceExists
				}

				if exists || kills != 1 {
					t.Errorf("write %d: killed %d times, still there: %t: %s", nth, kills, exists, tn.Status.Message)
				}

				if w.helm.release != nil || w.flux.release != nil || has[*v1alpha1.AdvisorAgent](w, w.kube, tenantNamespace, tn.GetName()) ||
					has[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, tn.GetName()) || has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") ||
					has[*rbacv1.ClusterRole](w, w.host, "", roleName) || has[*rbacv1.ClusterRoleBinding](w, w.host, "", roleName) ||
					has[*schedulingv1.PriorityClass](w, w.host, "", "synced") ||
					has[*storagev1.StorageClass](w, w.host, "", "synced") || has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) {
					t.Errorf("write %d: something is left", nth)
				}
			}
		})
	}
}

// TestEachRemainCounts holds that a Tenant exists as long as any one thing of it
// is left, and that the Secret goes only when it is the last. A release is proven
// to be gone in the same step.
func TestEachRemainCounts(t *testing.T) {
	t.Parallel()

	if !(remains{}).none() {
		t.Error("nothing counts as something")
	}

	at := metav1.NewTime(epoch)
	role := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: "r", DeletionTimestamp: &at}}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: "s", UID: "uid-s"}}

	for name, r := range map[string]remains{
		"Release":       {release: releaseOf(alice().Obj()).Obj()},
		"Namespace":     {namespace: namespaceOf(alice().Obj()).Going(epoch).Obj()},
		"ClusterScoped": {clusterScoped: []client.Object{role}},
		"Volumes":       {volumes: []corev1.PersistentVolume{*volume("v", "x", corev1.PersistentVolumeReclaimDelete)}},
		"Secret":        {secret: secret},
	} {
		if r.none() {
			t.Errorf("%s counts as nothing", name)
		}

		r.secret = secret
		w := newWorld(t, secret.DeepCopy())

		if err := w.external(alice().Obj()).removeNext(t.Context(), alice().Obj(), r); err != nil {
			t.Fatal(err)
		}

		if gone := !has[*corev1.Secret](w, w.kube, tenantNamespace, "s"); gone != (name == "Secret" || name == "Release") {
			t.Errorf("with %s left the Secret is gone: %t", name, gone)
		}
	}
}

// TestDeletionOfWhatWasReplaced holds that an object that took the place of the
// one that was seen is not deleted.
func TestDeletionOfWhatWasReplaced(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.helm.release = nil

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	e := w.external(tn)
	if _, err := e.Observe(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	w.remove(w.host, read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"))
	w.add(bareNamespace("vcluster-alice-default").Obj())

	if _, err := e.Delete(t.Context(), tn); !kerrors.IsConflict(err) || !has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") {
		t.Errorf("a namespace that was not looked at was asked to go: %v", err)
	}

	if !strings.Contains(tn.Status.Message, "cannot delete") || tn.Status.Phase != v1alpha1.PhaseDeleting {
		t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
	}
}

// TestDeletionOfNothing holds that a Tenant that never made anything goes at once.
func TestDeletionOfNothing(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Deleted(epoch).Obj()
	w.failures.add(tn, partHost, v1alpha1.TypeReleaseDeployed, errInjected, epoch)

	if o := w.mustPass(tn); o.ResourceExists || len(w.journal.take()) > 0 {
		t.Errorf("exists %t: %s", o.ResourceExists, tn.Status.Message)
	}

	if len(w.failures.by) > 0 {
		t.Error("its failure is remembered for ever")
	}
}

// TestUninstallFails holds that the namespace is not asked to go before the
// release is gone.
func TestUninstallFails(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.remove(w.kube, read[*v1alpha1.TenantQuota](w, w.kube, tenantNamespace, tn.GetName()))
	w.helm.uninstallErr = errInjected

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	o, err := w.pass(tn)
	if !errors.Is(err, errInjected) || !o.ResourceExists || !strings.Contains(tn.Status.Message, "cannot uninstall release") {
		t.Errorf("%v: %s", err, tn.Status.Message)
	}

	if diff := cmp.Diff([]string{uninstall}, w.journal.take()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	// The proof of absence is a read, and one that fails is none.
	w.helm.uninstallErr = nil
	e := w.external(tn)

	if _, err := e.Observe(t.Context(), tn); err != nil {
		t.Fatal(err)
	}

	w.reads.fail(1)

	if _, err := e.Delete(t.Context(), tn); !errors.Is(err, errInjected) || !has[*corev1.Namespace](w, w.host, "", "vcluster-alice-default") {
		t.Errorf("went on without a proof: %v", err)
	}
}

// TestStalled holds that a deletion that takes long is said to be stalled after
// exactly 15 minutes, with one event.
func TestStalled(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.helm.release = nil
	hold[*corev1.Namespace](w, "vcluster-alice-default")

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	for _, s := range []struct {
		at      time.Duration
		stalled bool
		events  int
	}{
		{0, false, 0}, {15*time.Minute - time.Second, false, 0}, {15 * time.Minute, true, 1}, {16 * time.Minute, true, 1}, {time.Hour, true, 1},
	} {
		w.clock.SetTime(epoch.Add(s.at))

		if o := w.mustPass(tn); !o.ResourceExists {
			t.Fatalf("at %s a timer released the Tenant", s.at)
		}

		c := tn.GetCondition(v1alpha1.TypeStalled)
		if (c.Status == corev1.ConditionTrue) != s.stalled || w.events.count(reasonStalled) != s.events {
			t.Errorf("at %s: stalled %s, events %v", s.at, c.Status, w.events.events)
		}

		if s.stalled && (c.Reason != v1alpha1.ReasonBlocked || !strings.Contains(c.Message, "vcluster-alice-default")) {
			t.Errorf("at %s: %s: %s", s.at, c.Reason, c.Message)
		}
	}

	if e := w.events.of(reasonStalled); e.Type != event.TypeWarning || !strings.Contains(e.Message, "15m") {
		t.Errorf("event %+v", e)
	}

	for _, ct := range stageTypes {
		if c := tn.GetCondition(ct); c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.ReasonRemoving {
			t.Errorf("condition %s is %s, %s", ct, c.Status, c.Reason)
		}
	}
}

// TestStalledOnce holds that an error in the pass that first sees the delay makes
// no second event.
func TestStalledOnce(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.helm.uninstallErr = errInjected
	w.clock.SetTime(epoch.Add(time.Hour))

	tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

	for range 3 {
		if _, err := w.pass(tn); !errors.Is(err, errInjected) {
			t.Fatal(err)
		}
	}

	if got := w.events.count(reasonStalled); got != 1 {
		t.Errorf("%d events, want one: %v", got, w.events.reasons())
	}

	if c := tn.GetCondition(v1alpha1.TypeStalled); !strings.Contains(c.Message, errInjected.Error()) {
		t.Errorf("the condition does not say why: %s", c.Message)
	}
}

func TestNamed(t *testing.T) {
	t.Parallel()

	at := metav1.NewTime(epoch)

	cases := map[string]struct {
		meta metav1.ObjectMeta
		want string
	}{
		"Plain":      {metav1.ObjectMeta{Name: "a"}, "Pod a"},
		"Going":      {metav1.ObjectMeta{Name: "a", DeletionTimestamp: &at}, "Pod a, which is being deleted"},
		"Finalizer":  {metav1.ObjectMeta{Name: "a", DeletionTimestamp: &at, Finalizers: []string{"x/y"}}, "Pod a, finalizer x/y"},
		"Finalizers": {metav1.ObjectMeta{Name: "a", Finalizers: []string{"x/y", "z"}}, "Pod a, finalizers x/y, z"},
	}
	for name, tc := range cases {
		if got := named("Pod", &corev1.Pod{ObjectMeta: tc.meta}); got != tc.want {
			t.Errorf("%s: want %q, got %q", name, tc.want, got)
		}
	}
}
