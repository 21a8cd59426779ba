// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

// write what is wanted until nothing is left to do.
func mustWrite(t *testing.T, v *insidetest.VCluster, want []Wanted) []Found {
	t.Helper()

	found, err := Look(t.Context(), v, want)
	if err == nil {
		err = write(t.Context(), v, found)
	}

	if err == nil {
		found, err = Look(t.Context(), v, want)
	}

	if err != nil {
		t.Fatal(err)
	}

	return found
}

func same(found []Found) bool {
	return !slices.ContainsFunc(found, func(f Found) bool { return !f.Same })
}

// TestWrite follows two objects through what can happen to them.
func TestWrite(t *testing.T) {
	t.Parallel()

	v := insidetest.NewVCluster(t)
	want := []Wanted{wantNamespace(t, "n"), wantQuota(t, "n", "q", false)}

	found, err := Look(t.Context(), v, want)
	if err != nil || found[0].Live != nil || found[1].Live != nil || same(found) {
		t.Fatalf("nothing is there: %+v, %v", found, err)
	}

	if w := v.Writes(); len(w) > 0 {
		t.Errorf("to look wrote %v", w)
	}

	if found = mustWrite(t, v, want); !same(found) {
		t.Errorf("what was written differs from what is wanted: %v, %v", found[0].Live, found[1].Live)
	}

	// Who makes the first must be alone with it.
	if diff := cmp.Diff([]string{"create Namespace n", "apply Namespace n", "apply ResourceQuota n q"}, v.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if found = mustWrite(t, v, want); !same(found) || len(v.Writes()) > 0 {
		t.Error("what is right was written again")
	}

	q := found[1].Live.DeepCopy()
	q.SetLabels(map[string]string{"theirs": "stays", LabelOwnerUID: "changed"})

	if err := v.Update(t.Context(), q); err != nil {
		t.Fatal(err)
	}

	found = mustWrite(t, v, want)
	if got := found[1].Live.GetLabels(); !same(found) || got[LabelOwnerUID] != "uid-a" || got["theirs"] != "stays" {
		t.Errorf("what someone changed was not repaired: %v", got)
	}

	if diff := cmp.Diff([]string{"apply ResourceQuota n q"}, v.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}
}

// TestWriteLeavesAlone holds that what is being deleted is not written.
func TestWriteLeavesAlone(t *testing.T) {
	t.Parallel()

	v := insidetest.NewVCluster(t)
	want := []Wanted{wantNamespace(t, "n")}
	found := mustWrite(t, v, want)

	if err := remove(t.Context(), v, found[0].Live); err != nil {
		t.Fatal(err)
	}

	v.Writes()

	found = mustWrite(t, v, want)
	if !found[0].Going() || same(found) || len(v.Writes()) > 0 {
		t.Errorf("going: %t, same: %t", found[0].Going(), same(found))
	}

	// And its deletion is not asked for again.
	if err := remove(t.Context(), v, found[0].Live); err != nil || len(v.Writes()) > 0 {
		t.Errorf("deleted twice, or %v", err)
	}
}

// TestWriteRaces holds that of two who make or take an object only one wins.
func TestWriteRaces(t *testing.T) {
	t.Parallel()

	v := insidetest.NewVCluster(t)
	want := []Wanted{wantNamespace(t, "n")}

	absent, err := Look(t.Context(), v, want)
	if err != nil {
		t.Fatal(err)
	}

	there := mustWrite(t, v, want)

	if err := write(t.Context(), v, absent); !isRace(err) {
		t.Errorf("someone else made it meanwhile: %v", err)
	}

	changed := there[0].Live.DeepCopy()
	changed.SetLabels(map[string]string{LabelOwnerUID: "uid-b"})

	if err := v.Update(t.Context(), changed); err != nil {
		t.Fatal(err)
	}

	there[0].Same = false
	if err := write(t.Context(), v, there); !isRace(err) {
		t.Errorf("someone else took it meanwhile: %v", err)
	}
}

// TestWriteReplaces holds that what cannot be changed is made anew.
func TestWriteReplaces(t *testing.T) {
	t.Parallel()

	d := &appsv1.Deployment{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
		ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "d"},
		Spec:       appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "mine"}}},
	}

	w, err := Want(d, false)
	if err != nil {
		t.Fatal(err)
	}

	theirs := d.DeepCopy()
	theirs.Spec.Selector.MatchLabels["app"] = "theirs"
	v := insidetest.NewVCluster(t, theirs)

	found := mustWrite(t, v, []Wanted{w})
	if diff := cmp.Diff([]string{"delete Deployment n d", "apply Deployment n d"}, v.Writes()); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if got, _, _ := unstructured.NestedString(found[0].Live.Object, "spec", "selector", "matchLabels", "app"); got != "mine" {
		t.Errorf("selector of app %q", got)
	}
}

func TestLookErrors(t *testing.T) {
	t.Parallel()

	invalid := kerrors.NewInvalid(schema.GroupKind{Kind: "ResourceQuota"}, "q", nil)
	noRoute := kerrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "q", "404 page not found", 0, true)

	cases := map[string]struct {
		reason  string
		action  string
		err     error
		refused bool
	}{
		"CannotRead":   {"what cannot be read is not absent", "get ResourceQuota", insidetest.ErrInjected, false},
		"NoRoute":      {"nor is what nobody serves", "get ResourceQuota", noRoute, false},
		"CannotDryRun": {"what cannot be compared is not the same", "dry-run ResourceQuota", insidetest.ErrInjected, false},
		"Unauthorized": {"nor is it refused when nobody was asked", "dry-run ResourceQuota", kerrors.NewUnauthorized("who"), false},
		"Invalid":      {"what the API server will not take is refused", "dry-run ResourceQuota", invalid, true},
		"Forbidden":    {"and what a webhook will not", "dry-run ResourceQuota", kerrors.NewForbidden(schema.GroupResource{}, "q", insidetest.ErrInjected), true},
		"BadRequest":   {"and what cannot be read by it", "dry-run ResourceQuota", kerrors.NewBadRequest("x"), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			v := insidetest.NewVCluster(t)
			want := []Wanted{wantNamespace(t, "n"), wantQuota(t, "n", "q", false)}
			mustWrite(t, v, want)
			v.Fail(func(action string) error {
				if strings.HasPrefix(action, tc.action) {
					return tc.err
				}

				return nil
			})

			found, err := Look(t.Context(), v, want)

			if tc.refused {
				if err != nil || found[1].Same || !found[0].Same {
					t.Errorf("%s: %+v, %v", tc.reason, found, err)
				}

				return
			}

			if !errors.Is(err, tc.err) {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// TestEach holds that the error is always the same one.
func TestEach(t *testing.T) {
	t.Parallel()

	other := errors.New("another")
	second := make(chan struct{})

	err := Each(3, func(i int) error {
		switch i {
		case 1:
			<-second
			return insidetest.ErrInjected
		case 2:
			close(second)
			return other
		}

		return nil
	})
	if !errors.Is(err, insidetest.ErrInjected) || errors.Is(err, other) {
		t.Errorf("want the first in order, got %v", err)
	}
}

func TestWriteErrors(t *testing.T) {
	t.Parallel()

	for _, action := range []string{"create Namespace", "apply Namespace", "apply ResourceQuota"} {
		v := insidetest.NewVCluster(t)
		v.Fail(insidetest.Failing(action))

		found, err := Look(t.Context(), v, []Wanted{wantNamespace(t, "n"), wantQuota(t, "n", "q", false)})
		if err != nil {
			t.Fatal(err)
		}

		if err := write(t.Context(), v, found); !errors.Is(err, insidetest.ErrInjected) || !strings.Contains(err.Error(), "cannot write") {
			t.Errorf("%s: %v", action, err)
		}
	}
}

func TestCreateNamespace(t *testing.T) {
	t.Parallel()

	given := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "theirs", Labels: map[string]string{"a": "b"}}}
	v := insidetest.NewVCluster(t, given)

	for _, name := range []string{"theirs", "new"} {
		if err := CreateNamespace(t.Context(), v, wantNamespace(t, name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}

	ns := &corev1.Namespace{}
	if err := v.Get(t.Context(), client.ObjectKey{Name: "theirs"}, ns); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(given.Labels, ns.Labels); diff != "" {
		t.Errorf("one that exists was changed: %s", diff)
	}

	v.Fail(insidetest.Failing("create"))

	if err := CreateNamespace(t.Context(), v, wantNamespace(t, "n")); !errors.Is(err, insidetest.ErrInjected) {
		t.Errorf("want %v, got %v", insidetest.ErrInjected, err)
	}
}

func TestRemove(t *testing.T) {
	t.Parallel()

	v := insidetest.NewVCluster(t)
	found := mustWrite(t, v, []Wanted{wantQuota(t, "n", "q", false)})

	for range 2 { // What is gone already is a success.
		if err := remove(t.Context(), v, found[0].Live); err != nil {
			t.Fatal(err)
		}
	}

	v.Fail(insidetest.Failing("delete"))

	if err := remove(t.Context(), v, found[0].Live); !errors.Is(err, insidetest.ErrInjected) {
		t.Errorf("want %v, got %v", insidetest.ErrInjected, err)
	}
}

// TestWant holds that nothing is asked for that only an API server writes.
func TestWant(t *testing.T) {
	t.Parallel()

	d := &appsv1.Deployment{
		TypeMeta: metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"}, ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "d"},
		Spec: appsv1.DeploymentSpec{Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "c", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}},
		}}}}},
	}

	w, err := Want(d, true)
	if err != nil {
		t.Fatal(err)
	}

	if _, ok := w.Object["status"]; ok {
		t.Error("it asks for a status")
	}

	for _, path := range [][]string{{"metadata", "creationTimestamp"}, {"spec", "template", "metadata", "creationTimestamp"}} {
		if _, ok, _ := unstructured.NestedFieldNoCopy(w.Object, path...); ok {
			t.Errorf("it asks for %v", path)
		}
	}

	if got := w.String(); got != `Deployment "d" in namespace "n" inside the vCluster` || !w.Lock {
		t.Errorf("it is %s, lock: %t", got, w.Lock)
	}
}
