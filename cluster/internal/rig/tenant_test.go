// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func aTenant() *v1alpha1.Tenant {
	return &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "a", UID: "uid-1"},
		Spec:       v1alpha1.TenantSpec{TenantName: "alice", CloudSpaceID: "space-7"},
	}
}

func TestIsOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		object metav1.ObjectMeta
		want   bool
	}{
		"Stranger":   {reason: "it has nothing in common", object: metav1.ObjectMeta{Namespace: "default", Name: "bob", Labels: map[string]string{"a": ""}}},
		"Inside":     {reason: "all in the host namespace is the Tenant's", object: metav1.ObjectMeta{Namespace: "vcluster-alice", Name: "kube-root-ca.crt"}, want: true},
		"Named":      {reason: "cluster-scoped objects carry the name", object: metav1.ObjectMeta{Name: "vc-vc-alice-v-vcluster-alice"}, want: true},
		"Labelled":   {reason: "it carries the id", object: metav1.ObjectMeta{Name: "x", Labels: map[string]string{"id": "space-7"}}, want: true},
		"Annotated":  {reason: "it names the Tenant", object: metav1.ObjectMeta{Name: "x", Annotations: map[string]string{"of": "ns/alice"}}, want: true},
		"Owned":      {reason: "it is the garbage collector's to remove", object: metav1.ObjectMeta{Name: "x", OwnerReferences: []metav1.OwnerReference{{UID: "uid-1"}}}, want: true},
		"OwnedOther": {reason: "its owner is another", object: metav1.ObjectMeta{Name: "x", OwnerReferences: []metav1.OwnerReference{{UID: "uid-2"}}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := isOf(aTenant(), &tc.object); got != tc.want {
				t.Errorf("%s: got %t", tc.reason, got)
			}
		})
	}
}

func TestIsOfTenantThatWasNeverMade(t *testing.T) {
	t.Parallel()

	never := aTenant()
	never.UID = ""

	if isOf(never, &metav1.ObjectMeta{Name: "bob", Labels: map[string]string{"a": ""}}) {
		t.Error("an empty UID is in every text, and must match none")
	}
}

func TestNewTenantsDiffer(t *testing.T) {
	t.Parallel()

	a, b := NewTenant("ns", "x"), NewTenant("ns", "x")
	if a.Spec.TenantName == b.Spec.TenantName || a.Spec.CloudSpaceID == b.Spec.CloudSpaceID || a.GetName() == b.GetName() {
		t.Errorf("two Tenants share a name or an id: %+v, %+v", a.Spec, b.Spec)
	}
}

func TestDescribe(t *testing.T) {
	t.Parallel()

	a := aTenant()
	a.Status.Phase, a.Status.Message = v1alpha1.PhaseFailed, "no such chart"
	a.SetConditions(xpv2.Unavailable().WithMessage("no such chart"))
	a.SetDeletionTimestamp(&metav1.Time{})
	a.SetFinalizers([]string{"hold"})

	got := Describe(a)
	for _, want := range []string{"ns/a", "Failed", "no such chart", "Ready=False Unavailable", "hold"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}
