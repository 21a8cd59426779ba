// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const stampNamespace = "host update Namespace vcluster-alice-default"

// Adopts asks for the adoption of the namespace of that name.
func (b tenantBuilder) Adopts(namespace string) tenantBuilder {
	meta.AddAnnotations(b, map[string]string{v1alpha1.AnnotationAdopt: namespace})
	return b
}

func (b tenantBuilder) Policies(p ...xpv2.ManagementAction) tenantBuilder {
	b.Spec.ManagementPolicies = p
	return b
}

// AdoptedAt says when a Tenant adopted it.
func (b namespaceBuilder) AdoptedAt(at time.Time) namespaceBuilder {
	meta.AddAnnotations(b, map[string]string{v1alpha1.AnnotationAdoptedAt: at.Format(time.RFC3339)})
	return b
}

// byHand is alice's release as somebody installed it by hand, with these values.
func byHand(values map[string]any) *helm.Release {
	return &helm.Release{
		Name: "vc-alice-default", Namespace: "vcluster-alice-default", Revision: 1, Status: helm.StatusDeployed, Updated: epoch,
		ChartName: "vcluster", ChartVersion: "0.36.1", Values: values, Manifest: manifest,
	}
}

// runsByHand is a world with a vCluster that nobody of ours has made.
func runsByHand(t *testing.T, objs ...client.Object) *world {
	t.Helper()

	n := namesOf(alice().Obj())
	w := newWorld(t, append([]client.Object{
		bareNamespace(n.namespace).Obj(), controlPlane(n).Ready().Obj(), service(n), exported(n, kubeconfig("admin")),
	}, objs...)...)
	w.helm.release = byHand(map[string]any{})

	return w
}

// podUsing is a pod in alice's namespace with such limits.
func podUsing(name, cpu string, labels map[string]string) *corev1.Pod {
	limits := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(cpu)}

	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "vcluster-alice-default", Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Resources: corev1.ResourceRequirements{Limits: limits}}}},
	}
}

// TestAdoption holds that a vCluster is adopted as it is: first the namespace alone,
// then whatever it lacks, and only what differs.
func TestAdoption(t *testing.T) {
	t.Parallel()

	const limits, hard, api, all = "host create LimitRange kubeopera-tenant", "host create ResourceQuota kubeopera-tenant",
		"host create NetworkPolicy kubeopera-control-plane", "host create NetworkPolicy kubeopera-tenant"

	own := releaseOf(alice().Obj()).Obj()
	gone := namespaceOf(alice().UID("uid-gone").Obj())

	cases := map[string]struct {
		reason string
		change func(*world)
		want   []string
	}{
		"ByHand": {"somebody installed it", func(*world) {}, []string{limits, hard, api, all, upgrade, createQuota}},
		"Equal": {"with the very values that are wanted, Helm does nothing", func(w *world) {
			w.helm.release = own
		}, []string{limits, hard, api, all, createQuota}},
		"Restored": {"its Tenant is gone, and its backup has another UID", func(w *world) {
			w.remove(w.host, bareNamespace(gone.Name).Obj())
			w.add(gone.DeepCopy())
			w.helm.release = own
		}, []string{limits, hard, api, all, createQuota}},
		"AdoptedBefore": {"a younger Tenant than the last who adopted it may do so again", func(w *world) {
			w.remove(w.host, bareNamespace(gone.Name).Obj())
			w.add(namespaceOf(alice().UID("uid-gone").Obj()).AdoptedAt(epoch.Add(-time.Hour)).Obj())
			w.helm.release = own
		}, []string{limits, hard, api, all, createQuota}},
		"Crowded": {"what runs there fits into the quota", func(w *world) {
			w.add(podUsing("mine", "4", nil))
			w.add(podUsing("control", "100", vcluster.ControlPlaneLabels("vc-alice-default")))
		}, []string{limits, hard, api, all, upgrade, createQuota}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := runsByHand(t), alice().Adopts("vcluster-alice-default").Obj()
			tc.change(w)
			w.journal.clear()

			o := w.mustPass(tn)
			if diff := cmp.Diff([]string{stampNamespace}, w.journal.take()); diff != "" || !o.ResourceExists {
				t.Errorf("%s: first the namespace: exists: %t, -want, +got:\n%s", tc.reason, o.ResourceExists, diff)
			}

			ns := read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default")
			if !owns(tn, ns) || !(&external{defaults: w.defaults}).stamped(tn, ns) || ns.Annotations[v1alpha1.AnnotationAdoptedAt] != epoch.Format(time.RFC3339) {
				t.Errorf("%s: labels %v, annotations %v", tc.reason, ns.Labels, ns.Annotations)
			}

			if !w.events.has(reasonAdopted) || tn.Status.Phase != v1alpha1.PhaseProvisioning {
				t.Errorf("%s: events %v, %s: %s", tc.reason, w.events.reasons(), tn.Status.Phase, tn.Status.Message)
			}

			w.mustPass(tn)

			got := without(without(w.journal.take(), "host create Namespace vcluster-alice-default"), "kube create Secret "+publishedName)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: then the rest: -want, +got:\n%s", tc.reason, diff)
			}

			w.mustPass(tn)

			if tn.Status.Phase != v1alpha1.PhaseReady || w.events.count(reasonAdopted) != 1 || !has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) {
				t.Errorf("%s: %s: %s, events %v", tc.reason, tn.Status.Phase, tn.Status.Message, w.events.reasons())
			}
		})
	}
}

// TestAdoptionRefused holds what is never adopted, and that nothing of it is touched.
func TestAdoptionRefused(t *testing.T) {
	t.Parallel()

	const asked = "vcluster-alice-default"

	full := func(b tenantBuilder) tenantBuilder { return b.Adopts(asked) }
	first := alice().Named("first").UID("uid-first").ID("first-id").Obj()
	stamped := func(w *world, ns *corev1.Namespace) {
		w.remove(w.host, bareNamespace(asked).Obj())
		w.add(ns)
	}

	cases := map[string]struct {
		reason string
		tenant func(tenantBuilder) tenantBuilder
		change func(*world)
		is     error
		says   []string
	}{
		"Unasked": {
			"the refusal names the remedy", func(b tenantBuilder) tenantBuilder { return b }, func(*world) {},
			errConflict, []string{"not made by this provider", "kubeopera.io/adopt", `"` + asked + `"`, "another tenantName"},
		},
		"UnaskedLeft": {
			"and so it does for what an earlier Tenant has left", func(b tenantBuilder) tenantBuilder { return b },
			func(w *world) { stamped(w, namespaceOf(first).Obj()) },
			errConflict, []string{`left from Tenant "kubeopera-system/first", which is gone`, "kubeopera.io/adopt"},
		},
		"True": {
			"any other value is a misunderstanding", func(b tenantBuilder) tenantBuilder { return b.Adopts("true") }, func(*world) {},
			errConflict, []string{`kubeopera.io/adopt of this Tenant is "true"`, `must be "` + asked + `"`},
		},
		"Empty": {
			"and so is none", func(b tenantBuilder) tenantBuilder { return b.Adopts("") }, func(*world) {},
			errConflict, []string{`is ""`, `must be "` + asked + `"`},
		},
		"Living": {
			"a Tenant that lives keeps what is its own", full, func(w *world) {
				stamped(w, namespaceOf(first).Obj())
				w.add(first.DeepCopy())
			}, errConflict, []string{`belongs to Tenant "kubeopera-system/first"`, "another tenantName"},
		},
		"LivingRenamed": {
			"also when somebody changed its name on the namespace", full, func(w *world) {
				ns := namespaceOf(first).Obj()
				ns.Annotations[v1alpha1.AnnotationTenant] = "nowhere/nobody"
				stamped(w, ns)
				w.add(first.DeepCopy())
			}, errConflict, []string{`belongs to Tenant "kubeopera-system/first"`},
		},
		"LivingUnnamed": {
			"or took it off", full, func(w *world) {
				ns := namespaceOf(first).Obj()
				ns.Annotations = nil
				stamped(w, ns)
				w.add(first.DeepCopy())
			}, errConflict, []string{`belongs to Tenant "kubeopera-system/first"`},
		},
		"OwnerUnknown": {
			"not to know whether it lives is no leave", full, func(w *world) {
				stamped(w, namespaceOf(first).Obj())
				w.reads.failOn = "get Tenant first"
			}, errInjected, []string{"cannot read Tenant"},
		},
		"TakenSince": {
			"what was taken over after the Tenant was made is not taken back", full, func(w *world) {
				stamped(w, namespaceOf(first).AdoptedAt(epoch.Add(time.Minute)).Obj())
			}, errConflict, []string{`Tenant "kubeopera-system/first" adopted it at 2026-11-29T12:01:00Z`, "create it anew"},
		},
		"NoUpdate": {
			"to adopt is to update", func(b tenantBuilder) tenantBuilder {
				return full(b).Policies(xpv2.ManagementActionObserve, xpv2.ManagementActionCreate)
			}, func(*world) {}, errConflict, []string{"spec.managementPolicies", "add Update"},
		},
		"NoRelease": {
			"there is no vCluster", full, func(w *world) { w.helm.release = nil },
			errConflict, []string{`holds no Helm release "vc-alice-default"`},
		},
		"Uninstalled": {
			"there is none any more", full, func(w *world) { w.helm.release.Status = helm.StatusUninstalled },
			errConflict, []string{"holds no Helm release"},
		},
		"OtherChart": {
			"it is something else", full, func(w *world) { w.helm.release.ChartName = "nginx" },
			errConflict, []string{`of chart "nginx"`, `"vcluster"`},
		},
		"OtherName": {
			"another release is meant", func(b tenantBuilder) tenantBuilder {
				meta.SetExternalName(b, "my-vcluster")
				return full(b)
			}, func(*world) {}, errConflict, []string{`crossplane.io/external-name is "my-vcluster"`, `"vc-alice-default"`},
		},
		"Distro": {
			"it would not survive another distro", full, func(w *world) {
				w.helm.release = byHand(map[string]any{"controlPlane": map[string]any{"distro": map[string]any{"k3s": map[string]any{"enabled": true}}}})
				w.helm.release.ChartVersion = "0.32.0"
			}, vcluster.ErrImmutableValue, []string{"controlPlane.distro", "k3s"},
		},
		"Volume": {
			"nor another size of its volume", func(b tenantBuilder) tenantBuilder { return full(b).Overrides(biggerVolume) }, func(*world) {},
			vcluster.ErrImmutableValue, []string{"persistence.volumeClaim.size", "5Gi", "10Gi"},
		},
		"Store": {
			"nor another store", full, func(w *world) {
				w.helm.release = byHand(map[string]any{"controlPlane": map[string]any{"backingStore": map[string]any{"etcd": map[string]any{"deploy": map[string]any{"enabled": true}}}}})
			}, vcluster.ErrImmutableValue, []string{"controlPlane.backingStore"},
		},
		"Older": {
			"nor an older chart, also while an upgrade is under way", func(b tenantBuilder) tenantBuilder { return full(b).Chart("0.35.0") },
			func(w *world) { w.helm.release.Status = helm.StatusPendingUpgrade },
			vcluster.ErrImmutableValue, []string{"vcluster.chartVersion", "0.36.1", "0.35.0"},
		},
		"Ancient": {
			"a chart whose values are not known", full, func(w *world) { w.helm.release.ChartVersion = "0.19.5" },
			vcluster.ErrUnsupportedChartVersion, []string{"0.19.5"},
		},
		"Invalid": {
			"a spec that is no release", func(b tenantBuilder) tenantBuilder { return full(b).Overrides(`[]`) }, func(*world) {},
			nil, []string{"vcluster.valuesOverrides"},
		},
		"NoChart": {
			"a chart that is not there", func(b tenantBuilder) tenantBuilder { return full(b).Chart("0.36.9") }, func(*world) {},
			helm.ErrChartNotFound, []string{"0.36.9"},
		},
		"Crowded": {
			"its control plane would not come back behind the wall", full, func(w *world) { w.add(podUsing("theirs", "9", nil)) },
			nil, []string{"limits.cpu", "raise quota.cpu"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := runsByHand(t), tc.tenant(alice()).Obj()
			tc.change(w)
			w.journal.clear()
			before := read[*corev1.Namespace](w, w.host, "", asked)

			for range 2 {
				_, err := w.pass(tn)
				if err == nil || (tc.is != nil && !errors.Is(err, tc.is)) {
					t.Fatalf("%s: got %v", tc.reason, err)
				}

				for _, s := range tc.says {
					if !strings.Contains(err.Error(), s) {
						t.Errorf("%s: %q does not say %q", tc.reason, err, s)
					}
				}

				if tn.Status.Phase != v1alpha1.PhaseFailed || tn.Status.Message != err.Error() || tn.GetCondition(v1alpha1.TypeBoundaryReady).Status == corev1.ConditionTrue {
					t.Errorf("%s: %s: %s", tc.reason, tn.Status.Phase, tn.Status.Message)
				}
			}

			w.reads.failOn = ""
			tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

			if o := w.mustPass(tn); o.ResourceExists {
				t.Errorf("%s: what was not adopted holds the deletion back: %s", tc.reason, tn.Status.Message)
			}

			if diff := cmp.Diff(before, read[*corev1.Namespace](w, w.host, "", asked)); diff != "" || len(w.journal.take()) > 0 {
				t.Errorf("%s: it was touched: %s", tc.reason, diff)
			}
		})
	}
}

// TestAdoptionRace holds that of two who adopt the same namespace one wins, and the
// other leaves it alone.
func TestAdoptionRace(t *testing.T) {
	t.Parallel()

	a, b := alice().Adopts("vcluster-alice-default").Obj(), alice().Named("second").UID("uid-second").ID("second-id").Adopts("vcluster-alice-default").Obj()
	w := runsByHand(t, a.DeepCopy(), b.DeepCopy())
	ea, eb := w.external(a), w.external(b)

	for _, e := range []*external{ea, eb} {
		tn := map[*external]*v1alpha1.Tenant{ea: a, eb: b}[e]
		if o, err := e.Observe(t.Context(), tn); err != nil || !o.ResourceExists || o.ResourceUpToDate {
			t.Fatalf("%s: %+v, %v", tn.GetName(), o, err)
		} else if len(o.ConnectionDetails) > 0 {
			t.Errorf("%s gets the way in before it has adopted anything", tn.GetName())
		}
	}

	if _, err := ea.Update(t.Context(), a); err != nil {
		t.Fatal(err)
	}

	if _, err := eb.Update(t.Context(), b); !errors.Is(err, errConflict) {
		t.Errorf("who comes second gets it, too: %v", err)
	}

	if _, err := w.pass(b); !errors.Is(err, errConflict) || !strings.Contains(err.Error(), `belongs to Tenant "kubeopera-system/alice-default"`) {
		t.Errorf("who comes second: %v", err)
	}

	if ns := read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"); !owns(a, ns) {
		t.Errorf("labels %v", ns.Labels)
	}
}

// TestAdoptedIsNotTakenAgain holds that a namespace that goes while it is to be
// adopted is made anew as the Tenant's own.
func TestAdoptedIsNotTakenAgain(t *testing.T) {
	t.Parallel()

	w, tn := runsByHand(t), alice().Adopts("vcluster-alice-default").Obj()
	hold[*corev1.Namespace](w, "vcluster-alice-default")
	w.remove(w.host, read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"))

	o := w.mustPass(tn)
	if !o.ResourceExists || !o.ResourceUpToDate || len(w.journal.take()) > 0 || !strings.Contains(tn.Status.Message, "someone deleted namespace") {
		t.Errorf("while it goes: %+v, %s", o, tn.Status.Message)
	}

	w.helm.release = nil
	letGo[*corev1.Namespace](w, "vcluster-alice-default")
	w.mustPass(tn)

	if ns := read[*corev1.Namespace](w, w.host, "", "vcluster-alice-default"); !owns(tn, ns) || ns.Annotations[v1alpha1.AnnotationAdoptedAt] != "" || w.events.has(reasonAdopted) {
		t.Errorf("labels %v, annotations %v", ns.Labels, ns.Annotations)
	}
}
