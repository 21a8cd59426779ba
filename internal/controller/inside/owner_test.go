// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

func TestStamp(t *testing.T) {
	t.Parallel()

	o := OwnerOf(insidetest.Agent("a"), insidetest.Tenant())
	obj := &corev1.Service{ObjectMeta: metav1.ObjectMeta{
		Labels:      map[string]string{"app": "x", LabelOwnerUID: "uid-other"},
		Annotations: map[string]string{"note": "y"},
	}}

	if o.Owns(obj) {
		t.Error("owns what carries another's UID")
	}

	o.Stamp(obj)

	if !o.Owns(obj) {
		t.Error("does not own what it has stamped")
	}

	if diff := cmp.Diff(map[string]string{
		"app": "x", LabelOwnerUID: "uid-a", v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, v1alpha1.LabelTenantID: "7e9d3a1b",
	}, obj.Labels); diff != "" {
		t.Errorf("labels: -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(map[string]string{"note": "y", AnnotationOwner: "kubeopera-system/a"}, obj.Annotations); diff != "" {
		t.Errorf("annotations: -want, +got:\n%s", diff)
	}
}

func TestCheck(t *testing.T) {
	t.Parallel()

	ns, quota, elsewhere := wantNamespace(t, "app-advisor"), wantQuota(t, "app-advisor", "x", false), wantQuota(t, "default", "x", true)
	ours := map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy}
	of := func(uid types.UID) map[string]string {
		return map[string]string{v1alpha1.LabelManagedBy: v1alpha1.ManagedBy, LabelOwnerUID: string(uid)}
	}

	far := insidetest.Agent("far")
	far.Spec.TenantRef.Name = "someone-else"

	cases := map[string]struct {
		reason string
		found  []Found
		says   string
	}{
		"Nothing":     {"what is absent may be made", []Found{{Want: ns}, {Want: quota}}, ""},
		"Own":         {"what is the owner's own may be written", []Found{{Want: ns, Live: live(ns, nil)}}, ""},
		"Provided":    {"what this provider has made for nobody may be taken", []Found{{Want: ns, Live: live(ns, ours)}}, ""},
		"Foreign":     {"what someone else has made may not", []Found{{Want: ns, Live: live(ns, map[string]string{"a": "b"})}}, `Namespace "app-advisor" inside the vCluster was not made by this provider; delete it there or, to hand it over for good, set its label kubeopera.io/managed-by to tenant-controller`},
		"ForeignIn":   {"the same in a namespace that is not the owner's", []Found{{Want: elsewhere, Live: live(elsewhere, map[string]string{})}}, `ResourceQuota "x" in namespace "default" inside the vCluster was not made`},
		"Inside":      {"in a namespace of its own, all of that name is the owner's", []Found{{Want: ns, Live: live(ns, nil)}, {Want: quota, Live: live(quota, map[string]string{})}}, ""},
		"Other":       {"what belongs to another stays so", []Found{{Want: ns, Live: live(ns, of("uid-b"))}}, `belongs to AdvisorAgent "kubeopera-system/b"`},
		"OtherInside": {"wherever it is", []Found{{Want: ns, Live: live(ns, nil)}, {Want: quota, Live: live(quota, of("uid-b"))}}, `belongs to AdvisorAgent "kubeopera-system/b"`},
		"Gone":        {"what belonged to one that is gone may be taken", []Found{{Want: ns, Live: live(ns, of("uid-gone"))}}, ""},
		"OfAnother":   {"and what belongs to one that is inside another vCluster", []Found{{Want: ns, Live: live(ns, of("uid-far"))}}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			kube := newKube(insidetest.Agent("a"), insidetest.Agent("b"), far.DeepCopy())

			err := OwnerOf(insidetest.Agent("a"), insidetest.Tenant()).Check(t.Context(), kube, &v1alpha1.AdvisorAgentList{}, tc.found)
			if (tc.says == "") != (err == nil) || (err != nil && (!errors.Is(err, ErrConflict) || !strings.Contains(err.Error(), tc.says))) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestCheckCannotList holds that who cannot be looked up is not taken for gone.
func TestCheckCannotList(t *testing.T) {
	t.Parallel()

	ns := wantNamespace(t, "app-advisor")
	kube := interceptor.NewClient(newKube(insidetest.Agent("b")), interceptor.Funcs{
		List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error {
			return insidetest.ErrInjected
		},
	})

	err := OwnerOf(insidetest.Agent("a"), insidetest.Tenant()).Check(t.Context(), kube, &v1alpha1.AdvisorAgentList{},
		[]Found{{Want: ns, Live: live(ns, map[string]string{LabelOwnerUID: "uid-b"})}})
	if err == nil || errors.Is(err, ErrConflict) {
		t.Errorf("want an error that is no conflict, got %v", err)
	}
}

func TestMade(t *testing.T) {
	t.Parallel()

	o := OwnerOf(insidetest.Quota("q"), insidetest.Tenant())

	quota := func(namespace, name string, owner Owner) client.Object {
		q := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		owner.Stamp(q)

		return q
	}

	limits := &corev1.LimitRange{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "x"}}
	o.Stamp(limits)

	v := insidetest.NewVCluster(t, limits,
		quota("b", "x", o), quota("a", "x", o), quota("a", "y", o), quota("c", "x", OwnerOf(insidetest.Quota("other"), insidetest.Tenant())))

	got, err := o.Made(t.Context(), v, "x", "ResourceQuota", "LimitRange")
	if err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff([]string{"ResourceQuota x in a", "ResourceQuota x in b", "LimitRange x in a"}, shortNames(got)); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	v.Fail(insidetest.Failing("list"))

	if _, err := o.Made(t.Context(), v, "x", "ResourceQuota"); !errors.Is(err, insidetest.ErrInjected) {
		t.Errorf("want %v, got %v", insidetest.ErrInjected, err)
	}
}

func TestRemains(t *testing.T) {
	t.Parallel()

	ns, one, two := wantNamespace(t, "n"), wantQuota(t, "n", "one", false), wantQuota(t, "n", "two", false)

	got := OwnerOf(insidetest.Agent("a"), insidetest.Tenant()).Remains([]Found{
		{Want: ns, Live: live(ns, nil)},
		{Want: one, Live: live(one, map[string]string{LabelOwnerUID: "uid-b"})},
		{Want: one},
		{Want: two, Live: live(two, nil)},
	})

	names := slices.Collect(func(yield func(string) bool) {
		for _, o := range got {
			yield(o.GetName())
		}
	})
	if diff := cmp.Diff([]string{"two", "n"}, names); diff != "" {
		t.Errorf("what is the owner's, last first: -want, +got:\n%s", diff)
	}
}

func TestWhyNamespaceStays(t *testing.T) {
	t.Parallel()

	conditions := []any{
		map[string]any{"type": "NamespaceContentRemaining", "status": "True", "message": "pods. has 1 resource instances"},
		map[string]any{"type": "NamespaceDeletionDiscoveryFailure", "status": "False", "message": "all well"},
		map[string]any{"type": "NamespaceFinalizersRemaining", "status": "True", "message": "a finalizer"},
	}
	ns := func(kind string, deleted bool, conditions any) *unstructured.Unstructured {
		o := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind, "metadata": map[string]any{"name": "n"}, "status": map[string]any{"conditions": conditions},
		}}
		if deleted {
			o.SetDeletionTimestamp(&metav1.Time{Time: insidetest.Epoch})
		}

		return o
	}

	for name, tc := range map[string]struct {
		of   *unstructured.Unstructured
		want string
	}{
		"Going":        {ns("Namespace", true, conditions), "a finalizer; pods. has 1 resource instances"},
		"Quiet":        {ns("Namespace", true, nil), ""},
		"NotGoing":     {ns("Namespace", false, conditions), ""},
		"AnythingElse": {ns("Service", true, conditions), ""},
		"Malformed":    {ns("Namespace", true, "text"), ""},
	} {
		if got := whyNamespaceStays(tc.of); got != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}
