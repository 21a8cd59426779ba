// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

const image = "registry.example.org/app-advisor:v1"

// TestLife follows an AdvisorAgent from its first pass to Ready, and holds that it
// is then left alone.
func TestLife(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)

	a := w.Reconcile("a")
	w.Expect(a, xpv2.ReasonCreating, "") // The runtime's own words stand for one pass.

	want := []string{
		"create Namespace app-advisor", "apply Namespace app-advisor", "apply ServiceAccount app-advisor app-advisor-srv",
		"apply ClusterRole app-advisor-srv", "apply ClusterRoleBinding app-advisor-srv", "apply Service app-advisor app-advisor-srv",
		"apply Deployment app-advisor app-advisor-srv",
	}
	if diff := cmp.Diff(want, w.VCluster.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	a = w.Reconcile("a")
	w.Expect(a, xpv2.ReasonCreating, fmt.Sprintf("Deployment %q with image %q is not available: 0 of 1 pods are ready, which must answer GET /healthz on port 8080", advisor.Name, image))

	w.bringUp()

	a = w.Reconcile("a")
	w.Expect(a, xpv2.ReasonAvailable, messageReady)

	if a.Status.GetObservedGeneration() != 1 || a.Status.Image != image || a.Status.ReadyReplicas != 1 || a.Status.Endpoint != "http://app-advisor-srv.app-advisor.svc:80" || !insidetest.Synced(a) {
		t.Errorf("status: %+v", a.Status)
	}

	if meta.GetExternalName(a) != "a" || meta.ExternalCreateIncomplete(a) {
		t.Errorf("annotations: %v", a.GetAnnotations())
	}

	for range 20 {
		again := w.Reconcile("a")
		if diff := cmp.Diff(a.Status, again.Status); diff != "" {
			t.Fatalf("the status moves: %s", diff)
		}
	}

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("what is Ready was written: %v", got)
	}
}

// TestFollows holds that the Deployment is watched as long as it is waited for.
func TestFollows(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.Reconcile("a")
	w.VCluster.AwaitWatches(1)
	w.Reconcile("a")
	w.VCluster.AwaitWatches(1)

	w.arrive()
	w.VCluster.AwaitWatches(0)

	d := theDeployment()
	w.Must(w.VCluster.Get(t.Context(), client.ObjectKeyFromObject(d), d))

	d.Status.AvailableReplicas, d.Status.ReadyReplicas = 0, 0
	w.Must(w.VCluster.Status().Update(t.Context(), d))
	w.Expect(w.Reconcile("a"), xpv2.ReasonCreating, "0 of 1 pods are ready")
	w.VCluster.AwaitWatches(1)

	w.Remove("a")
	w.Reconcile("a")
	w.VCluster.AwaitWatches(0)
}

func TestRepairs(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		harm   func(*world)
		want   []string
	}{
		"Changed": {"a change by hand", func(w *world) {
			insidetest.Change(w.T, w.VCluster, theDeployment(), func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "evil" })
		}, []string{"apply Deployment app-advisor app-advisor-srv"}},
		"Labels": {"a label", func(w *world) {
			insidetest.Change(w.T, w.VCluster, namespace(), func(ns *corev1.Namespace) { delete(ns.Labels, v1alpha1.LabelManagedBy) })
		}, []string{"apply Namespace app-advisor"}},
		"OwnerLabel": {"the label that says whose it is", func(w *world) {
			insidetest.Change(w.T, w.VCluster, namespace(), func(ns *corev1.Namespace) { delete(ns.Labels, inside.LabelOwnerUID) })
		}, []string{"apply Namespace app-advisor"}},
		"Deleted": {"a deletion by hand", func(w *world) {
			d := theDeployment()
			w.Must(w.VCluster.Get(w.T.Context(), client.ObjectKeyFromObject(d), d))
			w.Must(w.VCluster.Delete(w.T.Context(), d, client.Preconditions{UID: ptr.To(d.GetUID())}))
			w.VCluster.Writes()
		}, []string{"apply Deployment app-advisor app-advisor-srv"}},
		"Replaced": {"one made by hand in its place", func(w *world) {
			insidetest.Change(w.T, w.VCluster, theDeployment(), func(d *appsv1.Deployment) { d.Labels = nil })
		}, []string{"apply Deployment app-advisor app-advisor-srv"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
			w.arrive()
			tc.harm(w)
			w.Reconcile("a")

			if diff := cmp.Diff(tc.want, w.VCluster.Writes()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			w.bringUp()
			w.Expect(w.Reconcile("a"), xpv2.ReasonAvailable, messageReady)

			if got := w.VCluster.Writes(); len(got) > 0 {
				t.Errorf("%s: repaired twice: %v", tc.reason, got)
			}
		})
	}
}

// TestNamespaceDeletedByHand holds that nothing is done until it is gone.
func TestNamespaceDeletedByHand(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.arrive()

	ns := namespace()
	w.Must(w.VCluster.Get(t.Context(), client.ObjectKeyFromObject(ns), ns))
	w.Must(w.VCluster.Delete(t.Context(), ns, client.Preconditions{UID: ptr.To(ns.GetUID())}))
	w.VCluster.Writes()

	w.Expect(w.Reconcile("a"), xpv2.ReasonCreating, `someone deleted Namespace "app-advisor" inside the vCluster; it is made anew once it is gone`)

	if got := w.VCluster.Writes(); len(got) > 0 {
		t.Errorf("wrote %v", got)
	}

	w.VCluster.EndNamespace(advisor.Namespace)
	w.arrive()
}

// TestWaits holds that what waits for its Tenant says so, quietly, and goes on by itself.
func TestWaits(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Agent("a"))

	a := w.Reconcile("a")
	w.Expect(a, xpv2.ReasonUnavailable, `there is no such Tenant: Tenant "alice-default" in namespace "kubeopera-system"; create it, or delete this AdvisorAgent`)

	if !insidetest.Synced(a) {
		t.Error("to wait is no error")
	}

	tn := insidetest.Tenant()
	tn.Status.KubeconfigSecret = ""
	w.Must(w.Kube.Create(t.Context(), tn))
	w.Expect(w.Reconcile("a"), xpv2.ReasonCreating, "waiting for the Tenant: there is no kubeconfig yet")

	w.Must(w.Kube.Create(t.Context(), insidetest.Secret(tn, insidetest.Kubeconfig())))
	w.arrive()

	tn.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: corev1.ConditionFalse})
	w.Must(w.Kube.Status().Update(t.Context(), tn))

	a = w.Reconcile("a")
	w.Expect(a, xpv2.ReasonAvailable, "App Advisor ready when it was last seen, and cannot be looked at now: the tenant's API cannot be reached")
}

func TestImage(t *testing.T) {
	t.Parallel()

	none := insidetest.Agent("a")
	none.Spec.Image = ""

	w := newWorld(t, insidetest.Ready(none)...)
	a := w.Reconcile("a")
	w.Expect(a, xpv2.ReasonUnavailable, "no image is set: set spec.image, or the provider's --advisor-image (ADVISOR_IMAGE)")

	if insidetest.Synced(a) || len(w.VCluster.Writes()) > 0 {
		t.Error("something was done without an image")
	}

	w.image = "registry.example.org/default:v2"
	if a = w.arrive(); a.Status.Image != w.image {
		t.Errorf("it runs %q", a.Status.Image)
	}

	insidetest.Change(w.T, w.Kube, a, func(a *v1alpha1.AdvisorAgent) { a.Spec.Image = "registry.example.org/own:v3" })

	if a = w.Reconcile("a"); a.Status.Image != "registry.example.org/own:v3" {
		t.Errorf("it runs %q", a.Status.Image)
	}
}

func TestScaledToZero(t *testing.T) {
	t.Parallel()

	none := insidetest.Agent("a")
	none.Spec.Replicas = ptr.To[int32](0)

	w := newWorld(t, insidetest.Ready(none)...)
	w.Reconcile("a")
	w.Expect(w.Reconcile("a"), xpv2.ReasonAvailable, "App Advisor scaled to 0 replicas")
}

// TestTrouble holds that what the vCluster tells of the pods is told on.
func TestTrouble(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.Reconcile("a")
	w.Must(w.VCluster.Create(t.Context(), &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: advisor.Namespace, Name: "p", Labels: advisor.Labels()},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{
			Name: "app-advisor", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ErrImagePull", Message: "no such image"}},
		}}},
	}))

	w.Expect(w.Reconcile("a"), xpv2.ReasonCreating, fmt.Sprintf("Deployment %q with image %q is not available: pod p, container app-advisor: ImagePullBackOff: no such image", advisor.Name, image))

	w.VCluster.Fail(insidetest.Failing("list Pod"))
	w.Expect(w.Reconcile("a"), xpv2.ReasonUnavailable, "injected failure")
}

// TestFailures holds that each failure is told, keeps nothing pending, and passes.
func TestFailures(t *testing.T) {
	t.Parallel()

	refused := kerrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, advisor.Name, nil)

	cases := map[string]struct {
		reason string
		fail   func(action string) error
		says   string
	}{
		"Read":  {"the API does not answer", insidetest.Failing("get Namespace"), `cannot read Namespace "app-advisor" inside the vCluster: injected failure`},
		"First": {"the first object cannot be made", insidetest.Failing("create Namespace"), `cannot write Namespace "app-advisor" inside the vCluster: injected failure`},
		"Last":  {"the last cannot be written", insidetest.Failing("apply Deployment"), `cannot write Deployment "app-advisor-srv" in namespace "app-advisor" inside the vCluster: injected failure`},
		"Refused": {"the last is refused", func(action string) error {
			if strings.HasPrefix(action, "apply Deployment") {
				return refused
			}

			return nil
		}, "is invalid"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
			w.VCluster.Fail(tc.fail)

			a := w.Reconcile("a")
			if !strings.Contains(a.Status.Message, tc.says) || insidetest.Synced(a) || meta.ExternalCreateIncomplete(a) {
				t.Errorf("%s: %q, annotations %v", tc.reason, a.Status.Message, a.GetAnnotations())
			}

			again := w.Reconcile("a")
			if again.Status.Message != a.Status.Message || again.GetCondition(xpv2.TypeReady).Status != corev1.ConditionFalse {
				t.Errorf("%s: then %q", tc.reason, again.Status.Message)
			}

			w.VCluster.Heal()
			w.arrive()
		})
	}
}

// TestFailuresWhileReady holds that what runs is Ready, whatever becomes of its
// change and of a look at it.
func TestFailuresWhileReady(t *testing.T) {
	t.Parallel()

	refused := kerrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, advisor.Name, nil)

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	before := w.arrive()

	w.VCluster.Fail(insidetest.Failing("dry-run Service"))

	a := w.Reconcile("a")
	w.Expect(a, xpv2.ReasonAvailable, "App Advisor ready when it was last seen, and cannot be looked at now: cannot compare Service")

	if diff := cmp.Diff(before.GetCondition(xpv2.TypeReady), a.GetCondition(xpv2.TypeReady)); diff != "" {
		t.Errorf("Ready moved: %s", diff)
	}

	w.VCluster.Fail(func(action string) error {
		if strings.Contains(action, "Deployment app-advisor") && !strings.HasPrefix(action, "get") {
			return refused
		}

		return nil
	})

	a = w.Reconcile("a")
	w.Expect(a, xpv2.ReasonAvailable, "App Advisor ready; a change failed: cannot write Deployment")

	if insidetest.Synced(a) {
		t.Error("a change that failed is not synced")
	}

	w.VCluster.Heal()
	w.Expect(w.Reconcile("a"), xpv2.ReasonAvailable, messageReady)
}

// TestLostAfterWrite holds that what cannot be looked at after a write is told.
func TestLostAfterWrite(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	written := false
	w.VCluster.Fail(func(action string) error {
		if written && strings.HasPrefix(action, "get Namespace") {
			return insidetest.ErrInjected
		}

		written = written || strings.HasPrefix(action, "apply Deployment")

		return nil
	})

	w.Reconcile("a")

	if a := w.Reconcile("a"); !strings.Contains(a.Status.Message, "injected failure") || insidetest.Synced(a) || !written {
		t.Errorf("%q", a.Status.Message)
	}

	w.VCluster.Heal()
	w.arrive()
}

// TestLostRace holds that who was too late says whose it is.
func TestLostRace(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"), insidetest.Agent("b"))...)
	w.VCluster.Fail(func(action string) error {
		if action != "create Namespace app-advisor" {
			return nil
		}

		theirs := namespace()
		theirs.SetLabels(map[string]string{inside.LabelOwnerUID: "uid-b"})

		return w.VCluster.Slip(theirs)
	})

	w.Reconcile("a")
	w.VCluster.Heal()
	w.Expect(w.Reconcile("a"), v1alpha1.ReasonConflict, `belongs to AdvisorAgent "kubeopera-system/b"`)
}

// TestHandsOff holds that what only observes, is paused or waits writes nothing.
func TestHandsOff(t *testing.T) {
	t.Parallel()

	for name, fn := range map[string]func(*v1alpha1.AdvisorAgent){
		"Observe": func(a *v1alpha1.AdvisorAgent) {
			a.SetManagementPolicies(xpv2.ManagementPolicies{xpv2.ManagementActionObserve})
		},
		"Paused": func(a *v1alpha1.AdvisorAgent) {
			meta.AddAnnotations(a, map[string]string{meta.AnnotationKeyReconciliationPaused: "true"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
			w.arrive()
			insidetest.Change(w.T, w.Kube, insidetest.Agent("a"), fn)
			insidetest.Change(w.T, w.VCluster, theDeployment(), func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](9) })
			w.Reconcile("a")

			if got := w.VCluster.Writes(); len(got) > 0 {
				t.Errorf("it wrote %v", got)
			}
		})
	}
}

// TestRebinds holds that it follows a Tenant that was deleted and made anew.
func TestRebinds(t *testing.T) {
	t.Parallel()

	w := newWorld(t, insidetest.Ready(insidetest.Agent("a"))...)
	w.arrive()

	again := insidetest.Tenant()
	again.SetUID("uid-alice-again")
	w.Must(w.Kube.Delete(t.Context(), insidetest.Tenant()))
	w.Must(w.Kube.Delete(t.Context(), insidetest.Secret(again, nil)))
	w.Must(w.Kube.Create(t.Context(), again))
	w.Must(w.Kube.Create(t.Context(), insidetest.Secret(again, insidetest.Kubeconfig())))
	w.Renew()

	if a := w.arrive(); a.Labels[v1alpha1.LabelTenantUID] != "uid-alice-again" {
		t.Errorf("it is bound to %q", a.Labels[v1alpha1.LabelTenantUID])
	}
}
