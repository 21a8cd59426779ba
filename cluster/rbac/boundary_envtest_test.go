// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package rbac

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

const (
	provider = "system:serviceaccount:kubeopera-system:provider-kubeopera"
	// home is the provider's own namespace, tenants one of a Tenant.
	home    = "kubeopera-system"
	tenants = "vcluster-alice"
)

func newClient(t *testing.T, cluster *rest.Config, user string) client.Client {
	t.Helper()
	cluster = rest.CopyConfig(cluster)
	cluster.Impersonate.UserName = user
	c, err := client.New(cluster, client.Options{})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}
	return c
}

func meta(namespace, name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: namespace, Name: name}
}

func pod(namespace string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: meta(namespace, "pod"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "main"}}}}
}

func secret(namespace string, kind corev1.SecretType) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "secret-", Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
		Type:       kind,
	}
}

func namespace(name string) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: meta("", name)}
}

// TestBoundary writes with the shipped rights, with and without the policy.
func TestBoundary(t *testing.T) {
	cluster := testenv.RunControlPlane(t)
	admin, c := newClient(t, cluster, ""), newClient(t, cluster, provider)
	for _, name := range []string{home, tenants, "team"} {
		if err := admin.Create(t.Context(), namespace(name)); err != nil {
			t.Fatalf("Create(namespace): %v", err)
		}
	}
	testenv.Apply(t, admin, nil, "cluster/rbac/clusterrole.yaml", "cluster/rbac/provider.yaml")
	await(t, c, "the rights", func(err error) bool { return err == nil })
	testenv.Apply(t, admin, nil, "cluster/rbac/boundary.yaml")
	await(t, c, "the policy", kerrors.IsForbidden)

	isolates := func(namespace string) *networkingv1.NetworkPolicy {
		return &networkingv1.NetworkPolicy{ObjectMeta: meta(namespace, "policy")}
	}
	role := func(namespace string) *rbacv1.Role { return &rbacv1.Role{ObjectMeta: meta(namespace, "role")} }
	cases := map[string]struct {
		reason  string
		act     func(context.Context) error
		refused bool
	}{
		"Pod":            {"A vCluster runs pods.", func(ctx context.Context) error { return c.Create(ctx, pod(tenants)) }, false},
		"PodElsewhere":   {"Under an account of another namespace a pod could do anything.", func(ctx context.Context) error { return c.Create(ctx, pod("kube-system")) }, true},
		"Role":           {"A vCluster has a Role.", func(ctx context.Context) error { return c.Create(ctx, role(tenants)) }, false},
		"RoleElsewhere":  {"And only there.", func(ctx context.Context) error { return c.Create(ctx, role(home)) }, true},
		"Isolation":      {"A Tenant is isolated.", func(ctx context.Context) error { return c.Create(ctx, isolates(tenants)) }, false},
		"IsolationOther": {"And nobody else.", func(ctx context.Context) error { return c.Create(ctx, isolates("team")) }, true},
		"Namespace":      {"A Tenant has a namespace.", func(ctx context.Context) error { return c.Create(ctx, namespace("vcluster-bob")) }, false},
		"NamespaceOther": {"Of a name of its own.", func(ctx context.Context) error { return c.Create(ctx, namespace("bob")) }, true},
		"NamespaceGone":  {"The others do not go.", func(ctx context.Context) error { return c.Delete(ctx, namespace("team")) }, true},
		"Secret":         {"Kubeconfigs are published beside Tenants.", func(ctx context.Context) error { return c.Create(ctx, secret("team", corev1.SecretTypeOpaque)) }, false},
		"Token": {"But no tokens of accounts.", func(ctx context.Context) error {
			return c.Create(ctx, secret("kube-system", corev1.SecretTypeServiceAccountToken))
		}, true},
		"Bootstrap": {"Nor those by which a node joins.", func(ctx context.Context) error {
			return c.Create(ctx, secret("kube-system", corev1.SecretTypeBootstrapToken))
		}, true},
		"Connection": {"Connection details are published by the runtime.", func(ctx context.Context) error {
			return c.Create(ctx, secret("team", resource.SecretTypeConnection))
		}, false},
		"OthersSecretGone": {"What it could not make, it does not take away.", func(ctx context.Context) error {
			return remove(ctx, admin, c, secret("team", "example.org/other"))
		}, true},
		"SecretGone": {"And they go with them.", func(ctx context.Context) error { return remove(ctx, admin, c, secret("team", corev1.SecretTypeOpaque)) }, false},
		"Report": {"Reports wait beside the provider.", func(ctx context.Context) error {
			return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(home, "report")})
		}, false},
		"ReportOther": {"And nowhere else.", func(ctx context.Context) error {
			return c.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta("team", "report")})
		}, true},
		"Lease": {"So does its lease.", func(ctx context.Context) error {
			return c.Create(ctx, &coordinationv1.Lease{ObjectMeta: meta(home, "lease")})
		}, false},
		"LeaseOther": {"And nowhere else.", func(ctx context.Context) error {
			return c.Create(ctx, &coordinationv1.Lease{ObjectMeta: meta("kube-system", "lease")})
		}, true},
		"Event":  {"Events lie beside what they are about.", func(ctx context.Context) error { return c.Create(ctx, event("team")) }, false},
		"Others": {"Nobody else is held.", func(ctx context.Context) error { return admin.Create(ctx, pod("team")) }, false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := tc.act(t.Context())
			if tc.refused != (err != nil) {
				t.Fatalf("%s\nrefused: want %t, got %v", tc.reason, tc.refused, err)
			}
			if tc.refused && !strings.Contains(err.Error(), "in namespaces of Tenants only") {
				t.Errorf("%s\nIt is the policy that refuses: got %v", tc.reason, err)
			}
		})
	}
}

func event(namespace string) *corev1.Event {
	return &corev1.Event{ObjectMeta: meta(namespace, "event"), InvolvedObject: corev1.ObjectReference{Namespace: namespace}}
}

// remove what another has made.
func remove(ctx context.Context, by, c client.Client, s *corev1.Secret) error {
	if err := by.Create(ctx, s); err != nil {
		return err
	}
	return c.Delete(ctx, s)
}

// await an answer to a write that only the rights allow and the policy refuses. The
// API server takes a moment to know of either.
func await(t *testing.T, c client.Client, what string, is func(error) bool) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		last = c.Create(ctx, &corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "team", GenerateName: "s-"}, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: "example.org"},
		}, client.DryRunAll)
		return is(last), nil
	})
	if err != nil {
		t.Fatalf("%s never came into effect: %v", what, last)
	}
}
