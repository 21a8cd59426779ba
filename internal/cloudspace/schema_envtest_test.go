// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package cloudspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xcrd"
	xrdv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	extv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

const (
	namespace = "team-alice"
	user      = "3f1a2b4c-0000-4000-8000-000000000001"
)

// Kinds that are made of both definitions.
var kinds = map[string]metav1.TypeMeta{
	"Namespaced": {APIVersion: "platform.kubeopera.io/v1alpha1", Kind: "CloudSpace"},
	"Claim":      {APIVersion: "claims.kubeopera.io/v1alpha1", Kind: "CloudSpace"},
	"Legacy":     {APIVersion: "claims.kubeopera.io/v1alpha1", Kind: "XCloudSpace"},
}

// TestAPI holds the definitions against a real API server, which also refuses
// rules that would cost too much to evaluate. Their CRDs are those that Crossplane
// makes of them.
func TestAPI(t *testing.T) {
	cluster := testenv.RunControlPlane(t, "package/crds")

	configuration := filepath.Join("..", "..", "package", "configuration")

	crds := rendered(t, filepath.Join(configuration, "cloudspace", "definition.yaml"), filepath.Join(configuration, "cloudspace-claims", "definition.yaml"))
	if _, err := envtest.InstallCRDs(cluster, envtest.CRDInstallOptions{CRDs: crds}); err != nil {
		t.Fatalf("envtest.InstallCRDs(...): %v", err)
	}

	c, err := client.New(cluster, client.Options{})
	if err != nil {
		t.Fatalf("client.New(...): %v", err)
	}

	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatalf("Create(namespace): %v", err)
	}

	for name, kind := range kinds {
		t.Run(name, func(t *testing.T) {
			t.Run("Defaults", func(t *testing.T) { testDefaults(t, c, kind) })
			t.Run("Accepted", func(t *testing.T) { testAccepted(t, c, kind) })
			t.Run("Refused", func(t *testing.T) { testRefused(t, c, kind) })
			t.Run("Immutable", func(t *testing.T) { testImmutable(t, c, kind) })
		})
	}

	t.Run("Policy", func(t *testing.T) { testPolicy(t, c) })
	t.Run("Composed", func(t *testing.T) { testComposed(t, c) })
}

// rendered are the CRDs that Crossplane makes of the definitions in the files.
func rendered(t *testing.T, files ...string) []*extv1.CustomResourceDefinition {
	t.Helper()

	var out []*extv1.CustomResourceDefinition

	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("os.ReadFile(...): %v", err)
		}

		// The types of both versions are the same but for their names.
		xrd := &xrdv1.CompositeResourceDefinition{}
		if err := yaml.UnmarshalStrict(b, xrd); err != nil {
			t.Fatalf("yaml.UnmarshalStrict(%q): %v", file, err)
		}

		crd, err := xcrd.ForCompositeResource(xrd)
		if err != nil {
			t.Fatalf("xcrd.ForCompositeResource(%q): %v", file, err)
		}

		out = append(out, crd)

		if xrd.Spec.ClaimNames == nil {
			continue
		}

		if crd, err = xcrd.ForCompositeResourceClaim(xrd); err != nil {
			t.Fatalf("xcrd.ForCompositeResourceClaim(%q): %v", file, err)
		}

		out = append(out, crd)
	}

	for _, crd := range out {
		crd.SetOwnerReferences(nil) // The definitions themselves are not there.
	}

	return out
}

// cloudSpace is one of the kind, with this spec.
func cloudSpace(kind metav1.TypeMeta, spec map[string]any) *unstructured.Unstructured {
	u := &unstructured.Unstructured{Object: map[string]any{"apiVersion": kind.APIVersion, "kind": kind.Kind, "spec": spec}}
	u.SetGenerateName("staging-")

	if kind.Kind == "CloudSpace" {
		u.SetNamespace(namespace)
	}

	return u
}

// with is the smallest spec with one field more, or without one for nil.
func with(field string, value any) map[string]any {
	spec := map[string]any{"userID": user}
	if spec[field] = value; value == nil {
		delete(spec, field)
	}

	return spec
}

func testDefaults(t *testing.T, c client.Client, kind metav1.TypeMeta) {
	u := cloudSpace(kind, map[string]any{"userID": user, "advisor": map[string]any{}, "flux": map[string]any{}})
	if err := c.Create(t.Context(), u, client.DryRunAll); err != nil {
		t.Fatalf("Create(...): %v", err)
	}

	want := map[string]any{
		"userID": user, "cpu": "2", "memory": "4Gi", "advisor": map[string]any{"replicas": int64(1)}, "flux": map[string]any{"enabled": true},
	}
	got, _, _ := unstructured.NestedMap(u.Object, "spec")

	for field, value := range want {
		if diff := cmp.Diff(value, got[field]); diff != "" {
			t.Errorf("What is not given has the documented default.\nspec.%s: -want, +got:\n%s", field, diff)
		}
	}

	if _, ok := got["spaceName"]; ok {
		t.Errorf("A name that is made is made by the function: got %v", got["spaceName"])
	}
}

func testAccepted(t *testing.T, c client.Client, kind metav1.TypeMeta) {
	cases := map[string]struct {
		reason string
		spec   map[string]any
	}{
		"Name":      {"A team names its spaces.", with("spaceName", "alice-staging")},
		"NameLong":  {"32 characters fit all names made of it.", with("spaceName", strings.Repeat("a", 32))},
		"MadeShort": {"A name can be made of a short id.", with("userID", "b")},
		"NameInstead": {
			"A name that is given need not be made.",
			map[string]any{"userID": "Alice_B.example-org", "spaceName": "alice-default"},
		},
		"CPUNumber":  {"YAML without quotes makes a number.", with("cpu", int64(4))},
		"MemNumber":  {"A number is bytes.", with("memory", int64(8589934592))},
		"Storage":    {"Storage is optional.", with("storage", "50Gi")},
		"Pods":       {"So are pods.", with("pods", int64(50))},
		"AdvisorOff": {"All of it may be said.", with("advisor", map[string]any{"enabled": false})},
		"Advisor": {"All of it may be said.", with("advisor", map[string]any{
			"enabled": true, "image": "registry.example.org:5000/a/b@sha256:0123", "replicas": int64(2),
			"env":       []any{map[string]any{"name": "TOKEN", "valueFrom": map[string]any{"secretKeyRef": map[string]any{"name": "a", "key": "b"}}}},
			"resources": map[string]any{"limits": map[string]any{"cpu": "1", "memory": "128Mi"}},
		})},
		"Flux":     {"All of it may be said.", with("flux", map[string]any{"enabled": false, "chartVersion": "2.18.3"})},
		"VCluster": {"All of it may be said.", with("vcluster", map[string]any{"chartVersion": "0.36.1", "kubernetesVersion": "v1.36.0"})},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := c.Create(t.Context(), cloudSpace(kind, tc.spec), client.DryRunAll, client.FieldValidation("Strict")); err != nil {
				t.Errorf("%s\nCreate(...): %v", tc.reason, err)
			}
		})
	}
}

func testRefused(t *testing.T, c client.Client, kind metav1.TypeMeta) {
	cases := map[string]struct {
		reason string
		spec   map[string]any
		want   []string
	}{
		"NoUserID":    {"It is required.", with("userID", nil), []string{"spec.userID", "Required"}},
		"UserIDSpace": {"It must be a label's value.", with("userID", "a b"), []string{"userID must be usable as a label value"}},
		"UserIDLong":  {"It must be a label's value.", with("userID", strings.Repeat("a", 64)), []string{"spec.userID", "63"}},
		"NameLong":    {"33 characters are too many.", with("spaceName", strings.Repeat("a", 33)), []string{"spec.spaceName", "32"}},
		"NameShort":   {"Two characters are too few.", with("spaceName", "ab"), []string{"spec.spaceName", "3"}},
		"NameUpper":   {"It goes into the names of objects.", with("spaceName", "Alice"), []string{"spec.spaceName", "spaceName must be 3 to 32 lower-case letters"}},
		"NameNewline": {"A line end at the end is no way around the rule.", with("spaceName", "alice\n"), []string{"spaceName must be 3 to 32 lower-case letters"}},
		"NameMade":    {"No name can be made of such an id.", with("userID", "Alice_B"), []string{"spaceName must be set for this userID"}},
		"NameMadeEnd": {"The eighth character may be the wrong one.", with("userID", "alice-b-c"), []string{"spaceName must be set for this userID"}},
		"PodsZero":    {"A CloudSpace without pods is none.", with("pods", int64(0)), []string{"spec.pods", "1"}},
		"PodsText":    {"A number is a number.", with("pods", "ten"), []string{"spec.pods", "integer"}},
		"StorageZero": {"Leave it out for no limit.", with("storage", "0"), []string{"storage must be a quantity of bytes from 1Mi to 1Ei"}},
		"Image":       {"It must be an image.", with("advisor", map[string]any{"image": "App Advisor"}), []string{"spec.advisor.image", "image must be an image reference"}},
		"Replicas":    {"So many would take the host.", with("advisor", map[string]any{"replicas": int64(11)}), []string{"spec.advisor.replicas", "10"}},
		"Chart":       {"A range would change under the team.", with("vcluster", map[string]any{"chartVersion": "0.36.x"}), []string{"vcluster.chartVersion must be an exact version"}},
		"Kubernetes":  {"A minor version is not exact.", with("vcluster", map[string]any{"kubernetesVersion": "1.36"}), []string{"vcluster.kubernetesVersion must be an exact version"}},
		"Flux":        {"A range would change under the team.", with("flux", map[string]any{"chartVersion": "2.x"}), []string{"flux.chartVersion must be an exact version"}},
		"Unknown":     {"A field that does not exist was meant to do something.", with("qouta", map[string]any{}), []string{"spec.qouta"}},
		"Values":      {"Values reach as far as the provider's rights, and are not for teams.", with("vcluster", map[string]any{"valuesOverrides": map[string]any{}}), []string{"spec.vcluster.valuesOverrides"}},
		"FluxValues":  {"Nor are these.", with("flux", map[string]any{"valuesOverrides": map[string]any{}}), []string{"spec.flux.valuesOverrides"}},
		"CPUWords":    {"It is no quantity.", with("cpu", "4 cores"), []string{"spec.cpu", "cpu must be a quantity of cores above 0 and at most 100000"}},
		"CPUZero":     {"Nothing runs on it.", with("cpu", int64(0)), []string{"cpu must be a quantity of cores"}},
		"CPUHuge":     {"It is a limit that is none.", with("cpu", "1e30"), []string{"cpu must be a quantity of cores"}},
		"CPUInjected": {"It is no quantity.", with("cpu", `2"; injected: true`), []string{"cpu must be a quantity of cores"}},
		"MemoryWords": {"It is no quantity.", with("memory", "8 GB"), []string{"spec.memory", "memory must be a quantity of bytes from 1Mi to 1Pi"}},
		"MemoryHuge":  {"It is a limit that is none.", with("memory", "2Pi"), []string{"memory must be a quantity of bytes"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.Create(t.Context(), cloudSpace(kind, tc.spec), client.DryRunAll, client.FieldValidation("Strict"))
			refused(t, tc.reason, err, tc.want)
		})
	}
}

// refused fails the test unless err has all of the texts.
func refused(t *testing.T, reason string, err error, want []string) {
	t.Helper()

	if err == nil {
		t.Fatalf("%s\naccepted, want refused with %q", reason, want)
	}

	for _, w := range want {
		if !strings.Contains(err.Error(), w) {
			t.Errorf("%s\nwant an error with %q, got: %v", reason, w, err)
		}
	}
}

func testImmutable(t *testing.T, c client.Client, kind metav1.TypeMeta) {
	cases := map[string]struct {
		reason      string
		before, now map[string]any
		want        []string
	}{
		"UserID":      {"The owner cannot change.", map[string]any{"userID": "alice", "spaceName": "abc"}, map[string]any{"userID": "bob", "spaceName": "abc"}, []string{"userID is immutable: delete the CloudSpace"}},
		"Name":        {"All names hang on it.", with("spaceName", "abc"), with("spaceName", "abd"), []string{"spaceName is immutable"}},
		"NameGiven":   {"A name that is made stands, too.", with("", nil), with("spaceName", "abc"), []string{"spaceName is immutable"}},
		"NameRemoved": {"Nor can it be made later.", with("spaceName", "abc"), with("", nil), []string{"spaceName is immutable"}},
		"NameSaid":    {"To say what is made changes nothing.", with("", nil), with("spaceName", "space-3f1a2b4c"), nil},
		"Rest": {
			"Everything else may change.", with("", nil),
			map[string]any{"userID": user, "cpu": "8", "memory": "16Gi", "storage": "1Gi", "pods": int64(3), "advisor": map[string]any{"enabled": false}, "flux": map[string]any{"enabled": false}, "vcluster": map[string]any{"chartVersion": "0.36.1"}},
			nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := cloudSpace(kind, tc.before)
			if err := c.Create(t.Context(), u); err != nil {
				t.Fatalf("Create(...): %v", err)
			}

			u.Object["spec"] = tc.now

			err := c.Update(t.Context(), u, client.DryRunAll)
			if tc.want != nil {
				refused(t, tc.reason, err, tc.want)
				return
			}

			if err != nil {
				t.Errorf("%s\nUpdate(...): %v", tc.reason, err)
			}
		})
	}
}

func testPolicy(t *testing.T, c client.Client) {
	u := cloudSpace(kinds["Claim"], with("", nil))
	if err := c.Create(t.Context(), u, client.DryRunAll); err != nil {
		t.Fatalf("Create(...): %v", err)
	}

	if got, _, _ := unstructured.NestedString(u.Object, "spec", "compositeDeletePolicy"); got != "Foreground" {
		t.Errorf("A claim stays until its CloudSpace is gone: want Foreground, got %q", got)
	}
}

// What the function wants is what the CRDs of the provider take, to the letter.
func testComposed(t *testing.T, c client.Client) {
	for _, name := range cases(t) {
		rsp := compose(t, name)
		if isFatal(rsp) {
			continue
		}

		for part, r := range rsp.GetDesired().GetResources() {
			u := &unstructured.Unstructured{Object: r.GetResource().AsMap()}
			if u.GetName() == "" {
				u.SetName("named-by-crossplane")
			}

			if err := c.Create(t.Context(), u, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
				t.Errorf("%s: Create(%s): %v", name, part, err)
			}
		}
	}
}

func isFatal(rsp *fnv1.RunFunctionResponse) bool {
	for _, r := range rsp.GetResults() {
		if r.GetSeverity() == fnv1.Severity_SEVERITY_FATAL {
			return true
		}
	}

	return false
}
