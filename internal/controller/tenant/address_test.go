// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serviceDeleted is a Ready Tenant whose Service someone deletes.
func serviceDeleted(t *testing.T) (*world, tenantBuilder) {
	t.Helper()

	w, b := wholeWorld(t, "StatefulSet")
	w.remove(w.host, read[*corev1.Service](w, w.host, "vcluster-alice-default", "vc-alice-default"))
	w.journal.clear()

	return w, b
}

// TestKeepAddress holds that a Service that someone deleted comes back at its address:
// pods and people were told that.
func TestKeepAddress(t *testing.T) {
	t.Parallel()

	w, b := serviceDeleted(t)
	n := namesOf(b.Obj())
	before := read[*corev1.Secret](w, w.kube, b.Namespace, n.secret).Data

	w.mustPass(b.Obj())

	svc := read[*corev1.Service](w, w.host, n.namespace, n.release)
	if want := "10.96.0.10"; svc.Spec.ClusterIP != want {
		t.Errorf("the Service is at %q, was at %q", svc.Spec.ClusterIP, want)
	}

	// Without these Helm refuses to work with it.
	if svc.Labels["app.kubernetes.io/managed-by"] != "Helm" || svc.Annotations["meta.helm.sh/release-name"] != n.release || svc.Annotations["meta.helm.sh/release-namespace"] != n.namespace {
		t.Errorf("it is not the release's: %v, %v", svc.Labels, svc.Annotations)
	}

	w.startUp(n)
	w.mustPass(b.Obj())

	if diff := cmp.Diff(before, read[*corev1.Secret](w, w.kube, b.Namespace, n.secret).Data); diff != "" {
		t.Errorf("the kubeconfig that people have works no more: -was, +is:\n%s", diff)
	}
}

// TestKeepAddressNot holds that an address that is not to be had, or not known, leaves
// the Service to Helm, and that one which may be there is not made.
func TestKeepAddressNot(t *testing.T) {
	t.Parallel()

	boom := errors.New("boom")
	invalid := kerrors.NewInvalid(schema.GroupKind{Kind: "Service"}, "vc-alice-default", nil)
	exists := kerrors.NewAlreadyExists(schema.GroupResource{Resource: "services"}, "vc-alice-default")

	cases := map[string]struct {
		reason string
		before func(*world, names)
		want   error
		done   []string
	}{
		"Taken":   {"another Service has it now", refuseService(invalid), nil, []string{upgrade}},
		"Raced":   {"another pass was faster", refuseService(exists), nil, []string{upgrade}},
		"Refused": {"Helm would not be let either", refuseService(boom), boom, nil},
		"NotPublished": {
			"nobody was told an address",
			func(w *world, n names) {
				w.remove(w.kube, read[*corev1.Secret](w, w.kube, "kubeopera-system", n.secret))
			}, nil, []string{upgrade},
		},
		"Spoiled": {
			"whoever edited the Secret has lost it",
			func(w *world, n names) {
				change(w, w.kube, "kubeopera-system", n.secret, func(s *corev1.Secret) { s.Data[xpv2.CredentialsSecretKubeconfigKey] = []byte("x") })
			}, nil, []string{upgrade},
		},
		"Named": {
			"a name leads to wherever it is",
			func(w *world, n names) {
				change(w, w.kube, "kubeopera-system", n.secret, func(s *corev1.Secret) {
					s.Data[xpv2.CredentialsSecretKubeconfigKey] = kubeconfig("admin")
				})
			}, nil, []string{upgrade},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w, b := serviceDeleted(t)
			tc.before(w, namesOf(b.Obj()))
			w.journal.clear()

			if _, err := w.pass(b.Obj()); !errors.Is(err, tc.want) {
				t.Fatalf("%s: want %v, got %v", tc.reason, tc.want, err)
			}

			if diff := cmp.Diff(tc.done, w.doneOnHost()); diff != "" {
				t.Errorf("%s: -want, +done:\n%s", tc.reason, diff)
			}
		})
	}
}

// refuseService fails the first creation of the Service with that. The next is Helm's.
func refuseService(with error) func(*world, names) {
	return func(w *world, n names) {
		w.refuseWrites = func(action string) error {
			if action != "host create Service "+n.release {
				return nil
			}

			w.refuseWrites = func(string) error { return nil }

			return with
		}
	}
}
