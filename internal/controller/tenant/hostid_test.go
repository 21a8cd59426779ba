// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/host"
)

// leadTo has the credentials lead to cluster-b, which has these objects. It
// returns the way back.
func (w *world) leadTo(objs ...client.Object) (back func()) {
	before, connection, release := w.host, w.connection, w.helm.release

	w.host = w.builder("host").WithObjects(kubeSystem("cluster-b"), hostAPI("10.89.0.9")).WithObjects(objs...).Build()
	w.connection, w.helm.release = &host.Host{Live: w.host}, nil

	return func() { w.host, w.connection, w.helm.release = before, connection, release }
}

// elsewhere is who answers in the place of a Tenant's host.
func elsewhere() map[string][]client.Object {
	stamped := namespaceOf(alice().Obj()).Obj()
	stamped.SetResourceVersion("")

	return map[string][]client.Object{
		"has nothing":                         nil,
		"has a namespace of the name":         {bareNamespace(aliceNamespace).Obj()},
		"has a copy of the Tenant's, as said": {stamped},
	}
}

// checkOtherHost holds that the error names both clusters and what to do.
func checkOtherHost(t *testing.T, when, message string) {
	t.Helper()

	for _, want := range []string{`ClusterProviderConfig "default"`, `"cluster-a"`, `"cluster-b"`, "restore the credentials"} {
		if !strings.Contains(message, want) {
			t.Errorf("%s: it does not say %q: %s", when, want, message)
		}
	}
}

// TestOtherHostIsLeftAlone holds that a Ready Tenant whose credentials lead to another
// cluster is not made anew there, and goes on where it was once they are restored.
func TestOtherHostIsLeftAlone(t *testing.T) {
	t.Parallel()

	for name, objs := range elsewhere() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)

			back := w.leadTo(objs...)

			for range 3 {
				if _, err := w.pass(tn); err == nil || tn.Status.HostClusterID != "cluster-a" || tn.Status.Phase != v1alpha1.PhaseReady {
					t.Errorf("phase %s, on %q, error %v", tn.Status.Phase, tn.Status.HostClusterID, err)
				}

				checkOtherHost(t, "Ready", tn.Status.Message)
				w.clock.SetTime(w.clock.Now().Add(time.Hour))
			}

			back()
			w.mustPass(tn)

			if got := w.journal.take(); len(got) > 0 || tn.Status.Phase != v1alpha1.PhaseReady || strings.Contains(tn.Status.Message, "cluster-b") {
				t.Errorf("did %v; %s", got, tn.Status.Message)
			}
		})
	}
}

// TestOtherHostReleasesNothing holds that a Tenant that is being deleted stays as long as
// its credentials lead to another cluster, and is taken down once they are restored; and
// that it is given up by the same annotation as one whose host is gone.
func TestOtherHostReleasesNothing(t *testing.T) {
	t.Parallel()

	for name, objs := range elsewhere() {
		for _, abandoned := range []bool{false, true} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()

				w, r := deleting(t)
				w.journal.clear()

				back := w.leadTo(objs...)
				began := w.clock.Now()

				for at := time.Duration(0); at < 2*stalledAfter; at += 5 * time.Minute {
					w.clock.SetTime(began.Add(at))

					tn, _ := w.reconcile(r)
					if tn == nil || !meta.FinalizerExists(tn, managed.FinalizerName) || reasonOf(tn) != v1alpha1.ReasonHostUnreachable {
						t.Fatalf("at %s it is let go, or says another reason: %+v", at, tn)
					}

					checkOtherHost(t, at.String(), tn.GetCondition(v1alpha1.TypeBoundaryReady).Message)

					if !strings.Contains(tn.Status.Message, v1alpha1.AnnotationAbandon) {
						t.Errorf("at %s it says no way out: %s", at, tn.Status.Message)
					}
				}

				if abandoned {
					w.abandonAs(aliceNamespace)

					if tn, _ := w.reconcile(r); tn != nil || !w.events.has(reasonAbandoned) {
						t.Errorf("it cannot be let go: %+v", tn)
					}
				}

				if got := w.doneOnHost(); len(got) > 0 {
					t.Errorf("did %v on another cluster", got)
				}

				back()

				if abandoned {
					return
				}

				w.reconcileUntilGone(r)

				if w.helm.release != nil || has[*corev1.Namespace](w, w.host, "", aliceNamespace) || w.events.has(reasonAbandoned) {
					t.Errorf("something is left on the host: release %v, events %v", w.helm.release, w.events.reasons())
				}
			})
		}
	}
}

// TestOtherHostAtTheSameAddress holds that what is absent is taken for that only by the
// word of a cluster which has just said which it is: an address may come to lead to
// another one, with the same credentials.
func TestOtherHostAtTheSameAddress(t *testing.T) {
	t.Parallel()

	for _, going := range []bool{false, true} {
		w, tn := newWorld(t), alice().Obj()
		w.arrive(tn)

		remembered := w.connection
		w.leadTo()
		w.connection = remembered

		if going {
			tenantBuilder{tn}.Deleted(epoch)
		}

		_, err := w.pass(tn)
		if got := w.journal.take(); !errors.Is(err, errUnseenHost) || len(got) > 0 {
			t.Errorf("being deleted: %t: did %v, error %v", going, got, err)
		}

		checkOtherHost(t, "at the same address", tn.Status.Message)
	}
}

// TestHostClusterIDIsKept holds when a Tenant gets to know where it lives, and that other
// credentials of the same cluster change nothing.
func TestHostClusterIDIsKept(t *testing.T) {
	t.Parallel()

	const here = "cluster-a"

	cases := map[string]struct {
		reason string
		world  func(t *testing.T) *world
		tenant tenantBuilder
		want   string
	}{
		"new":          {"it is made there", func(t *testing.T) *world { return newWorld(t) }, alice(), here},
		"adopted":      {"it becomes the Tenant's there", func(t *testing.T) *world { return runsByHand(t) }, alice().Adopts(aliceNamespace), here},
		"older":        {"an older provider has not said it", func(t *testing.T) *world { return newWorld(t, namespaceOf(alice().Obj()).Obj()) }, alice().Ready(), here},
		"looked at":    {"it is nobody's", func(t *testing.T) *world { return runsByHand(t) }, alice().Policies(xpv2.ManagementActionObserve), ""},
		"another's":    {"it does not live there", func(t *testing.T) *world { return newWorld(t, bareNamespace(aliceNamespace).Obj()) }, alice(), ""},
		"not made yet": {"nothing was made", func(t *testing.T) *world { return refusing(t, "host create Namespace") }, alice(), ""},
		"half made": {"the namespace is there, whatever failed then", func(t *testing.T) *world {
			return refusing(t, "host create LimitRange")
		}, alice(), here},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := tc.world(t), tc.tenant.Obj()
			_, _ = w.pass(tn) // What failed is not the matter here.

			if got := tn.Status.HostClusterID; got != tc.want {
				t.Errorf("%s: on %q, want %q: %s", tc.reason, got, tc.want, tn.Status.Message)
			}
		})
	}

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.connection = &host.Host{Live: w.host}

	if w.mustPass(tn); len(w.journal.take()) > 0 || tn.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		t.Errorf("with other credentials of the same cluster: %s", tn.Status.Message)
	}

	tn.Status.HostClusterID = ""

	if w.mustPass(tn); tn.Status.HostClusterID != here {
		t.Errorf("seen as it should be by an older provider: on %q", tn.Status.HostClusterID)
	}

	w, tn = runsByHand(t), alice().Adopts(aliceNamespace).Obj()
	w.refuseWrites = func(action string) error {
		if strings.HasPrefix(action, "host update Namespace") {
			w.reads.fail(1)
		}

		return nil
	}

	if _, err := w.pass(tn); err == nil || tn.Status.HostClusterID != here {
		t.Errorf("adopted, whatever failed then: on %q, %v", tn.Status.HostClusterID, err)
	}
}

// TestOtherHostBecomesTheHost holds that a person who clears the field has the Tenant made
// on the cluster that is there now.
func TestOtherHostBecomesTheHost(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	w.leadTo()

	tn.Status.HostClusterID = ""

	w.mustPass(tn)

	if !has[*corev1.Namespace](w, w.host, "", aliceNamespace) || tn.Status.HostClusterID != "cluster-b" {
		t.Errorf("it lives on %q: %s", tn.Status.HostClusterID, tn.Status.Message)
	}
}

// TestUnknownHostIsNotAnother holds that a Tenant waits where it cannot be found out
// which cluster is reached, and is not given up for that.
func TestUnknownHostIsNotAnother(t *testing.T) {
	t.Parallel()

	for _, going := range []bool{false, true} {
		w, tn := newWorld(t), alice().Obj()
		w.arrive(tn)

		w.connection = &host.Host{Live: w.host}
		w.reads.failOn = "get Namespace kube-system"

		if going {
			tenantBuilder{tn}.Deleted(epoch)
			w.remove(w.host, read[*corev1.Namespace](w, w.host, "", aliceNamespace))
			w.journal.clear()
		}

		o, err := w.pass(tn)
		if !errors.Is(err, errInjected) || errors.Is(err, errUnseenHost) || o.ResourceExists || len(w.journal.take()) > 0 {
			t.Errorf("being deleted: %t: %+v, %v", going, o, err)
		}

		if going && reasonOf(tn) != v1alpha1.ReasonRemoving {
			t.Errorf("it says %s: %s", reasonOf(tn), tn.Status.Message)
		}

		if !strings.Contains(tn.Status.Message, `namespace "kube-system"`) {
			t.Errorf("being deleted: %t: it does not say what cannot be read: %s", going, tn.Status.Message)
		}
	}
}

// refusing is a world in which writes of that prefix are refused.
func refusing(t *testing.T, prefix string) *world {
	t.Helper()

	w := newWorld(t)
	w.refuseWrites = func(action string) error {
		if strings.HasPrefix(action, prefix) {
			return errInjected
		}

		return nil
	}

	return w
}
