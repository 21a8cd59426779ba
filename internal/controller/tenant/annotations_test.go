// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestInitialize(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		given  func(*v1alpha1.Tenant)
		refuse error
		want   map[string]string
		writes int
	}{
		"New": {
			reason: "a Tenant is named for its release", given: func(tn *v1alpha1.Tenant) { meta.AddFinalizer(tn, managed.FinalizerName) },
			want: map[string]string{meta.AnnotationKeyExternalName: "vc-alice-default"}, writes: 1,
		},
		"Unheld": {reason: "the write that adds the finalizer adds the name as well", given: func(*v1alpha1.Tenant) {}},
		"LooksOnly": {
			reason: "what is only looked at never gets a finalizer", given: func(tn *v1alpha1.Tenant) {
				tn.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionObserve}
			},
			want: map[string]string{meta.AnnotationKeyExternalName: "vc-alice-default"}, writes: 1,
		},
		"Named": {
			reason: "a name that is there stays", given: func(tn *v1alpha1.Tenant) { meta.SetExternalName(tn, "imported") },
			want: map[string]string{meta.AnnotationKeyExternalName: "imported"},
		},
		"Refused": {reason: "a write that fails is an error", given: func(tn *v1alpha1.Tenant) { meta.AddFinalizer(tn, managed.FinalizerName) }, refuse: errInjected},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tn := alice().Obj()
			tc.given(tn)

			w := newWorld(t, tn)
			w.refuseWrites = func(string) error { return tc.refuse }
			tn = read[*v1alpha1.Tenant](w, w.kube, tn.GetNamespace(), tn.GetName())

			if err := (initializer{kube: w.kube}).Initialize(t.Context(), tn); !errors.Is(err, tc.refuse) {
				t.Errorf("%s: want error %v, got %v", tc.reason, tc.refuse, err)
			}

			if tc.want != nil && meta.GetExternalName(tn) == "" {
				t.Errorf("%s: it has no external name in hand", tc.reason)
			}

			if diff := cmp.Diff(tc.want, read[*v1alpha1.Tenant](w, w.kube, tn.GetNamespace(), tn.GetName()).GetAnnotations()); diff != "" {
				t.Errorf("%s: -want, +stored:\n%s", tc.reason, diff)
			}

			if got := len(w.journal.take()); got != tc.writes {
				t.Errorf("%s: %d writes, want %d", tc.reason, got, tc.writes)
			}
		})
	}
}

func TestForeignKinds(t *testing.T) {
	t.Parallel()

	if err := (initializer{}).Initialize(t.Context(), &fake.Managed{}); !errors.Is(err, errNotTenant) {
		t.Errorf("naming another kind: %v", err)
	}

	if got := cloudSpaceIDOf(&corev1.Pod{}); got != nil {
		t.Errorf("cloudSpaceID of another kind is %v", got)
	}
}
