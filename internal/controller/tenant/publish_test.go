// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const publishedName = "tenant-7e9d3a1b-0000-4000-8000-000000000002-kubeconfig"

// TestPublished holds what is published: a kubeconfig that works from outside
// the pod, in a Secret that goes with the Tenant.
func TestPublished(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)

	if len(s.Data) != 1 || s.GetLabels()["kubeopera.io/tenant-id"] != tn.Spec.CloudSpaceID || s.GetLabels()["kubeopera.io/managed-by"] != "tenant-controller" {
		t.Errorf("keys %v, labels %v", len(s.Data), s.GetLabels())
	}

	if !metav1.IsControlledBy(s, tn) {
		t.Errorf("the Tenant does not own the Secret: %v", s.GetOwnerReferences())
	}

	cfg, err := clientcmd.RESTConfigFromKubeConfig(s.Data["kubeconfig"])
	if err != nil {
		t.Fatal(err)
	}

	if cfg.Host != "https://10.96.0.10:443" || !bytes.Equal(cfg.CAData, pairOf("ca").cert) || !bytes.Equal(cfg.KeyData, pairOf("admin").key) {
		t.Errorf("the published kubeconfig leads to %q", cfg.Host)
	}

	if tn.Status.KubeconfigSecret != publishedName || tn.Status.Endpoint != cfg.Host || tn.Status.ChartVersion != "0.36.1" {
		t.Errorf("status names Secret %q, endpoint %q, chart %q", tn.Status.KubeconfigSecret, tn.Status.Endpoint, tn.Status.ChartVersion)
	}
}

func TestConnectionDetails(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)

	o := w.mustPass(tn)
	raw := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName).Data["kubeconfig"]
	want := map[string][]byte{
		"kubeconfig": raw, "endpoint": []byte("https://10.96.0.10:443"), "clusterCA": pairOf("ca").cert,
		"clientCert": pairOf("admin").cert, "clientKey": pairOf("admin").key,
	}

	if diff := cmp.Diff(want, map[string][]byte(o.ConnectionDetails)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	tn.Spec.WriteConnectionSecretToReference = nil

	if o := w.mustPass(tn); o.ConnectionDetails != nil {
		t.Errorf("nobody asked for %d of them", len(o.ConnectionDetails))
	}
}

// TestNotReadyIsNotAsked holds that nobody is asked, and nothing is published, before
// the control plane is ready.
func TestNotReadyIsNotAsked(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	n := namesOf(tn)
	w.remove(w.host, controlPlane(n).Obj())
	w.add(controlPlane(n).Obj())

	w.probe = func(context.Context, *rest.Config) error {
		t.Error("asked a control plane that is not ready")
		return nil
	}

	w.journal.clear()

	o := w.mustPass(tn)
	if got := w.journal.take(); len(got) > 0 || has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) || o.ConnectionDetails != nil {
		t.Errorf("wrote %v, details %v", got, o.ConnectionDetails)
	}

	if tn.Status.Phase != v1alpha1.PhaseProvisioning || !strings.Contains(tn.Status.Message, errNotReady.Error()) || tn.Status.KubeconfigSecret != "" {
		t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
	}
}

// TestPublishedIsRestored holds that one pass undoes what others do to the Secret.
func TestPublishedIsRestored(t *testing.T) {
	t.Parallel()

	mine := func(fn func(*corev1.Secret)) func(*world, names) {
		return func(w *world, _ names) { change(w, w.kube, tenantNamespace, publishedName, fn) }
	}

	cases := map[string]struct {
		reason string
		change func(*world, names)
		writes []string
	}{
		"K7: deleted": {"deleted", func(w *world, _ names) {
			w.remove(w.kube, read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName))
		}, []string{"kube create Secret " + publishedName}},
		"K7: edited": {"edited", mine(func(s *corev1.Secret) { s.Data["kubeconfig"] = []byte("x") }), []string{"kube update Secret " + publishedName}},
		"Emptied":    {"emptied", mine(func(s *corev1.Secret) { s.Data = nil }), []string{"kube update Secret " + publishedName}},
		"Added":      {"a key too many", mine(func(s *corev1.Secret) { s.Data["more"] = nil }), []string{"kube update Secret " + publishedName}},
		"Unlabeled":  {"without labels", mine(func(s *corev1.Secret) { s.Labels = nil }), []string{"kube update Secret " + publishedName}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)
			tc.change(w, namesOf(tn))

			w.mustPass(tn)

			if diff := cmp.Diff(tc.writes, w.journal.take()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)

			cfg, err := clientcmd.RESTConfigFromKubeConfig(s.Data["kubeconfig"])
			if err != nil || !bytes.Equal(cfg.CertData, pairOf("admin").cert) || len(s.Data) != 1 || s.GetLabels()[v1alpha1.LabelTenantUID] != "uid-alice" {
				t.Errorf("%s: the Secret was not restored: %v", tc.reason, err)
			}

			if tn.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("%s: %s: %s", tc.reason, tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}

// TestPublishingGoesOnWhileAChangeWaits holds that a change that cannot be made
// does not hold back the way in.
func TestPublishingGoesOnWhileAChangeWaits(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		change func(tenantBuilder)
	}{
		"Refused":      {"a refused change", func(b tenantBuilder) { b.Overrides(biggerVolume) }},
		"Invalid":      {"a spec that cannot become a release", func(b tenantBuilder) { b.Overrides(`[]`) }},
		"UnknownChart": {"a chart that is not there", func(b tenantBuilder) { b.Chart("0.36.9") }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice()
			w.arrive(b.Obj())

			tc.change(b)
			b.SetGeneration(2)

			for _, user := range []string{"second", "third"} {
				change(w, w.host, "vcluster-alice-default", "vc-vc-alice-default", func(s *corev1.Secret) { s.Data["config"] = kubeconfig(user) })

				if _, err := w.pass(b.Obj()); err == nil {
					t.Fatalf("%s: the change was made", tc.reason)
				}

				s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
				if cfg, err := clientcmd.RESTConfigFromKubeConfig(s.Data["kubeconfig"]); err != nil || !bytes.Equal(cfg.CertData, pairOf(user).cert) {
					t.Errorf("%s: the kubeconfig of the %s user is not published: %v", tc.reason, user, err)
				}
			}
		})
	}
}

// TestOrphanedSecret holds that a Secret that no longer goes with the Tenant is
// not said to be published, however right its content is.
func TestOrphanedSecret(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.arrive(tn)
	change(w, w.kube, tenantNamespace, publishedName, func(s *corev1.Secret) { s.OwnerReferences = nil })

	if _, err := w.pass(tn); !errors.Is(err, errConflict) || tn.Status.Phase != v1alpha1.PhaseFailed {
		t.Errorf("%v, %s: %s", err, tn.Status.Phase, tn.Status.Message)
	}
}

// TestForeignSecret holds that somebody else's Secret of the name is neither
// written nor deleted.
func TestForeignSecret(t *testing.T) {
	t.Parallel()

	owned := func(kind, name, uid string) []metav1.OwnerReference {
		yes := true
		return []metav1.OwnerReference{{APIVersion: "v1", Kind: kind, Name: name, UID: types.UID(uid), Controller: &yes}}
	}

	cases := map[string]struct {
		reason string
		owners []metav1.OwnerReference
		says   string
	}{
		"Bare":   {"nobody's", nil, "has no owner"},
		"Others": {"another Tenant's", owned("Tenant", "first", "first"), `belongs to Tenant "first"`},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			foreign := &corev1.Secret{
				ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: publishedName, UID: "uid-foreign", OwnerReferences: tc.owners},
				Data:       map[string][]byte{"kubeconfig": []byte("theirs")},
			}
			w, tn := newWorld(t, foreign), alice().Obj()
			w.mustPass(tn)
			w.bringUp(tn)

			_, err := w.pass(tn)
			if !errors.Is(err, errConflict) || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), publishedName) {
				t.Errorf("%s: got %v", tc.reason, err)
			}

			if c := tn.GetCondition(v1alpha1.TypeKubeconfigPublished); c.Reason != v1alpha1.ReasonConflict || tn.Status.Phase != v1alpha1.PhaseFailed {
				t.Errorf("%s: phase %s, reason %s", tc.reason, tn.Status.Phase, c.Reason)
			}

			tn.SetDeletionTimestamp(&metav1.Time{Time: epoch})

			for range 5 {
				if o := w.mustPass(tn); !o.ResourceExists {
					break
				}
			}

			got := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
			if string(got.Data["kubeconfig"]) != "theirs" || len(w.mustPass(tn).ConnectionDetails) > 0 {
				t.Errorf("%s: their Secret was touched: %v", tc.reason, got)
			}
		})
	}
}

// TestForeignSecretAppears holds the same of one that appears after a look that found none.
func TestForeignSecretAppears(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	e := w.external(tn)

	f, err := e.gather(t.Context(), tn)
	if err != nil || !f.mustPublish() {
		t.Fatalf("there is nothing to publish: %v", err)
	}

	w.add(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: publishedName, UID: "uid-foreign"}, Data: map[string][]byte{"kubeconfig": []byte("theirs")}})

	if err := e.publish(t.Context(), tn, f); !errors.Is(err, errConflict) || f.access.published {
		t.Errorf("published: %t, %v", f.access.published, err)
	}

	if got := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName); string(got.Data["kubeconfig"]) != "theirs" {
		t.Errorf("their Secret was touched: %v", got)
	}
}
