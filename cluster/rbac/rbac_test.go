// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rbac

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func load(t *testing.T) Rules {
	t.Helper()
	r, err := Load()
	if err != nil {
		t.Fatalf("Load(): %v", err)
	}
	return r
}

// extraSync are the rules of the manifest that is optional.
func extraSync(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	raw, err := os.ReadFile("extra-sync.yaml")
	if err != nil {
		t.Fatal(err)
	}
	roles, err := read(raw)
	if err != nil || len(roles["provider-kubeopera-extra-sync"]) == 0 {
		t.Fatalf("read(...): %v, %v", roles, err)
	}
	return roles["provider-kubeopera-extra-sync"]
}

func expectCovered(t *testing.T, holder string, has, want []rbacv1.PolicyRule) {
	t.Helper()
	if len(want) == 0 {
		t.Error("There is nothing to cover; the test is wrong.")
	}
	if ok, missing := validation.Covers(has, want); !ok {
		t.Errorf("Kubernetes refuses a role that grants more than its maker holds; %s lacks %v", holder, missing)
	}
}

func TestReadRefuses(t *testing.T) {
	t.Parallel()
	if _, err := read([]byte("rules: [")); err == nil {
		t.Error("What cannot be read gives no rules.")
	}
}

// TestPlainInstallBindsAll holds that a plain install gives the account all that the
// program reviews.
func TestPlainInstallBindsAll(t *testing.T) {
	t.Parallel()
	bindings, err := decode[rbacv1.ClusterRoleBinding](plainInstall)
	if err != nil {
		t.Fatal(err)
	}
	bound := map[string]bool{}
	for _, b := range bindings {
		for _, s := range b.Subjects {
			if s.Kind == rbacv1.ServiceAccountKind && s.Name == "provider-kubeopera" && s.Namespace == "kubeopera-system" {
				bound[b.RoleRef.Kind+"/"+b.RoleRef.Name] = true
			}
		}
	}
	want := map[string]bool{"ClusterRole/" + providerRole: true, "ClusterRole/" + hostRole: true, "Role/" + reportsRole: true}
	if diff := cmp.Diff(want, bound); diff != "" {
		t.Errorf("provider.yaml binds what there is: -want, +got:\n%s", diff)
	}
}

// TestHostCoversTheChartsRole renders the real charts that can be had.
func TestHostCoversTheChartsRole(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.34.0", "0.36.1"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			g := render(t, version, v1alpha1.DistroK8s, nil)
			expectCovered(t, "the host's ClusterRole", load(t).Host, g.namespaced)
			if g.kinds["ClusterRole"] || g.kinds["ClusterRoleBinding"] {
				t.Errorf("With the provider's values the chart makes nothing outside of the namespace; it grants %v", g.clusterWide)
			}
		})
	}
}

// chartRules are what the Roles of charts 0.20 to 0.36 grant a control plane with the
// provider's values, and from which version on. The charts differ by these only.
func chartRules() map[string]rbacv1.PolicyRule {
	rule := func(group string, resources []string, verbs ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: verbs}
	}
	all := []string{"create", "delete", "patch", "update", "get", "list", "watch"}
	look := []string{"get", "list", "watch"}
	workloads := []string{"statefulsets", "replicasets", "deployments"}
	return map[string]rbacv1.PolicyRule{
		"0.20.0 core": rule("", []string{
			"configmaps", "secrets", "services", "serviceaccounts", "pods", "pods/attach", "pods/portforward", "pods/exec",
			"persistentvolumeclaims", "endpoints",
		}, all...),
		"0.20.0 pod status":     rule("", []string{"pods/status", "pods/ephemeralcontainers"}, "patch", "update"),
		"0.20.0 pod logs":       rule("", []string{"pods/log"}, look...),
		"0.20.0 events":         rule("", []string{"events"}, look...),
		"0.20.0 workloads":      rule("apps", workloads, look...),
		"0.20.0 ingresses":      rule("networking.k8s.io", []string{"ingresses"}, all...),
		"0.29.0 events":         rule("", []string{"events"}, "create"),
		"0.30.0 endpointslices": rule("discovery.k8s.io", []string{"endpointslices"}, all...),
		"0.31.3 workloads":      rule("apps", workloads, "patch", "update"),
		"0.32.0 events":         rule("events.k8s.io", []string{"events"}, "create", "get", "list", "watch"),
		"0.32.0 pod size":       rule("", []string{"pods/resize"}, "patch", "update"),
	}
}

// TestHostCoversOlderCharts holds the charts that no module has.
func TestHostCoversOlderCharts(t *testing.T) {
	t.Parallel()
	host := load(t).Host
	var all []rbacv1.PolicyRule
	for since, rule := range chartRules() {
		t.Run(since, func(t *testing.T) { expectCovered(t, "the host's ClusterRole", host, []rbacv1.PolicyRule{rule}) })
		all = append(all, rule)
	}
	// The table is no less than what the newest chart really grants.
	expectCovered(t, "the table of this test", all, render(t, "0.36.1", v1alpha1.DistroK8s, nil).namespaced)
}

func on() map[string]any { return map[string]any{"enabled": true} }

// TestExtraSync renders the chart with what extra-sync.yaml is for.
func TestExtraSync(t *testing.T) {
	t.Parallel()
	nodes := on()
	nodes["syncBackChanges"] = true
	replicas := map[string]any{"statefulSet": map[string]any{"highAvailability": map[string]any{"replicas": int64(3)}}}

	type values = map[string]any
	type sync struct {
		reason    string
		overrides values
	}
	cases := map[string]sync{
		"nodes":             {"The host's nodes are shown inside, and changes of them handed back.", values{"sync": values{"fromHost": values{"nodes": nodes}}}},
		"namespaces":        {"Namespaces inside become some of the host.", values{"sync": values{"toHost": values{"namespaces": values{"enabled": true, "mappings": values{"byName": values{"a": "b"}}}}}}},
		"virtual scheduler": {"A scheduler of its own looks at nodes and volumes.", values{"controlPlane": values{"advanced": values{"virtualScheduler": on()}}}},
		"replicas":          {"Several replicas choose a leader.", values{"controlPlane": replicas}},
		"metrics":           {"Metrics come from the host's metrics server.", values{"integrations": values{"metricsServer": values{"enabled": true, "nodes": true, "pods": true}}}},
		"services":          {"Services of other namespaces are shown inside.", values{"networking": values{"replicateServices": values{"fromHost": []any{values{"from": "a/b", "to": "c/d"}}}}}},
	}
	for _, k := range []string{"storageClasses", "ingressClasses", "runtimeClasses", "priorityClasses", "csiNodes", "csiDrivers", "csiStorageCapacities"} {
		cases["from host "+k] = sync{"Those of the host are shown inside.", values{"sync": values{"fromHost": values{k: on()}}}}
	}
	for _, k := range []string{"storageClasses", "persistentVolumes", "priorityClasses", "networkPolicies", "podDisruptionBudgets"} {
		cases["to host "+k] = sync{"Those inside become some of the host.", values{"sync": values{"toHost": values{k: on()}}}}
	}
	host, extra := load(t).Host, extraSync(t)
	var used []rbacv1.PolicyRule
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Log(tc.reason)
			g := render(t, "0.36.1", v1alpha1.DistroK8s, tc.overrides)
			grants := slices.Concat(g.namespaced, g.clusterWide)
			expectCovered(t, "the two ClusterRoles together", slices.Concat(host, extra), grants)
			used = append(used, grants...)
			if ok, _ := validation.Covers(host, grants); ok && !g.kinds["ClusterRole"] {
				t.Error("It needs nothing beyond the host's ClusterRole; the test is wrong.")
			}
		})
	}
	// All that the provider itself does with it is with what roles leave.
	used = append(used, rbacv1.PolicyRule{
		APIGroups: []string{rbacv1.GroupName}, Resources: []string{"clusterroles", "clusterrolebindings"}, Verbs: []string{"create", "patch", "delete"},
	})
	if ok, more := validation.Covers(used, extra); !ok {
		t.Errorf("No rule is there that is for nothing; these are: %v", more)
	}
}

// TestNoClusterAdmin holds what would make the provider equal to cluster-admin out
// of all manifests.
func TestNoClusterAdmin(t *testing.T) {
	t.Parallel()
	r := load(t)
	for name, rules := range map[string][]rbacv1.PolicyRule{
		"provider": r.Provider, "host": r.Host, "reports": r.Reports, "extra-sync": extraSync(t),
	} {
		for _, rule := range rules {
			for _, word := range slices.Concat(rule.APIGroups, rule.Resources, rule.Verbs) {
				if slices.Contains([]string{"*", "escalate", "bind", "impersonate"}, word) {
					t.Errorf("%s: %q in %v gives more than it says", name, word, rule)
				}
			}
			if name != "extra-sync" && slices.Contains(rule.Resources, "clusterroles") && fmt.Sprint(rule.Verbs) != "[get]" {
				t.Errorf("%s: ClusterRoles are only looked at, got %v", name, rule.Verbs)
			}
		}
	}
}
