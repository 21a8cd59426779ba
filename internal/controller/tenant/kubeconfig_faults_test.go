// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"bytes"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// TestK1ExportWithoutHelmAnnotations holds that what vCluster exports is found by its
// name, though nothing on it says whose it is, and is the Tenant's since its namespace
// is. In another's namespace it is not even read.
func TestK1ExportWithoutHelmAnnotations(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	n := namesOf(tn)
	w.add(&corev1.Secret{ // It has what Helm sets, and another name.
		ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: "other", UID: "uid-other", Annotations: map[string]string{"meta.helm.sh/release-name": n.release}},
		Data:       map[string][]byte{"config": kubeconfig("other")},
	})

	if s := read[*corev1.Secret](w, w.host, n.namespace, "vc-vc-alice-default"); len(s.Labels)+len(s.Annotations)+len(s.OwnerReferences) > 0 {
		t.Fatalf("the export is marked: %v, %v", s.Labels, s.Annotations)
	}

	w.mustPass(tn)

	published := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
	if cfg, err := clientcmd.RESTConfigFromKubeConfig(published.Data["kubeconfig"]); err != nil || !bytes.Equal(cfg.CertData, pairOf("admin").cert) {
		t.Errorf("the export is not what is published: %v", err)
	}

	theirs := newWorld(t, bareNamespace(n.namespace).Obj(), exported(n, kubeconfig("admin")), service(n), controlPlane(n).Ready().Obj())
	theirs.reads.failOn = "get Secret vc-vc-alice-default"

	if _, err := theirs.pass(alice().Obj()); !errors.Is(err, errConflict) || theirs.reads.failed != "" {
		t.Errorf("another's export is read: %v", err)
	}

	theirs.reads.failOn = ""
}

// TestK2ExportOfThePreviousCA holds that what vCluster exported before its certificates
// were made anew is not published: it does not verify against the API that runs.
func TestK2ExportOfThePreviousCA(t *testing.T) {
	t.Parallel()

	previous, current := newAuthority(t), newAuthority(t)
	w, tn := newWorld(t), alice().Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	n := namesOf(tn)
	export := func(config []byte) {
		change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) { s.Data["config"] = config })
	}

	w.serveBy(n, current.serve(nil, net.IPv4(127, 0, 0, 1)))
	export(previous.export())

	for range 3 {
		if o := w.mustPass(tn); o.ConnectionDetails != nil || has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) {
			t.Fatal("what does not verify is published")
		}
	}

	if c := tn.GetCondition(v1alpha1.TypeAPIReachable); c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, "unknown authority") || tn.Status.Phase != v1alpha1.PhaseProvisioning {
		t.Errorf("%s: %s: %s", tn.Status.Phase, c.Status, c.Message)
	}

	export(current.export())
	w.mustPass(tn)

	s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
	if cfg, err := clientcmd.RESTConfigFromKubeConfig(s.Data["kubeconfig"]); err != nil || !bytes.Equal(cfg.CAData, current.pem) || askOverTLS(t.Context(), cfg) != nil {
		t.Errorf("what is published does not open the API: %v", err)
	}

	// The next one is no different: what works is not replaced by what does not.
	export(previous.export())
	w.mustPass(tn)

	if diff := cmp.Diff(s.Data, read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName).Data); diff != "" {
		t.Error("it was replaced by what does not verify")
	}
}

// TestK3KeyComesLater holds that a Secret that vCluster has not filled is waited for, by
// the name of the key, and that nothing empty is ever published.
func TestK3KeyComesLater(t *testing.T) {
	t.Parallel()

	w, tn := newWorld(t), alice().Obj()
	w.mustPass(tn)
	w.bringUp(tn)

	n := namesOf(tn)

	for name, data := range map[string]map[string][]byte{
		"no data": nil, "other keys": {"certificate-authority": pairOf("ca").cert}, "empty": {"config": nil}, "blank": {"config": []byte(" \n")},
	} {
		change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) { s.Data = data })

		if o := w.mustPass(tn); o.ConnectionDetails != nil || has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) || len(w.journal.take()) > 0 {
			t.Errorf("%s: something is published", name)
		}

		c := tn.GetCondition(v1alpha1.TypeAPIReachable)
		if tn.Status.Phase != v1alpha1.PhaseProvisioning || c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, `under the key "config"`) || tn.Status.Message != c.Message {
			t.Errorf("%s: %s, %s: %s", name, tn.Status.Phase, c.Status, c.Message)
		}
	}

	change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) { s.Data = map[string][]byte{"config": kubeconfig("admin")} })
	w.mustPass(tn)

	if s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName); len(s.Data["kubeconfig"]) == 0 || tn.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
	}
}

// TestK4RotatedExport holds that what is published follows what vCluster exports within
// one poll.
func TestK4RotatedExport(t *testing.T) {
	t.Parallel()

	tn := alice().Obj()
	w := newWorld(t, tn.DeepCopy())
	r := w.reconciler()
	w.reconcile(r)
	w.bringUp(tn)

	n := namesOf(tn)

	for _, user := range []string{"second", "third"} {
		before, res := w.reconcile(r)
		if before.Status.Phase != v1alpha1.PhaseReady || res.RequeueAfter <= 0 || res.RequeueAfter > 66*time.Second {
			t.Fatalf("%s: looked at again after %s", before.Status.Phase, res.RequeueAfter)
		}

		change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) { s.Data["config"] = kubeconfig(user) })
		w.reconcile(r)

		k, err := vcluster.ParseKubeconfig(kubeconfigFor("https://10.96.0.10:443", pairOf("ca").cert, pairOf(user)))
		if err != nil {
			t.Fatal(err)
		}

		want, err := k.WithName(n.release).Bytes()
		if err != nil {
			t.Fatal(err)
		}

		s := read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName)
		if diff := cmp.Diff(map[string][]byte{"kubeconfig": want}, s.Data); diff != "" {
			t.Errorf("the %s is not what is published", user)
		}
	}
}

// TestK6SecondOfAName holds that of two Tenants who want the same name the second is
// refused with the name of the first, and that nobody's kubeconfig is overwritten, nor
// deleted with the second.
func TestK6SecondOfAName(t *testing.T) {
	t.Parallel()

	elsewhere := func(b tenantBuilder) tenantBuilder {
		b.SetNamespace("elsewhere")
		return b
	}

	cases := map[string]struct {
		second tenantBuilder
		says   string
	}{
		"same cloudSpaceID":                      {bob().ID(alice().Spec.CloudSpaceID), "cloudSpaceID"},
		"same cloudSpaceID in another namespace": {elsewhere(bob().ID(alice().Spec.CloudSpaceID)), "cloudSpaceID"},
		"same tenantName in another namespace":   {elsewhere(alice().UID("uid-second").ID("other-id")), "tenantName"},
		"all the same in another namespace":      {elsewhere(alice().UID("uid-second")), "tenantName"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			first, second := alice().Obj(), tc.second.Obj()
			w := newWorld(t, first.DeepCopy(), second.DeepCopy())
			w.arrive(first)

			seen := func() []client.Object {
				return []client.Object{
					read[*corev1.Secret](w, w.kube, tenantNamespace, publishedName), read[*corev1.Namespace](w, w.host, "", aliceNamespace),
				}
			}
			before := seen()

			for range 3 {
				_, err := w.pass(second)
				if !errors.Is(err, errConflict) || !strings.Contains(err.Error(), `"kubeopera-system/alice-default"`) || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("it is not refused with the name of the first: %v", err)
				}
			}

			if second.Status.Phase != v1alpha1.PhaseFailed || second.Status.KubeconfigSecret != "" {
				t.Errorf("the second: %s, Secret %q: %s", second.Status.Phase, second.Status.KubeconfigSecret, second.Status.Message)
			}

			second.SetDeletionTimestamp(&metav1.Time{Time: epoch})

			if o := w.mustPass(second); o.ResourceExists || len(w.journal.take()) > 0 {
				t.Errorf("deleted, the second: exists %t: %s", o.ResourceExists, second.Status.Message)
			}

			w.mustPass(first)

			if diff := cmp.Diff(before, seen()); diff != "" || first.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("the first was harmed: %s: %s", first.Status.Phase, diff)
			}
		})
	}
}

// TestK8NameNotInTheCertificate holds that a kubeconfig whose server the certificate is
// not for is not published, and that a condition says which names these are.
func TestK8NameNotInTheCertificate(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		names     []string
		addresses []net.IP
		has       string
	}{
		"names only":        {[]string{"vc-alice-default", "localhost"}, nil, "vc-alice-default, localhost"},
		"another address":   {nil, []net.IP{net.IPv4(10, 96, 0, 77)}, "10.96.0.77"},
		"names and address": {[]string{"vc-alice-default"}, []net.IP{net.IPv4(10, 96, 0, 77)}, "vc-alice-default, 10.96.0.77"},
		"nothing":           {nil, nil, "no name at all"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ca := newAuthority(t)
			w, tn := newWorld(t), alice().Obj()
			w.mustPass(tn)
			w.bringUp(tn)

			n := namesOf(tn)
			w.serveBy(n, ca.serve(tc.names, tc.addresses...))
			change(w, w.host, n.namespace, n.exported, func(s *corev1.Secret) { s.Data["config"] = ca.export() })
			w.mustPass(tn)

			c := tn.GetCondition(v1alpha1.TypeAPIReachable)
			if c.Status != corev1.ConditionFalse || c.Reason != v1alpha1.ReasonFailed || !strings.Contains(c.Message, "is for "+tc.has+" and not for 127.0.0.1") {
				t.Errorf("%s, %s: %s", c.Status, c.Reason, c.Message)
			}

			if tn.Status.Phase != v1alpha1.PhaseFailed || tn.Status.Message != c.Message || has[*corev1.Secret](w, w.kube, tenantNamespace, publishedName) {
				t.Errorf("%s: %s", tn.Status.Phase, tn.Status.Message)
			}
		})
	}
}
