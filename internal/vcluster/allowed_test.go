// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// dangerous are overrides by which who writes a Tenant would get out of it, reach the host's rights or stand
// in the way of the host.
var dangerous = map[string]string{
	"the build that runs":                 `{"controlPlane": {"statefulSet": {"image": {"repository": "evil/vcluster"}}}}`,
	"its registry":                        `{"controlPlane": {"advanced": {"defaultImageRegistry": "evil.example.com"}}}`,
	"its tag":                             `{"controlPlane": {"statefulSet": {"image": {"tag": "evil"}}}}`,
	"its command":                         `{"controlPlane": {"statefulSet": {"command": ["sh"]}}}`,
	"its arguments":                       `{"controlPlane": {"statefulSet": {"args": ["-c", "id"]}}}`,
	"its environment":                     `{"controlPlane": {"statefulSet": {"env": [{"name": "X", "value": "y"}]}}}`,
	"the image of Kubernetes":             `{"controlPlane": {"distro": {"k8s": {"image": {"repository": "evil/kubernetes"}}}}}`,
	"the tag of Kubernetes":               `{"controlPlane": {"distro": {"k8s": {"image": {"tag": "evil"}}}}}`,
	"the version of Kubernetes":           `{"controlPlane": {"distro": {"k8s": {"version": "v1.36.0@sha256:0"}}}}`,
	"the API server's command":            `{"controlPlane": {"distro": {"k8s": {"apiServer": {"command": ["sh"]}}}}}`,
	"the API server's arguments":          `{"controlPlane": {"distro": {"k8s": {"apiServer": {"extraArgs": ["--profiling"]}}}}}`,
	"the environment of Kubernetes":       `{"controlPlane": {"distro": {"k8s": {"env": [{"name": "X"}]}}}}`,
	"the rights of Kubernetes' container": `{"controlPlane": {"distro": {"k8s": {"securityContext": {"privileged": true}}}}}`,
	"the scheduler":                       `{"controlPlane": {"distro": {"k8s": {"scheduler": {"enabled": true}}}}}`,
	"the rights of its container":         `{"controlPlane": {"statefulSet": {"security": {"containerSecurityContext": {"privileged": true}}}}}`,
	"the rights of its pod":               `{"controlPlane": {"statefulSet": {"security": {"podSecurityContext": {"sysctls": []}}}}}`,
	"a volume of the node":                `{"controlPlane": {"statefulSet": {"persistence": {"addVolumes": [{"name": "x", "hostPath": {"path": "/"}}]}}}}`,
	"a mount of it":                       `{"controlPlane": {"statefulSet": {"persistence": {"addVolumeMounts": [{"name": "x", "mountPath": "/x"}]}}}}`,
	"the volume of its data":              `{"controlPlane": {"statefulSet": {"persistence": {"dataVolume": [{"name": "data", "hostPath": {"path": "/"}}]}}}}`,
	"the volume of its programs":          `{"controlPlane": {"statefulSet": {"persistence": {"binariesVolume": [{"name": "binaries", "hostPath": {"path": "/"}}]}}}}`,
	"claims of its own":                   `{"controlPlane": {"statefulSet": {"persistence": {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {"volumeName": "theirs"}}]}}}}`,
	"another container":                   `{"controlPlane": {"statefulSet": {"sidecarContainers": [{"name": "x", "image": "evil"}]}}}`,
	"another init container":              `{"controlPlane": {"statefulSet": {"initContainers": [{"name": "x", "image": "evil"}]}}}`,
	"the name of a host":                  `{"controlPlane": {"statefulSet": {"hostAliases": [{"ip": "10.0.0.1", "hostnames": ["ghcr.io"]}]}}}`,
	"the class of its runtime":            `{"controlPlane": {"statefulSet": {"runtimeClassName": "none"}}}`,
	"its name service":                    `{"controlPlane": {"statefulSet": {"dnsPolicy": "Default"}}}`,
	"its labels":                          `{"controlPlane": {"statefulSet": {"labels": {"app": "other"}}}}`,
	"the labels of its pods":              `{"controlPlane": {"statefulSet": {"pods": {"labels": {"kubeopera.io/tenant-id": "other"}}}}}`,
	"the annotations of its pods":         `{"controlPlane": {"statefulSet": {"pods": {"annotations": {"sidecar.istio.io/inject": "true"}}}}}`,
	"its nodes":                           `{"controlPlane": {"statefulSet": {"scheduling": {"nodeSelector": {"node-role.kubernetes.io/control-plane": ""}}}}}`,
	"its tolerations":                     `{"controlPlane": {"statefulSet": {"scheduling": {"tolerations": [{"operator": "Exists"}]}}}}`,
	"its priority":                        `{"controlPlane": {"statefulSet": {"scheduling": {"priorityClassName": "system-node-critical"}}}}`,
	"several control planes":              `{"controlPlane": {"statefulSet": {"highAvailability": {"replicas": 3}}}}`,
	"the priority of pods":                `{"sync": {"toHost": {"pods": {"priorityClassName": "system-node-critical"}}}}`,
	"the image of an init container":      `{"sync": {"toHost": {"pods": {"rewriteHosts": {"initContainer": {"image": {"repository": "evil"}}}}}}}`,
	"changes of pods":                     `{"sync": {"toHost": {"pods": {"patches": [{"path": "spec.hostNetwork", "expression": "true"}]}}}}`,
	"changes of services":                 `{"sync": {"toHost": {"services": {"patches": [{"path": "spec.externalIPs", "expression": "[]"}]}}}}`,
	"the host's schedulers":               `{"sync": {"toHost": {"pods": {"hybridScheduling": {"enabled": true}}}}}`,
	"network policies":                    synced("toHost", "networkPolicies"),
	"namespaces":                          synced("toHost", "namespaces"),
	"priority classes":                    synced("toHost", "priorityClasses"),
	"storage classes":                     synced("toHost", "storageClasses"),
	"volumes":                             synced("toHost", "persistentVolumes"),
	"snapshots":                           synced("toHost", "volumeSnapshots"),
	"the contents of snapshots":           synced("toHost", "volumeSnapshotContents"),
	"disruption budgets":                  synced("toHost", "podDisruptionBudgets"),
	"routes":                              synced("toHost", "gatewayApi"),
	"claims of devices":                   synced("toHost", "resourceClaims"),
	"custom resources":                    `{"sync": {"toHost": {"customResources": {"tenants.kubeopera.io": {"enabled": true}}}}}`,
	"custom resources of the host":        `{"sync": {"fromHost": {"customResources": {"tenants.kubeopera.io": {"enabled": true}}}}}`,
	"nodes":                               synced("fromHost", "nodes"),
	"changes of nodes":                    `{"sync": {"fromHost": {"nodes": {"syncBackChanges": true}}}}`,
	"secrets of the host":                 `{"sync": {"fromHost": {"secrets": {"enabled": true, "mappings": {"byName": {"kube-system/*": "x/*"}}}}}}`,
	"config maps of the host":             synced("fromHost", "configMaps"),
	"classes of the host":                 synced("fromHost", "storageClasses"),
	"its roles":                           `{"rbac": {"role": {"extraRules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}}}`,
	"its cluster roles":                   `{"rbac": {"clusterRole": {"enabled": true, "overwriteRules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]}}}`,
	"its account":                         `{"controlPlane": {"advanced": {"serviceAccount": {"name": "default"}}}}`,
	"the account of pods":                 `{"controlPlane": {"advanced": {"workloadServiceAccount": {"annotations": {"eks.amazonaws.com/role-arn": "x"}}}}}`,
	"annotations of everything":           `{"controlPlane": {"advanced": {"globalMetadata": {"annotations": {"a": "b"}}}}}`,
	"a scheduler of its own":              `{"controlPlane": {"advanced": {"virtualScheduler": {"enabled": true}}}}`,
	"an address of the network":           `{"controlPlane": {"advanced": {"kubeVip": {"enabled": true}}}}`,
	"its own disruption budget":           `{"controlPlane": {"advanced": {"podDisruptionBudget": {"enabled": true, "minAvailable": 1}}}}`,
	"a service of the whole network":      `{"controlPlane": {"service": {"spec": {"type": "LoadBalancer"}}}}`,
	"a port of all nodes":                 `{"controlPlane": {"service": {"httpsNodePort": 30000}}}`,
	"annotations of its service":          `{"controlPlane": {"service": {"annotations": {"external-dns.alpha.kubernetes.io/hostname": "bank.example.com"}}}}`,
	"a host name":                         `{"controlPlane": {"ingress": {"enabled": true, "host": "bank.example.com"}}}`,
	"a host name by a route":              `{"controlPlane": {"tlsRoute": {"enabled": true}}}`,
	"what is monitored":                   `{"controlPlane": {"serviceMonitor": {"enabled": true}}}`,
	"paths of the node":                   `{"controlPlane": {"hostPathMapper": {"enabled": true, "central": true}}}`,
	"the address it listens on":           `{"controlPlane": {"proxy": {"bindAddress": "127.0.0.1"}}}`,
	"another store":                       `{"controlPlane": {"backingStore": {"database": {"external": {"enabled": true, "dataSource": "mysql://x"}}}}}`,
	"the image of its store":              `{"controlPlane": {"backingStore": {"etcd": {"deploy": {"statefulSet": {"image": {"repository": "evil"}}}}}}}`,
	"the arguments of its store":          `{"controlPlane": {"backingStore": {"etcd": {"deploy": {"statefulSet": {"extraArgs": ["--x"]}}}}}}`,
	"the objects of CoreDNS":              `{"controlPlane": {"coredns": {"overwriteManifests": "x"}}}`,
	"the image of CoreDNS":                `{"controlPlane": {"coredns": {"deployment": {"image": "evil"}}}}`,
	"services of other namespaces":        `{"networking": {"replicateServices": {"fromHost": [{"from": "other/x", "to": "default/x"}]}}}`,
	"names of the host":                   `{"networking": {"advanced": {"fallbackHostCluster": true}}}`,
	"where names lead":                    `{"networking": {"resolveDNS": [{"hostname": "x"}]}}`,
	"a policy of the chart's":             `{"policies": {"networkPolicy": {"enabled": true}}}`,
	"a quota of the chart's":              `{"policies": {"resourceQuota": {"enabled": true}}}`,
	"admission":                           `{"policies": {"centralAdmission": {"validatingWebhooks": []}}}`,
	"a plugin":                            `{"plugins": {"x": {"image": "evil"}}}`,
	"an old plugin":                       `{"plugin": {"x": {"image": "evil", "version": "v2"}}}`,
	"objects on the host":                 `{"experimental": {"deploy": {"host": {"manifests": "x"}}}}`,
	"objects inside":                      `{"experimental": {"deploy": {"vcluster": {"manifests": "x"}}}}`,
	"how it syncs":                        `{"experimental": {"syncSettings": {"setOwner": true}}}`,
	"where its kubeconfig goes":           `{"exportKubeConfig": {"additionalSecrets": [{"namespace": "kube-system", "name": "x"}]}}`,
	"whom its kubeconfig is for":          `{"exportKubeConfig": {"server": "https://evil.example.com"}}`,
	"integrations":                        `{"integrations": {"metricsServer": {"enabled": true}}}`,
	"nodes of its own":                    `{"privateNodes": {"enabled": true}}`,
	"the platform":                        `{"platform": {"apiKey": {"namespace": "kube-system", "secretName": "x"}}}`,
	"an external platform":                `{"external": {"platform": {}}}`,
	"a licence":                           `{"pro": true}`,
	"what it tells to others":             `{"telemetry": {"enabled": true}}`,
	"sleep":                               `{"sleepMode": {"enabled": true}}`,
	"what nobody knows":                   `{"new": {"thing": 1}}`,
	"nothing at all":                      `{"controlPlane": null}`,
	"a part that is gone":                 `{"controlPlane": {"statefulSet": null}}`,
	"a list that is gone":                 `{"controlPlane": {"distro": {"k8s": {"controllerManager": {"extraArgs": null}}}}}`,
	"a part of another kind":              `{"sync": "all"}`,
	"a default of the chart":              `{"policies": null}`,
	"a path in one key":                   `{"controlPlane.coredns.enabled": false}`,
	"an empty key":                        `{"": 1}`,
}

func synced(way, kind string) string {
	return fmt.Sprintf(`{"sync": {%q: {%q: {"enabled": true}}}}`, way, kind)
}

func TestDangerousOverridesAreRefused(t *testing.T) {
	t.Parallel()

	for name, overrides := range dangerous {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for _, chart := range []string{"0.20.4", "0.36.1"} {
				s := aliceSpec(chart)
				s.Distro, s.Overrides = v1alpha1.DistroK8s, fromJSON(t, overrides)

				if got, err := Values(s); !errors.Is(err, ErrOverrideNotAllowed) {
					t.Errorf("%s takes %s: %v, %v", chart, overrides, got, err)
				}

				s.Allowed = []string{AllowAll}
				if _, err := Values(s); err != nil {
					t.Errorf("%s with all allowed: %v", chart, err)
				}
			}
		})
	}
}

func TestAllowed(t *testing.T) {
	t.Parallel()

	const own = `{"a": {"b": {"c": 1, "l": [1, 2]}, "n": "x"}}`

	many := `{"z": 1`
	for i := range 12 {
		many += fmt.Sprintf(`, "k%02d": 1`, i)
	}

	cases := map[string]struct {
		reason  string
		over    string
		allowed []string
		// refused are the paths that the error names; none means that all is allowed.
		refused string
	}{
		"nothing":              {"no difference", `{}`, []string{}, ""},
		"the same":             {"what the provider says itself", `{"a": {"b": {"c": 1, "l": [1, 2]}, "n": "x"}}`, []string{}, ""},
		"the same number":      {"an int and a float", `{"a": {"b": {"c": 1.0, "l": [1.0, 2e0]}}}`, []string{}, ""},
		"empty over a map":     {"it changes nothing", `{"a": {}}`, []string{}, ""},
		"empty list":           {"nothing is allowed", `{"a": {"b": {"c": 2}}}`, []string{}, "a.b.c"},
		"the path":             {"exactly", `{"a": {"b": {"c": 2}}}`, []string{"a.b.c"}, ""},
		"below":                {"a path allows all below it", `{"a": {"b": {"c": {"d": 5}}}}`, []string{"a.b"}, ""},
		"null allowed":         {"a default of the chart that is taken away is none of its values", `{"a": {"b": {"new": null}}}`, []string{"a.b"}, "a null, which takes a default of the chart away, in a.b.new"},
		"null deep":            {"wherever it stands", `{"a": {"b": {"new": {"d": [{"e": null}]}}}}`, []string{"a.b"}, "a null, which takes a default of the chart away, in a.b.new.d"},
		"above":                {"but nothing above it", `{"a": {"b": 1}}`, []string{"a.b.c"}, "a.b"},
		"beside":               {"nor beside it", `{"a": {"b": {"c": 2}, "n": "y"}}`, []string{"a.b"}, "a.n"},
		"longer key":           {"a key that begins alike", `{"a": {"bc": 2}}`, []string{"a.b"}, "a.bc"},
		"all":                  {"everything", `{"a": null, "z": {"y": "1\n2"}}`, []string{"x", AllowAll}, ""},
		"new":                  {"the leaves are named", `{"x": {"y": {"z": 1}, "w": 2}}`, []string{"x.w"}, "x.y.z"},
		"new and empty":        {"it may take a default's place", `{"x": {}}`, []string{"x.y"}, "x"},
		"new and null":         {"Helm deletes a default", `{"x": {"y": null}}`, []string{}, "x.y"},
		"null":                 {"the provider's own is gone", `{"a": {"b": {"c": null}}}`, []string{}, "a.b.c"},
		"null of a map":        {"with all below it", `{"a": null}`, []string{"a.b", "a.n"}, "a"},
		"scalar over a map":    {"the map is gone", `{"a": {"b": 1}}`, []string{"a.b.c", "a.b.l"}, "a.b"},
		"map over a scalar":    {"the scalar is gone", `{"a": {"n": {"o": 1}}}`, []string{"a.n.o"}, "a.n"},
		"list":                 {"a list is one value", `{"a": {"b": {"l": [1, 2, 3]}}}`, []string{"a.b.l.2"}, "a.b.l"},
		"list in another way":  {"its order counts", `{"a": {"b": {"l": [2, 1]}}}`, []string{}, "a.b.l"},
		"text for a number":    {"the chart may see a difference", `{"a": {"b": {"c": "1"}}}`, []string{}, "a.b.c"},
		"dots in a key":        {"they separate nothing", `{"a.b": 1, "a": {"b.c": 1}}`, []string{"a.b"}, `a."b.c", "a.b"`},
		"several":              {"all are named, in order", `{"z": 1, "a": {"n": "y", "b": {"c": 3}}}`, []string{}, "a.b.c, a.n, z"},
		"many":                 {"ten are named", many + `}`, []string{}, "k00, k01, k02, k03, k04, k05, k06, k07, k08, k09 and 3 more"},
		"line break":           {"it may end a line of a manifest", `{"a": {"n": "y\nz: 1"}}`, []string{"a"}, "a line break or another control character in a.n"},
		"line break in a list": {"wherever it stands", `{"a": {"b": {"l": [{"x": ["\u2028"]}]}}}`, []string{"a"}, "a line break or another control character in a.b.l"},
		"line break in a key":  {"or in a key", `{"a": {"x\ry": 1, "l": [{"\u0085": 1}]}}`, []string{"a"}, `a line break or another control character in a.l, a."x\ry"`},
		"both":                 {"what is refused comes first", `{"a": {"n": "\n"}, "z": 1}`, []string{"a"}, "z; a line break or another control character in a.n"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			base := fromJSON(t, own)
			base["a"].(map[string]any)["b"].(map[string]any)["c"] = int64(1)

			err := checkAllowed(base, Merge(base, fromJSON(t, tc.over)), tc.allowed)

			want := ""
			if tc.refused != "" {
				want = ErrOverrideNotAllowed.Error() + ": " + tc.refused
			}

			if got := fmt.Sprint(err); (err == nil) != (want == "") || (err != nil && got != want) {
				t.Errorf("%s: want %q, got %q", tc.reason, want, got)
			}

			if err != nil && !errors.Is(err, ErrOverrideNotAllowed) {
				t.Errorf("%s: it is no %v", tc.reason, ErrOverrideNotAllowed)
			}
		})
	}
}

// TestShownPathsAreBounded holds a message short, whatever the keys are.
func TestShownPathsAreBounded(t *testing.T) {
	t.Parallel()

	deep := map[string]any{"end": 1}
	for range 1000 {
		deep = map[string]any{"level": deep}
	}

	for name, over := range map[string]map[string]any{
		"long":  {strings.Repeat("ä", 1<<20): 1},
		"deep":  deep,
		"quote": {strings.Repeat("\"\n", 1<<20): 1},
	} {
		err := checkAllowed(nil, Merge(nil, over), []string{})
		if !errors.Is(err, ErrOverrideNotAllowed) || len(err.Error()) > 5*maxShownPath || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %.2000s", name, fmt.Sprint(err))
		}
	}
}

// TestDefaultAllowedAreKnown holds every path against the charts: one that none of them has allows nothing,
// or what a later chart makes of it.
func TestDefaultAllowedAreKnown(t *testing.T) {
	t.Parallel()

	schemas := []string{"0.20.4", "0.21.2", "0.30.4", "0.33.4", "0.34.0", "0.36.1"}

	for _, path := range defaultAllowed {
		known := slices.ContainsFunc(schemas, func(version string) bool {
			doc := rawSchema(t, version)
			return len(undeclared(doc, doc, nested(path, nil), "")) == 0
		})
		if !known {
			t.Errorf("no chart has %s", path)
		}
	}

	for i, path := range defaultAllowed {
		others := slices.Delete(slices.Clone(defaultAllowed), i, i+1)
		if allows(others, strings.Split(path, ".")) {
			t.Errorf("%s is allowed by another path", path)
		}
	}
}
