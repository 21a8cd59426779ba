// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"crypto/x509"
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func TestIsLoopback(t *testing.T) {
	t.Parallel()

	for endpoint, want := range map[string]bool{
		"https://localhost:8443": true, "https://127.0.0.1:8443": true, "https://127.1.2.3": true, "https://[::1]:8443": true,
		"https://10.96.0.10": false, "https://localhost.example.org": false, "https://[fd00::1]:443": false, "://": false, "": false,
	} {
		if got := isLoopback(endpoint); got != want {
			t.Errorf("isLoopback(%q) is %t, want %t", endpoint, got, want)
		}
	}
}

func TestAddressOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		spec     corev1.ServiceSpec
		ingress  []corev1.LoadBalancerIngress
		want     string
		unusable bool
		errs     string
	}{
		"ClusterIP":     {reason: "pods and nodes reach it", spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10"}, want: "https://10.96.0.10:443"},
		"Port":          {reason: "the Service's own port", spec: corev1.ServiceSpec{ClusterIP: "10.96.0.10", Ports: []corev1.ServicePort{{Port: 8443}, {Port: 9}}}, want: "https://10.96.0.10:8443"},
		"IPv6":          {reason: "an IPv6 address goes into brackets", spec: corev1.ServiceSpec{ClusterIP: "fd00::10"}, want: "https://[fd00::10]:443"},
		"NodePort":      {reason: "a node port has a cluster IP too", spec: corev1.ServiceSpec{Type: corev1.ServiceTypeNodePort, ClusterIP: "10.96.0.11"}, want: "https://10.96.0.11:443"},
		"BalancerIP":    {reason: "a load balancer wins", spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.96.0.10"}, ingress: []corev1.LoadBalancerIngress{{IP: "192.0.2.1", Hostname: "x"}}, want: "https://192.0.2.1:443"},
		"BalancerName":  {reason: "by name where it has no address", spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}, ingress: []corev1.LoadBalancerIngress{{Hostname: "lb.example.org"}}, want: "https://lb.example.org:443"},
		"BalancerNone":  {reason: "it will get one: waiting helps", spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, ClusterIP: "10.96.0.10"}, errs: "has no address yet"},
		"BalancerEmpty": {reason: "an entry that names nothing", spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer}, ingress: []corev1.LoadBalancerIngress{{}}, errs: "no cluster IP", unusable: true},
		"Headless":      {reason: "no address at all", spec: corev1.ServiceSpec{ClusterIP: corev1.ClusterIPNone}, errs: "controlPlane.service.spec.clusterIP", unusable: true},
		"Unset":         {reason: "no cluster IP", spec: corev1.ServiceSpec{}, errs: "exportKubeConfig.server", unusable: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			svc := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "vc-a"}, Spec: tc.spec}
			svc.Status.LoadBalancer.Ingress = tc.ingress

			got, err := addressOf(svc)
			if got != tc.want || (err == nil) != (tc.errs == "") || errors.Is(err, errUnusable) != tc.unusable {
				t.Fatalf("%s: got %q and %v", tc.reason, got, err)
			}

			if err != nil && !strings.Contains(err.Error(), tc.errs) {
				t.Errorf("%s: %q does not say %q", tc.reason, err, tc.errs)
			}
		})
	}
}

func TestExportedKubeconfig(t *testing.T) {
	t.Parallel()

	n := namesOf(alice().Obj())
	marker := "SECRET-MATERIAL"
	broken := exported(n, []byte("{"+marker))
	empty := exported(n, nil)
	empty.Data = map[string][]byte{"other": []byte("x")}

	headless := service(n)
	headless.Spec.ClusterIP = corev1.ClusterIPNone

	cases := map[string]struct {
		reason   string
		host     []client.Object
		endpoint string
		errs     string
		is       error
	}{
		"Absent":    {reason: "not exported yet", errs: `has not exported Secret "vc-vc-alice-default"`, is: errNotExported},
		"NoKey":     {reason: "the key comes later, and is named", host: []client.Object{empty}, errs: `"config"`, is: vcluster.ErrNoKubeconfig},
		"Broken":    {reason: "waiting does not repair it", host: []client.Object{broken}, errs: "vc-vc-alice-default", is: errUnusable},
		"NoService": {reason: "loopback, and no Service yet", host: []client.Object{exported(n, kubeconfig("admin"))}, errs: `no Service "vc-alice-default"`},
		"Headless":  {reason: "loopback, and no address", host: []client.Object{exported(n, kubeconfig("admin")), headless}, errs: "no cluster IP", is: errUnusable},
		"Rewritten": {reason: "loopback becomes the Service's address", host: []client.Object{exported(n, kubeconfig("admin")), service(n)}, endpoint: "https://10.96.0.10:443"},
		"Own":       {reason: "an address that was asked for stays", host: []client.Object{exported(n, kubeconfigFor("https://a.example.org", pairOf("ca").cert, pairOf("admin")))}, endpoint: "https://a.example.org"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			k, err := newWorld(t, tc.host...).external(alice().Obj()).exportedKubeconfig(t.Context())

			if tc.errs != "" {
				if err == nil || !strings.Contains(err.Error(), tc.errs) || (tc.is != nil && !errors.Is(err, tc.is)) || errors.Is(err, errUnknown) {
					t.Errorf("%s: want %q, got %v", tc.reason, tc.errs, err)
				}

				if err != nil && strings.Contains(err.Error(), marker) {
					t.Errorf("%s: the error quotes the Secret: %v", tc.reason, err)
				}

				return
			}

			if err != nil || k.Endpoint() != tc.endpoint {
				t.Fatalf("%s: want %s, got %v and %v", tc.reason, tc.endpoint, k, err)
			}

			if raw, err := k.Bytes(); err != nil || !strings.Contains(string(raw), "name: vc-alice-default") || strings.Contains(string(raw), "my-vcluster") {
				t.Errorf("%s: the context is not named for the release: %v", tc.reason, err)
			}
		})
	}
}

// TestReadAccess tells what is unknown from what is not there yet.
func TestReadAccess(t *testing.T) {
	t.Parallel()

	n := namesOf(alice().Obj())
	there := func() []client.Object { return []client.Object{exported(n, kubeconfig("admin")), service(n)} }

	t.Run("OldCA", func(t *testing.T) {
		t.Parallel()

		w := newWorld(t, there()...)
		w.probe = func(context.Context, *rest.Config) error { return x509.UnknownAuthorityError{} }

		a, err := w.external(alice().Obj()).readAccess(t.Context(), alice().Obj(), controlPlaneFacts{found: true, ready: true})
		if err != nil || a.kubeconfig != nil || a.published || a.err == nil || isUnusable(a.err) {
			t.Errorf("what does not verify is no way in, and may be later: %+v, %v", a, err)
		}
	})

	t.Run("AsksTheRewrittenAddress", func(t *testing.T) {
		t.Parallel()

		var asked *rest.Config

		w := newWorld(t, there()...)
		w.probe = func(ctx context.Context, cfg *rest.Config) error {
			asked = cfg
			return ctx.Err()
		}

		if a, err := w.external(alice().Obj()).readAccess(t.Context(), alice().Obj(), controlPlaneFacts{found: true, ready: true}); err != nil || a.kubeconfig == nil || a.published {
			t.Fatalf("%+v, %v", a, err)
		}

		if asked.Host != "https://10.96.0.10:443" || string(asked.CAData) != string(pairOf("ca").cert) || asked.Insecure {
			t.Errorf("asked %q with CA %q", asked.Host, asked.CAData)
		}
	})

	// The export, the Service in the cache, and the published Secret.
	for nth := 1; nth <= 3; nth++ {
		w := newWorld(t, there()...)
		w.reads.fail(nth)

		if a, err := w.external(alice().Obj()).readAccess(t.Context(), alice().Obj(), controlPlaneFacts{found: true, ready: true}); !errors.Is(err, errInjected) {
			t.Errorf("failed read %d, %s, became %+v and %v", nth, w.reads.failed, a, err)
		}
	}
}

// TestLostExport holds that a Tenant outlives the loss of what vCluster exports,
// which it writes only when it starts: the published kubeconfig is as good, as
// long as the API answers to it.
func TestLostExport(t *testing.T) {
	t.Parallel()

	moved := service(namesOf(alice().Obj()))
	moved.Spec.ClusterIP = "10.96.0.99"

	cases := map[string]struct {
		reason   string
		lose     func(w *world, n names)
		phase    v1alpha1.TenantPhase
		endpoint string
	}{
		"Secret": {
			reason: "the exported Secret is deleted", phase: v1alpha1.PhaseReady, endpoint: "https://10.96.0.10:443",
			lose: func(w *world, n names) { w.remove(w.host, exported(n, nil)) },
		},
		"Service": {
			reason: "the Service is made anew, and took the export with it", phase: v1alpha1.PhaseReady, endpoint: "https://10.96.0.99:443",
			lose: func(w *world, n names) {
				w.remove(w.host, exported(n, nil))
				w.remove(w.host, service(n))
				w.add(moved)
			},
		},
		"Foreign": {
			reason: "what someone else put in the place of the published one opens nothing", phase: v1alpha1.PhaseProvisioning, endpoint: "https://10.96.0.10:443",
			lose: func(w *world, n names) {
				w.remove(w.host, exported(n, nil))
				change(w, w.kube, tenantNamespace, n.secret, func(s *corev1.Secret) { s.SetOwnerReferences(nil) })
			},
		},
		"Both": {
			reason: "nothing is left that opens the API", phase: v1alpha1.PhaseProvisioning, endpoint: "https://10.96.0.10:443",
			lose: func(w *world, n names) {
				w.remove(w.host, exported(n, nil))
				w.remove(w.kube, read[*corev1.Secret](w, w.kube, alice().Obj().GetNamespace(), n.secret))
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, tn := newWorld(t), alice().Obj()
			w.arrive(tn)
			tc.lose(w, namesOf(tn))
			w.mustPass(tn)
			w.mustPass(tn)

			if tn.Status.Phase != tc.phase || tn.Status.Endpoint != tc.endpoint {
				t.Errorf("%s: %s at %s: %s", tc.reason, tn.Status.Phase, tn.Status.Endpoint, tn.Status.Message)
			}
		})
	}
}
