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

// realWrites are objects on a real API server, as they are wanted.
type realWrites struct {
	t    *testing.T
	c    client.Client
	want []Wanted
}

// pass looks, writes what differs, and holds that nothing differs then.
func (r realWrites) pass() []Found {
	r.t.Helper()

	found, err := Look(r.t.Context(), r.c, r.want)
	if err == nil {
		err = write(r.t.Context(), r.c, found)
	}

	if err == nil {
		found, err = Look(r.t.Context(), r.c, r.want)
	}

	r.must(err)

	for _, f := range found {
		if !f.Same {
			r.t.Fatalf("%s is not as it is wanted: %v", f.Want, f.Live)
		}
	}

	return found
}

func (r realWrites) must(err error) {
	r.t.Helper()

	if err != nil {
		r.t.Fatal(err)
	}
}

// TestLookAndWrite holds against a real API server what the fake one is trusted
// with.
func TestLookAndWrite(t *testing.T) {
	r := realWrites{t: t, c: realAPI(t), want: all(t)}

	// One after the other, since all work on the same objects.
	for _, step := range []struct {
		name string
		fn   func(realWrites)
	}{
		{"WritesNothingTwice", realWrites.writesNothingTwice},
		{"Repairs", realWrites.repairs},
		{"ReplacesImmutable", realWrites.replacesImmutable},
		{"LosesRaces", realWrites.losesRaces},
		{"TellsARefusal", realWrites.tellsARefusal},
	} {
		t.Run(step.name, func(t *testing.T) { step.fn(realWrites{t: t, c: r.c, want: r.want}) })
	}
}

func (r realWrites) writesNothingTwice() {
	found := r.pass()
	before := versions(found)

	if diff := cmp.Diff(before, versions(r.pass())); diff != "" {
		r.t.Errorf("a second pass wrote:\n%s", diff)
	}

	// Even a write that changes nothing is none.
	for _, f := range found {
		f.Same = false
		r.must(write(r.t.Context(), r.c, []Found{f}))
	}

	if diff := cmp.Diff(before, versions(r.pass())); diff != "" {
		r.t.Errorf("a write of the same changed something:\n%s", diff)
	}
}

func (r realWrites) repairs() {
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
		o := pick(r.pass(), change.kind)
		version := o.GetResourceVersion()

		r.must(change.fn(o))
		r.must(r.c.Update(r.t.Context(), o))

		if found, err := Look(r.t.Context(), r.c, r.want); err != nil || !differs(found, change.kind) {
			r.t.Errorf("%s: what someone changed was not seen: %v", change.kind, err)
		}

		if repaired := pick(r.pass(), change.kind); repaired.GetResourceVersion() == version {
			r.t.Errorf("%s was not repaired", change.kind)
		}
	}
}

func (r realWrites) replacesImmutable() {
	r.pass()

	b := &rbacv1.ClusterRoleBinding{}
	r.must(r.c.Get(r.t.Context(), client.ObjectKey{Name: advisor.Name}, b))
	r.must(r.c.Delete(r.t.Context(), b))

	theirs := &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: advisor.Name, Labels: b.Labels}, RoleRef: b.RoleRef}
	theirs.RoleRef.Name = "cluster-admin"
	r.must(r.c.Create(r.t.Context(), theirs))

	if got, _, _ := unstructured.NestedString(pick(r.pass(), "ClusterRoleBinding").Object, "roleRef", "name"); got != advisor.Name {
		r.t.Errorf("it still binds %q", got)
	}
}

func (r realWrites) losesRaces() {
	found := r.pass()
	ns := []Found{{Want: r.want[0], Live: found[0].Live.DeepCopy()}}

	if err := write(r.t.Context(), r.c, []Found{{Want: r.want[0]}}); !isRace(err) {
		r.t.Errorf("someone else made it meanwhile: %v", err)
	}

	changed := found[0].Live.DeepCopy()
	changed.SetLabels(map[string]string{LabelOwnerUID: "uid-b"})
	r.must(r.c.Update(r.t.Context(), changed))

	if err := write(r.t.Context(), r.c, ns); !isRace(err) {
		r.t.Errorf("someone else took it meanwhile: %v", err)
	}
}

// tellsARefusal holds that what the API server will not take is not as it is
// wanted, and that to write it says why.
func (r realWrites) tellsARefusal() {
	r.pass()

	r.want = all(r.t)
	q := r.want[len(r.want)-1]
	r.must(unstructured.SetNestedStringMap(q.Object, map[string]string{"bananas": "3"}, "spec", "hard"))

	found, err := Look(r.t.Context(), r.c, r.want)
	if err != nil || found[len(found)-1].Same {
		r.t.Errorf("a name that no quota knows: %v", err)
	}

	if err := write(r.t.Context(), r.c, found); !isRefusal(err) {
		r.t.Errorf("to write it: %v", err)
	}
}

func differs(found []Found, kind string) bool {
	return slices.ContainsFunc(found, func(f Found) bool { return f.Want.GetKind() == kind && !f.Same })
}
