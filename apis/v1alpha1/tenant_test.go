// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package v1alpha1_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// The manifest is the contract: it applies as it is, by each way to apply.
func testTenantManifest(t *testing.T, c client.Client) {
	want := tenant(t).Object["spec"].(map[string]any)

	got := tenant(t)
	create(t, c, got)

	reason := "Nothing that was written may be lost."
	for field, value := range want {
		equal(t, reason, got, "spec."+field, value)
	}
	reason = "Only the provider writes the status, so that what the manifest says is dropped and a new Tenant is Pending."
	equal(t, reason, got, "status", map[string]any{"phase": "Pending"})

	reason = "Server-side apply takes the manifest too."
	apply := client.ApplyConfigurationFromUnstructured(tenant(t))
	if err := c.Apply(t.Context(), apply, client.FieldOwner("test"), client.ForceOwnership, client.DryRunAll); err != nil {
		t.Errorf("%s\nApply(...): %v", reason, err)
	}
}

func testTenantDefaults(t *testing.T, c client.Client) {
	reason := "A Tenant with only what is required has the documented defaults."
	got := with(t, tenant(t), "spec.quota", nil)
	if err := c.Create(t.Context(), got, client.DryRunAll); err != nil {
		t.Fatalf("%s\nCreate(...): %v", reason, err)
	}
	equal(t, reason, got, "spec.quota", map[string]any{"cpu": "2", "memory": "4Gi"})
	equal(t, reason, got, "spec.providerConfigRef", map[string]any{"kind": "ClusterProviderConfig", "name": "default"})
	equal(t, reason, got, "spec.managementPolicies", []any{"*"})

	reason = "What is not given of a quota has its default."
	got = with(t, tenant(t), "spec.quota", map[string]any{"cpu": "6"})
	if err := c.Create(t.Context(), got, client.DryRunAll); err != nil {
		t.Fatalf("%s\nCreate(...): %v", reason, err)
	}
	equal(t, reason, got, "spec.quota", map[string]any{"cpu": "6", "memory": "4Gi"})
}

func testTenantAccepted(t *testing.T, c client.Client) {
	cases := map[string]struct {
		reason string
		path   string
		value  any
	}{
		"ShortestTenantName": {"Three characters are enough.", "spec.tenantName", "a1b"},
		"LongestTenantName":  {"32 characters fit all names made of it.", "spec.tenantName", strings.Repeat("a", 32)},
		"ShortCloudSpaceID":  {"One character is a name.", "spec.cloudSpaceID", "7"},
		"LongCloudSpaceID":   {"63 characters are a label's value.", "spec.cloudSpaceID", strings.Repeat("7", 63)},
		"UserIDOfMail":       {"A user's id may hold upper-case letters, dots and underscores.", "spec.userID", "Alice_B.example-org"},
		"CPUAsNumber":        {"YAML without quotes makes a number.", "spec.quota.cpu", int64(4)},
		"CPUMillis":          {"Parts of a core are usual.", "spec.quota.cpu", "1500m"},
		"CPUDecimal":         {"So are decimals.", "spec.quota.cpu", "1.5"},
		"MemoryAsNumber":     {"A number is bytes.", "spec.quota.memory", int64(8589934592)},
		"Storage":            {"Storage is optional.", "spec.quota.storage", "50Gi"},
		"Pods":               {"Pods are optional.", "spec.quota.pods", int64(50)},
		"ChartVersion":       {"An exact version.", "spec.vcluster", map[string]any{"chartVersion": "0.36.1"}},
		"ChartVersionPre":    {"A pre-release is exact.", "spec.vcluster", map[string]any{"chartVersion": "v0.36.0-rc.1"}},
		"KubernetesVersion":  {"An exact version.", "spec.vcluster", map[string]any{"kubernetesVersion": "v1.36.0"}},
		"KubernetesK3s":      {"k3s puts its own release behind a plus.", "spec.vcluster", map[string]any{"kubernetesVersion": "v1.32.1+k3s1"}},
		"Distro":             {"Both distributions are known.", "spec.vcluster", map[string]any{"distro": "k3s"}},
		"ValuesOverrides": {"Values of any shape are kept.", "spec.vcluster", map[string]any{"valuesOverrides": map[string]any{
			"controlPlane": map[string]any{"advanced": map[string]any{"list": []any{"a", int64(1), true, map[string]any{}}}},
		}}},
		"Flux": {"All of it may be said.", "spec.flux", map[string]any{"enabled": false, "chartVersion": "2.18.3", "valuesOverrides": map[string]any{"a": "b"}}},
		"Advisor": {"All of it may be said.", "spec.advisor", map[string]any{
			"enabled": true, "image": "registry.example.org:5000/a/b@sha256:0123", "replicas": int64(2),
			"env":       []any{map[string]any{"name": "LEVEL", "value": "debug"}},
			"resources": map[string]any{"limits": map[string]any{"cpu": "1"}},
		}},
		"ConnectionSecret": {"Crossplane's own fields work.", "spec.writeConnectionSecretToRef", map[string]any{"name": "alice"}},
		"ConfigLocal":      {"A configuration may lie beside the Tenant.", "spec.providerConfigRef", map[string]any{"kind": "ProviderConfig", "name": "default"}},
		"ObserveOnly":      {"Crossplane's own fields work.", "spec.managementPolicies", []any{"Observe"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := with(t, tenant(t), tc.path, tc.value)
			if err := c.Create(t.Context(), u, client.DryRunAll, client.FieldValidation("Strict")); err != nil {
				t.Fatalf("%s\nCreate(...): %v", tc.reason, err)
			}
			equal(t, tc.reason, u, tc.path, tc.value)
		})
	}
}

func testTenantRefused(t *testing.T, c client.Client) {
	type refusal struct {
		reason string
		path   string
		value  any
		want   []string
	}

	cases := map[string]refusal{
		"NoUserID":       {"It is required.", "spec.userID", nil, []string{"spec.userID", "Required"}},
		"EmptyUserID":    {"It may not be empty.", "spec.userID", "", []string{"spec.userID"}},
		"UserIDSpace":    {"It must be a label's value.", "spec.userID", "a b", []string{"userID must be usable as a label value"}},
		"UserIDDashEnd":  {"It must be a label's value.", "spec.userID", "a-", []string{"userID must be usable as a label value"}},
		"UserIDTooLong":  {"It must be a label's value.", "spec.userID", strings.Repeat("a", 64), []string{"spec.userID", "63"}},
		"NoTenantName":   {"It is required.", "spec.tenantName", nil, []string{"spec.tenantName", "Required"}},
		"NameTooShort":   {"Two characters are too few.", "spec.tenantName", "ab", []string{"spec.tenantName", "3"}},
		"NameTooLong":    {"33 characters are too many.", "spec.tenantName", strings.Repeat("a", 33), []string{"spec.tenantName", "32"}},
		"NameUpper":      {"It goes into the names of objects.", "spec.tenantName", "Alice", []string{"tenantName must be 3 to 32 lower-case letters"}},
		"NameDot":        {"A namespace has no dots.", "spec.tenantName", "a.b", []string{"tenantName must be 3 to 32 lower-case letters"}},
		"NameDashStart":  {"It must begin with a letter or digit.", "spec.tenantName", "-alice", []string{"tenantName must be 3 to 32 lower-case letters"}},
		"NameDashEnd":    {"It must end with a letter or digit.", "spec.tenantName", "alice-", []string{"tenantName must be 3 to 32 lower-case letters"}},
		"NameNewline":    {"A line end at the end is no way around the rule.", "spec.tenantName", "alice\n", []string{"tenantName must be 3 to 32 lower-case letters"}},
		"NoCloudSpaceID": {"It is required.", "spec.cloudSpaceID", nil, []string{"spec.cloudSpaceID", "Required"}},
		"CloudSpaceDot":  {"It must be a label's value and a part of a name.", "spec.cloudSpaceID", "a..b", []string{"cloudSpaceID must be usable in a Secret name"}},
		"CloudSpaceUp":   {"The name of a Secret is lower-case.", "spec.cloudSpaceID", "7E9D", []string{"cloudSpaceID must be usable in a Secret name"}},
		"CloudSpaceLong": {"It must be a label's value.", "spec.cloudSpaceID", strings.Repeat("7", 64), []string{"spec.cloudSpaceID", "63"}},
		"ConfigKind":     {"It could never be corrected.", "spec.providerConfigRef", map[string]any{"kind": "ClusterProviderconfig", "name": "default"}, []string{"providerConfigRef.kind must be ProviderConfig or ClusterProviderConfig"}},
		"UnknownField":   {"A field that does not exist was meant to do something.", "spec.qouta", map[string]any{"cpu": "4"}, []string{"spec.qouta"}},
		"PodsZero":       {"A CloudSpace without pods is none.", "spec.quota.pods", int64(0), []string{"spec.quota.pods", "1"}},
		"PodsText":       {"A number is a number.", "spec.quota.pods", "ten", []string{"spec.quota.pods", "integer"}},
		"StorageZero":    {"Leave it out for no limit.", "spec.quota.storage", "0", []string{"quota.storage must be a quantity of bytes from 1Mi"}},
		"StorageHuge":    {"It is beyond all storage.", "spec.quota.storage", "2Ei", []string{"quota.storage must be a quantity of bytes from 1Mi"}},
		"ChartRange":     {"A range would change under the Tenant.", "spec.vcluster", map[string]any{"chartVersion": "0.36.x"}, []string{"vcluster.chartVersion must be an exact version"}},
		"ChartLatest":    {"So would a name.", "spec.vcluster", map[string]any{"chartVersion": "latest"}, []string{"vcluster.chartVersion must be an exact version"}},
		"Kubernetes":     {"A minor version is not exact.", "spec.vcluster", map[string]any{"kubernetesVersion": "1.36"}, []string{"vcluster.kubernetesVersion must be an exact version"}},
		"Distro":         {"Charts know two.", "spec.vcluster", map[string]any{"distro": "k0s"}, []string{"spec.vcluster.distro", "k3s", "k8s"}},
		"FluxRange":      {"A range would change under the Tenant.", "spec.flux", map[string]any{"chartVersion": "2.x"}, []string{"flux.chartVersion must be an exact version"}},
		"FluxText":       {"Values are not YAML in YAML.", "spec.flux", map[string]any{"valuesOverrides": "a: b"}, []string{"spec.flux.valuesOverrides", "object"}},
		"AdvisorImage":   {"It must be an image.", "spec.advisor", map[string]any{"image": "App Advisor"}, []string{"spec.advisor.image", "image must be an image reference"}},
		"AdvisorMany":    {"So many would take the host.", "spec.advisor", map[string]any{"replicas": int64(11)}, []string{"spec.advisor.replicas", "10"}},
		"ValuesList":     {"Values are an object.", "spec.vcluster", map[string]any{"valuesOverrides": []any{"a"}}, []string{"spec.vcluster.valuesOverrides", "object"}},
		"ConnectionIsKubeconfig": {
			"Two writers of one Secret would go on for ever.", "spec.writeConnectionSecretToRef",
			map[string]any{"name": "tenant-7e9d3a1b-0000-4000-8000-000000000002-kubeconfig"}, []string{"writeConnectionSecretToRef.name must not be"},
		},
		"AdvisorForEver": {
			"Who parses it works for years.", "spec.advisor", map[string]any{"resources": map[string]any{"limits": map[string]any{"cpu": "1e-999999999"}}},
			[]string{"spec.advisor.resources.limits", "should match"},
		},
		"RequestsForEver": {
			"Who adds to it needs all memory.", "spec.advisor", map[string]any{"resources": map[string]any{"requests": map[string]any{"x": "1e999999999"}}},
			[]string{"spec.advisor.resources.requests", "should match"},
		},
		"RequestsLost": {
			"Who reads it writes it as 1.", "spec.advisor", map[string]any{"resources": map[string]any{"requests": map[string]any{"x": "1000E"}}},
			[]string{"spec.advisor.resources.requests", "should match"},
		},
		"RequestsLostInDigits": {
			"In whatever form.", "spec.advisor", map[string]any{"resources": map[string]any{"requests": map[string]any{"x": "1" + strings.Repeat("0", 21)}}},
			[]string{"spec.advisor.resources.requests", "should match"},
		},
		"DivisorForEver": {
			"It is a quantity as well.", "spec.advisor", map[string]any{"env": []any{map[string]any{"name": "X", "valueFrom": map[string]any{
				"resourceFieldRef": map[string]any{"resource": "limits.cpu", "divisor": "1e-999999999"}}}}},
			[]string{"divisor", "should match"},
		},
		"StorageForEver": {"Who parses it works for years.", "spec.quota.storage", "1e-999999999", []string{"quota.storage must be"}},
		"ValuesText":     {"Values are not YAML in YAML.", "spec.vcluster", map[string]any{"valuesOverrides": "a: b"}, []string{"spec.vcluster.valuesOverrides", "object"}},
	}
	for name, value := range map[string]any{
		`Q4: "2\"; injected: true"`: `2"; injected: true`, "Q4: -1": "-1", "Q4: 0": "0", "Q4: 1e30": "1e30", "Q4: 4 cores": "4 cores",
		"Q4: -1 as a number": int64(-1), "Q4: 0 as a number": int64(0), "Q4: nothing": "", "Q4: NaN": "NaN", "Q4: two lines": "4\n",
		"Q4: small for ever": "1e-999999999", "Q4: large for ever": "1e999999999", "Q4: 33 digits": strings.Repeat("1", 33),
	} {
		for field, want := range map[string]string{
			"cpu":    "quota.cpu must be a quantity of cores above 0 and at most 100000",
			"memory": "quota.memory must be a quantity of bytes from 1Mi to 1Pi",
		} {
			cases[name+", "+field] = refusal{"Neither nonsense nor a limit that is none may reach the quota.", "spec.quota." + field, value, []string{"spec.quota." + field, want}}
		}
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			u := with(t, tenant(t), tc.path, tc.value)
			err := c.Create(t.Context(), u, client.DryRunAll, client.FieldValidation("Strict"))
			refused(t, tc.reason, err, tc.want...)
		})
	}
}

func testTenantImmutable(t *testing.T, c client.Client) {
	u := tenant(t)
	create(t, c, u)

	cases := map[string]struct {
		reason string
		path   string
		value  any
		want   []string
	}{
		"UserID":       {"The owner cannot change.", "spec.userID", "other", []string{"spec.userID", "userID is immutable"}},
		"TenantName":   {"All names hang on it.", "spec.tenantName", "other", []string{"spec.tenantName", "tenantName is immutable"}},
		"CloudSpaceID": {"The kubeconfig's Secret hangs on it.", "spec.cloudSpaceID", "other", []string{"spec.cloudSpaceID", "cloudSpaceID is immutable"}},
		"ConfigName":   {"A CloudSpace cannot move to another cluster.", "spec.providerConfigRef.name", "other", []string{"providerConfigRef is immutable"}},
		"ConfigKind":   {"Nor by naming another kind.", "spec.providerConfigRef.kind", "ProviderConfig", []string{"providerConfigRef is immutable"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			err := c.Update(t.Context(), with(t, u, tc.path, tc.value), client.DryRunAll)
			refused(t, tc.reason, err, tc.want...)
		})
	}

	for path, value := range map[string]any{
		"spec.quota.cpu": "8", "spec.quota.memory": "16Gi", "spec.quota.storage": "10Gi",
		"spec.flux": map[string]any{"enabled": false}, "spec.advisor": map[string]any{"image": "a/b:c"},
		"spec.vcluster": map[string]any{"chartVersion": "0.36.1"}, "metadata.labels": map[string]any{"a": "b"},
	} {
		if err := c.Update(t.Context(), with(t, u, path, value), client.DryRunAll); err != nil {
			t.Errorf("Everything else may change.\nUpdate(%s): %v", path, err)
		}
	}
}

func testTenantStatus(t *testing.T, c client.Client) {
	u := tenant(t)
	create(t, c, u)

	reason := "A status written with the spec is dropped."
	got := with(t, u, "status.phase", "Ready")
	if err := c.Update(t.Context(), got); err != nil {
		t.Fatalf("%s\nUpdate(...): %v", reason, err)
	}
	equal(t, reason, got, "status.phase", "Pending")

	for _, phase := range []string{"Pending", "Provisioning", "InstallingFlux", "Ready", "Failed", "Deleting"} {
		reason := "The provider writes each phase."
		got := with(t, got, "status.phase", phase)
		if err := c.Status().Update(t.Context(), got, client.DryRunAll); err != nil {
			t.Errorf("%s\nStatus().Update(%q): %v", reason, phase, err)
		}
	}

	err := c.Status().Update(t.Context(), with(t, got, "status.phase", "Great"), client.DryRunAll)
	refused(t, "No other phase is known.", err, "status.phase", "Provisioning")

	spec := got.DeepCopy()
	if err := c.Status().Update(t.Context(), with(t, spec, "spec.quota.cpu", "9")); err != nil {
		t.Fatalf("Status().Update(spec): %v", err)
	}
	if err := c.Get(t.Context(), client.ObjectKeyFromObject(spec), spec); err != nil {
		t.Fatalf("Get(...): %v", err)
	}
	if diff := cmp.Diff(got.Object["spec"], spec.Object["spec"]); diff != "" {
		t.Errorf("A write to the status leaves the spec as it is: -want, +got:\n%s", diff)
	}
}
