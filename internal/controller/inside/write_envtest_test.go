// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package inside

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// realAPI is an API server of its own, by the clients that the controllers use.
func realAPI(t *testing.T) client.Client {
	t.Helper()

	cfg := testenv.RunControlPlane(t)

	k, err := vcluster.ParseKubeconfig(insidetest.KubeconfigOf(cfg))
	if err != nil {
		t.Fatal(err)
	}

	api, err := tenantapi.NewPool().Get("uid", k)
	if err != nil {
		t.Fatal(err)
	}

	return api.Live
}

// all that the two controllers write, in a form that an API server completes.
func all(t *testing.T) []Wanted {
	t.Helper()

	owner := OwnerOf(insidetest.Agent("a"), insidetest.Tenant())

	objs := advisor.Objects(v1alpha1.AdvisorSettings{
		Image: "registry.example.org/a:v1", Replicas: ptr.To[int32](0),
		Env: []corev1.EnvVar{{Name: "EMPTY"}, {Name: "SECRET", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}, Key: "k"},
		}}},
		Resources: &corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.30")}},
	})
	out := make([]Wanted, 0, len(objs)+2)

	for i, o := range append(objs,
		&corev1.LimitRange{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "LimitRange"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"},
			Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
				Type: corev1.LimitTypeContainer, Default: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("0.5")},
			}}},
		},
		&corev1.ResourceQuota{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"}, ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "x"},
			// What is finer than the API server stores.
			Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"limits.cpu": resource.MustParse("0.0001"), "limits.memory": resource.MustParse("1.0001Gi")}},
		},
	) {
		owner.Stamp(o)

		w, err := Want(o, i == 0 || o.GetNamespace() == "default")
		if err != nil {
			t.Fatal(err)
		}

		out = append(out, w)
	}

	return out
}

func versions(found []Found) map[string]string {
	out := map[string]string{}
	for _, f := range found {
		out[f.Want.String()] = f.Live.GetResourceVersion()
	}

	return out
}

func pick(found []Found, kind string) *unstructured.Unstructured {
	i := slices.IndexFunc(found, func(f Found) bool { return f.Want.GetKind() == kind })

	return found[i].Live
}

// TestWriteForReal holds against a real API server what the fake one is trusted with.
func TestWriteForReal(t *testing.T) {
	c, want := realAPI(t), all(t)

	pass := func() []Found {
		t.Helper()

		found, err := Look(t.Context(), c, want)
		if err == nil {
			err = Write(t.Context(), c, found)
		}

		if err == nil {
			found, err = Look(t.Context(), c, want)
		}

		if err != nil {
			t.Fatal(err)
		}

		for _, f := range found {
			if !f.Same {
				t.Fatalf("%s is not as it is wanted: %v", f.Want, f.Live)
			}
		}

		return found
	}

	found := pass()
	before := versions(found)

	if diff := cmp.Diff(before, versions(pass())); diff != "" {
		t.Errorf("a second pass wrote:\n%s", diff)
	}

	// Even a write that changes nothing is none.
	for _, f := range found {
		f.Same = false
		if err := Write(t.Context(), c, []Found{f}); err != nil {
			t.Fatal(err)
		}
	}

	if diff := cmp.Diff(before, versions(pass())); diff != "" {
		t.Errorf("a write of the same changed something:\n%s", diff)
	}

	t.Run("Repair", func(t *testing.T) {
		for _, change := range []struct {
			kind string
			fn   func(*unstructured.Unstructured) error
		}{
			{"Deployment", func(o *unstructured.Unstructured) error {
				return unstructured.SetNestedField(o.Object, int64(7), "spec", "replicas")
			}},
			{"ClusterRole", func(o *unstructured.Unstructured) error { return unstructured.SetNestedSlice(o.Object, nil, "rules") }},
			{"Service", func(o *unstructured.Unstructured) error {
				return unstructured.SetNestedStringMap(o.Object, map[string]string{"app.kubernetes.io/name": "x"}, "spec", "selector")
			}},
			{"ResourceQuota", func(o *unstructured.Unstructured) error {
				return unstructured.SetNestedStringMap(o.Object, map[string]string{"limits.cpu": "99"}, "spec", "hard")
			}},
			{"LimitRange", func(o *unstructured.Unstructured) error {
				unstructured.RemoveNestedField(o.Object, "spec", "limits")
				return nil
			}},
			{"Namespace", func(o *unstructured.Unstructured) error {
				o.SetLabels(map[string]string{LabelOwnerUID: "uid-a"})
				return nil
			}},
		} {
			o := pick(pass(), change.kind)
			generation := o.GetResourceVersion()

			if err := change.fn(o); err != nil {
				t.Fatal(err)
			}

			if err := c.Update(t.Context(), o); err != nil {
				t.Fatal(err)
			}

			if found, err := Look(t.Context(), c, want); err != nil || !differs(found, change.kind) {
				t.Errorf("%s: what someone changed was not seen: %v", change.kind, err)
			}

			if repaired := pick(pass(), change.kind); repaired.GetResourceVersion() == generation {
				t.Errorf("%s was not repaired", change.kind)
			}
		}
	})

	t.Run("Immutable", func(t *testing.T) {
		b := &rbacv1.ClusterRoleBinding{}
		if err := c.Get(t.Context(), client.ObjectKey{Name: advisor.Name}, b); err != nil {
			t.Fatal(err)
		}

		if err := c.Delete(t.Context(), b); err != nil {
			t.Fatal(err)
		}

		theirs := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: advisor.Name, Labels: b.Labels}, RoleRef: b.RoleRef}
		theirs.RoleRef.Name = "cluster-admin"

		if err := c.Create(t.Context(), theirs); err != nil {
			t.Fatal(err)
		}

		if got, _, _ := unstructured.NestedString(pick(pass(), "ClusterRoleBinding").Object, "roleRef", "name"); got != advisor.Name {
			t.Errorf("it still binds %q", got)
		}
	})

	t.Run("Races", func(t *testing.T) {
		found := pass()
		ns := []Found{{Want: want[0], Live: found[0].Live.DeepCopy()}}

		if err := Write(t.Context(), c, []Found{{Want: want[0]}}); !isRace(err) {
			t.Errorf("someone else made it meanwhile: %v", err)
		}

		changed := found[0].Live.DeepCopy()
		changed.SetLabels(map[string]string{LabelOwnerUID: "uid-b"})

		if err := c.Update(t.Context(), changed); err != nil {
			t.Fatal(err)
		}

		if err := Write(t.Context(), c, ns); !isRace(err) {
			t.Errorf("someone else took it meanwhile: %v", err)
		}
	})

	t.Run("Refused", func(t *testing.T) {
		wrong := all(t)
		q := wrong[len(wrong)-1]

		if err := unstructured.SetNestedStringMap(q.Object, map[string]string{"bananas": "3"}, "spec", "hard"); err != nil {
			t.Fatal(err)
		}

		found, err := Look(t.Context(), c, wrong)
		if err != nil || found[len(found)-1].Refused == nil {
			t.Errorf("a name that no quota knows: %v, %v", found[len(found)-1].Refused, err)
		}
	})
}

func differs(found []Found, kind string) bool {
	return slices.ContainsFunc(found, func(f Found) bool { return f.Want.GetKind() == kind && !f.Same })
}
