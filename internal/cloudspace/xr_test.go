// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	uid  = "7e9d3a1b-0000-4000-8000-000000000002"
	user = "3f1a2b4c-0000-4000-8000-000000000001"
)

// cloudSpace is a namespaced CloudSpace with this spec.
func cloudSpace(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "platform.kubeopera.io/v1alpha1",
		"kind":       "CloudSpace",
		"metadata":   map[string]any{"namespace": "team-alice", "name": "staging", "uid": uid},
		"spec":       spec,
	}}
}

// claimed is the XCloudSpace of a claim with this spec.
func claimed(spec map[string]any) *unstructured.Unstructured {
	u := cloudSpace(spec)
	u.SetKind("XCloudSpace")
	u.SetAPIVersion("claims.kubeopera.io/v1alpha1")
	u.SetNamespace("")
	spec["claimRef"] = map[string]any{"namespace": "team-bob", "name": "staging"}

	return u
}

func amountOf(s string) *resource.Quantity { return ptr.To(resource.MustParse(s)) }

func TestParse(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		u      *unstructured.Unstructured
		want   XR
	}{
		"Minimal": {
			reason: "Only the user's id must be given: the rest has the defaults of the schemas, also where no API server set them.",
			u:      cloudSpace(map[string]any{"userID": user}),
			want:   XR{Name: "staging", UID: uid, Namespace: "team-alice", Spec: Spec{UserID: user, CPU: amountOf("2"), Memory: amountOf("4Gi")}},
		},
		"Claimed": {
			reason: "The XR of a claim lies in no namespace, and all is made in the claim's.",
			u:      claimed(map[string]any{"userID": user}),
			want:   XR{Name: "staging", UID: uid, Namespace: "team-bob", Claimed: true, Spec: Spec{UserID: user, CPU: amountOf("2"), Memory: amountOf("4Gi")}},
		},
		"Numbers": {
			reason: "A number that passed through protobuf is a float, however it was written.",
			u:      cloudSpace(map[string]any{"userID": user, "cpu": 1.5, "memory": float64(8589934592), "pods": float64(50)}),
			want: XR{Name: "staging", UID: uid, Namespace: "team-alice", Spec: Spec{
				UserID: user, CPU: amountOf("1.5"), Memory: amountOf("8589934592"), Pods: ptr.To[int32](50),
			}},
		},
		"Commit": {
			reason: "A commit that looks like a number is a text.",
			u:      cloudSpace(map[string]any{"userID": user, "advisor": map[string]any{"image": "1e100", "env": []any{map[string]any{"name": "COMMIT", "value": "1234e567"}}}}),
			want: XR{Name: "staging", UID: uid, Namespace: "team-alice", Spec: Spec{
				UserID: user, CPU: amountOf("2"), Memory: amountOf("4Gi"),
				Advisor: &v1alpha1.AdvisorSpec{AdvisorSettings: v1alpha1.AdvisorSettings{Image: "1e100", Env: []corev1.EnvVar{{Name: "COMMIT", Value: "1234e567"}}}},
			}},
		},
		"All": {
			reason: "Nothing that is given is lost, and what Crossplane keeps in the spec is passed over.",
			u: cloudSpace(map[string]any{
				"spaceName": "alice-staging", "userID": user, "cpu": "4", "memory": "8Gi", "storage": "50Gi", "pods": int64(50),
				"advisor":    map[string]any{"enabled": true, "image": "a/b:c", "replicas": int64(2)},
				"flux":       map[string]any{"enabled": false, "chartVersion": "2.19.0"},
				"vcluster":   map[string]any{"chartVersion": "0.36.1", "kubernetesVersion": "v1.36.0"},
				"crossplane": map[string]any{"compositionRef": map[string]any{"name": "x"}},
			}),
			want: XR{Name: "staging", UID: uid, Namespace: "team-alice", Spec: Spec{
				SpaceName: "alice-staging", UserID: user, CPU: amountOf("4"), Memory: amountOf("8Gi"), Storage: amountOf("50Gi"), Pods: ptr.To[int32](50),
				Advisor:  &v1alpha1.AdvisorSpec{Enabled: ptr.To(true), AdvisorSettings: v1alpha1.AdvisorSettings{Image: "a/b:c", Replicas: ptr.To[int32](2)}},
				Flux:     &Flux{Enabled: ptr.To(false), ChartVersion: ptr.To("2.19.0")},
				VCluster: &VCluster{ChartVersion: ptr.To("0.36.1"), KubernetesVersion: ptr.To("v1.36.0")},
			}},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := Parse(tc.u)
			if err != nil {
				t.Fatalf("%s\nParse(...): %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s\nParse(...): -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestParseRefused(t *testing.T) {
	t.Parallel()

	valid := func(more map[string]any) map[string]any {
		out := map[string]any{"userID": user}
		maps.Copy(out, more)

		return out
	}
	cases := map[string]struct {
		reason string
		u      *unstructured.Unstructured
		want   []string
	}{
		"NoUserID":       {"It is required.", cloudSpace(map[string]any{}), []string{"spec.userID is not set: set it"}},
		"UserIDLong":     {"It must be a label's value.", cloudSpace(map[string]any{"userID": strings.Repeat("a", 64)}), []string{"spec.userID", "1 to 63"}},
		"UserIDNewline":  {"A line end at the end is no way around the rule.", cloudSpace(map[string]any{"userID": "a\n"}), []string{"spec.userID"}},
		"NameLong":       {"The name must fit all names made of it.", cloudSpace(valid(map[string]any{"spaceName": strings.Repeat("a", 33)})), []string{"spec.spaceName", "3 to 32"}},
		"NameShort":      {"Two characters are too few.", cloudSpace(valid(map[string]any{"spaceName": "ab"})), []string{"spec.spaceName", "3 to 32"}},
		"NameDefault":    {"No name can be made of such a user's id.", cloudSpace(map[string]any{"userID": "Alice"}), []string{`spec.spaceName is not set, and "space-Alice"`, "set spec.spaceName"}},
		"CPUWords":       {"It is no quantity.", cloudSpace(valid(map[string]any{"cpu": "4 cores"})), []string{`spec.cpu: "4 cores" must be a quantity of cores above 0`}},
		"CPUZero":        {"Nothing runs on it.", cloudSpace(valid(map[string]any{"cpu": "0"})), []string{"spec.cpu"}},
		"CPUNegative":    {"Nothing runs on it.", cloudSpace(valid(map[string]any{"cpu": "-1"})), []string{"spec.cpu"}},
		"CPUHuge":        {"It is a limit that is none.", cloudSpace(valid(map[string]any{"cpu": "100001"})), []string{"spec.cpu"}},
		"CPUInjected":    {"It is no quantity.", cloudSpace(valid(map[string]any{"cpu": `2"; injected: true`})), []string{"spec.cpu"}},
		"MemorySmall":    {"Nothing runs in it.", cloudSpace(valid(map[string]any{"memory": "1023Ki"})), []string{"spec.memory", "1Mi to 1Pi"}},
		"MemoryHuge":     {"It is a limit that is none.", cloudSpace(valid(map[string]any{"memory": "1025Ti"})), []string{"spec.memory"}},
		"StorageSmall":   {"Nothing fits.", cloudSpace(valid(map[string]any{"storage": "0"})), []string{"spec.storage", "1Mi to 1Ei"}},
		"StorageHuge":    {"It is a limit that is none.", cloudSpace(valid(map[string]any{"storage": "2Ei"})), []string{"spec.storage"}},
		"PodsText":       {"A number is a number.", cloudSpace(valid(map[string]any{"pods": "ten"})), []string{"spec.pods", "kubectl explain cloudspace.spec.pods --api-version=platform.kubeopera.io/v1alpha1 "}},
		"AdvisorText":    {"An object is an object.", cloudSpace(valid(map[string]any{"advisor": "on"})), []string{"spec.advisor"}},
		"AdvisorAmounts": {"The field is named also where the quantity lies deeper.", cloudSpace(valid(map[string]any{"advisor": map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "x"}}}})), []string{"spec.advisor"}},
		"SpecText":       {"There is nothing to read in it.", &unstructured.Unstructured{Object: map[string]any{"spec": "x"}}, []string{"spec"}},
		"NoUID":          {"The CloudSpace would have no id.", &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "a", "name": "b"}, "spec": valid(nil)}}, []string{"metadata.uid is not set"}},
		"NoClaim": {
			"There is no namespace to make it in.",
			&unstructured.Unstructured{Object: map[string]any{"kind": "XCloudSpace", "metadata": map[string]any{"name": "b", "uid": uid}, "spec": valid(nil)}},
			[]string{"spec.claimRef is not set", `XCloudSpace "b"`, "create a claim"},
		},
		"Several": {"All that is wrong is said at once.", cloudSpace(map[string]any{"userID": "a b", "spaceName": "X", "cpu": "0"}), []string{"spec.userID", "spec.spaceName", "spec.cpu"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := Parse(tc.u)
			if err == nil {
				t.Fatalf("%s\nParse(...): accepted, want an error with %q", tc.reason, tc.want)
			}

			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s\nParse(...): want an error with %q, got: %v", tc.reason, w, err)
				}
			}

			if strings.Contains(err.Error(), "\n") {
				t.Errorf("A condition holds one line.\nParse(...): got %q", err)
			}
		})
	}
}

// What no schema lets through is no reason to panic, on any field.
func TestParseRubbish(t *testing.T) {
	t.Parallel()

	rubbish := []any{nil, "", "x", "\x00", -1, 1e300, true, []any{}, []any{nil, 1.0}, map[string]any{}, map[string]any{"enabled": "x", "image": 1.0, "env": "x", "limits": []any{}}}

	for _, field := range append(slices.Collect(maps.Keys((&Spec{}).fields())), "claimRef") {
		for _, v := range rubbish {
			spec := map[string]any{"userID": user}
			spec[field] = v
			namespaced := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"namespace": "a", "name": "b", "uid": uid}, "spec": spec}}
			legacy := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "b", "uid": uid}, "spec": spec}}

			for _, u := range []*unstructured.Unstructured{namespaced, legacy} {
				xr, err := Parse(u)
				if err != nil {
					continue
				}

				d := Compose(xr, Observed{})
				if d.Tenant.Spec.UserID == "" || len(d.Quota.Spec.Hard) == 0 {
					t.Errorf("What is accepted can be made.\nspec.%s = %v: got Tenant %+v", field, v, d.Tenant.Spec)
				}
			}
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		s      Spec
		want   string
	}{
		"Given":   {"What is given is the name.", Spec{SpaceName: "alice-staging", UserID: user}, "alice-staging"},
		"Made":    {"The first eight characters of the user's id are enough for one space of a user.", Spec{UserID: user}, "space-3f1a2b4c"},
		"AllOfIt": {"A shorter id is used whole.", Spec{UserID: "bob"}, "space-bob"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := tc.s.Name(); got != tc.want {
				t.Errorf("%s\nName(): want %q, got %q", tc.reason, tc.want, got)
			}
		})
	}
}
