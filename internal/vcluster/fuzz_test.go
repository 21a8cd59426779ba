// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation"
)

// What the schema of a Tenant takes for a name and for an id.
var (
	tenantNames   = regexp.MustCompile(`^[a-z0-9][a-z0-9-]{1,30}[a-z0-9]$`)
	cloudSpaceIDs = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// FuzzNames holds that all that is named after a Tenant can be created on a host, and that two Tenants share
// no name.
func FuzzNames(f *testing.F) {
	f.Add("alice-default", "7e9d3a1b-0000-4000-8000-000000000002", "bob-default")
	f.Add(strings.Repeat("a", 32), strings.Repeat("0", 63), strings.Repeat("a", 31))
	f.Add("a--", "-", "\x00")
	f.Add("vc-a", "a", "a-x-vc-a")
	f.Fuzz(func(t *testing.T, name, id, other string) {
		if !tenantNames.MatchString(name) || !cloudSpaceIDs.MatchString(id) {
			return
		}

		release, namespace := ReleaseName(name), HostNamespace(name)

		for _, n := range ClusterRoleNames(release, namespace) {
			if wrong := content.IsPathSegmentName(n); len(wrong) > 0 || len(n) > maxName {
				t.Errorf("the ClusterRole %q of tenantName %q cannot be named: %v", n, name, wrong)
			}
		}

		for _, l := range []string{release, namespace, ExportedSecretName(release)} {
			if wrong := validation.IsDNS1123Label(l); len(wrong) > 0 {
				t.Errorf("%q of tenantName %q is no DNS label: %v", l, name, wrong)
			}
		}

		if wrong := validation.IsDNS1123Subdomain(KubeconfigSecretName(id)); len(wrong) > 0 {
			t.Errorf("the Secret of cloudSpaceID %q cannot be named: %v", id, wrong)
		}

		if wrong := validation.IsDNS1123Subdomain(ServiceHost(release, namespace)); len(wrong) > 0 {
			t.Errorf("tenantName %q has no host name: %v", name, wrong)
		}

		values := ControlPlaneLabels(release)
		values[LabelSyncedBy] = ClusterSyncOwner(release, namespace)

		for _, v := range values {
			if wrong := validation.IsValidLabelValue(v); len(wrong) > 0 {
				t.Errorf("%q of tenantName %q is no value of a label: %v", v, name, wrong)
			}
		}

		if tenantNames.MatchString(other) && other != name {
			theirs := append(ClusterRoleNames(ReleaseName(other), HostNamespace(other)), ClusterSyncOwner(ReleaseName(other), HostNamespace(other)))
			for i, ours := range append(ClusterRoleNames(release, namespace), ClusterSyncOwner(release, namespace)) {
				if ours == theirs[i] {
					t.Errorf("%q and %q are both named %q", name, other, ours)
				}
			}
		}
	})
}

// FuzzChartVersion holds that a version is taken or an ErrUnsupportedChartVersion, and is taken again as it is
// written.
func FuzzChartVersion(f *testing.F) {
	for _, s := range []string{"0.21.2", "v0.36.1", "0.36.1-rc.1+x", "0.36", "latest", "", "0.99999999999999999999.0", "1.0.0", "0.20.0-alpha"} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, s string) {
		v, err := ParseChartVersion(s)
		if err != nil {
			if !errors.Is(err, ErrUnsupportedChartVersion) {
				t.Errorf("%q: %v", s, err)
			}

			return
		}

		again, err := ParseChartVersion(v.String())
		if err != nil || again.String() != v.String() {
			t.Errorf("%q is %s, which is %s, %v", s, v, again, err)
		}

		if d := v.defaultDistro(); !v.hasDistro(d) {
			t.Errorf("%s has not its own default %s", v, d)
		}
	})
}

// FuzzAllowed holds that what the guard lets through differs from the provider's own values at allowed paths
// only, and that it is the same for the same overrides.
func FuzzAllowed(f *testing.F) {
	f.Add("0.36.1", `{}`, "")
	f.Add("0.36.1", `{"controlPlane":{"coredns":{"enabled":false},"statefulSet":null}}`, "")
	f.Add("0.21.2", `{"logging":{"encoding":"json\nx"}}`, "logging")
	f.Add("0.30.4", `{"sync":[],"controlPlane.coredns":1}`, "sync,controlPlane")
	f.Add("0.36.1", `{"controlPlane":{"statefulSet":{"resources":{"limits":{"cpu":2,"memory":"4Gi"}}}}}`, "*")

	for _, overrides := range dangerous {
		f.Add("0.36.1", overrides, "")
	}

	f.Fuzz(func(t *testing.T, chart, overrides, allowed string) {
		s := aliceSpec(chart)

		own, err := Values(s)
		if err != nil || json.Unmarshal([]byte(overrides), &s.Overrides) != nil {
			return
		}

		paths := defaultAllowed
		if allowed != "" {
			s.Allowed = strings.Split(allowed, ",")
			paths = s.Allowed
		}

		values, err := Values(s)
		if err != nil {
			if len(err.Error()) > 4000 || strings.ContainsAny(err.Error(), "\n\x00") {
				t.Errorf("the error is long, or not of one line: %.5000s", err)
			}

			return
		}

		if strings.Contains(","+allowed+",", ",*,") {
			return
		}

		// Without what lies at allowed paths, nothing is left that differs.
		left, right := copyMap(own), copyMap(values)
		for _, p := range paths {
			cut(left, strings.Split(p, "."))
			cut(right, strings.Split(p, "."))
		}

		if diff := cmp.Diff(floats(prune(left)), floats(prune(right))); diff != "" {
			t.Errorf("%s allows with %q: -own, +values:\n%s", overrides, paths, diff)
		}
	})
}

// cut takes away what lies at the end of the path.
func cut(m map[string]any, path []string) {
	if len(path) == 1 {
		delete(m, path[0])
	} else if below, ok := m[path[0]].(map[string]any); ok {
		cut(below, path[1:])
	}
}

// prune takes away maps that are empty, which may be all that is left above an allowed path.
func prune(m map[string]any) map[string]any {
	for key, v := range m {
		if below, ok := v.(map[string]any); ok && len(prune(below)) == 0 {
			delete(m, key)
		}
	}

	return m
}

func floats(m map[string]any) (out map[string]any) {
	if raw, err := json.Marshal(m); err != nil || json.Unmarshal(raw, &out) != nil {
		panic("these are no values")
	}

	return out
}

// FuzzRefused holds that a release may become itself, whatever its values are, and that a refusal names a field.
func FuzzRefused(f *testing.F) {
	f.Add("0.36.1", "0.36.1", `{}`, `{"controlPlane":{"statefulSet":{"persistence":{"volumeClaim":{"size":"10Gi"}}}}}`)
	f.Add("0.32.0", "0.33.4", `{"controlPlane":{"distro":{"k3s":{"enabled":true}}}}`, `{"controlPlane":{"distro":null}}`)
	f.Add("0.36.1", "0.21.2", `{"controlPlane":{"distro":[],"backingStore":7}}`, `{"sync":{"toHost":{"namespaces":{"enabled":"yes"}}}}`)
	f.Add("0.36.1", "0.36.1", `{}`, `{"controlPlane":{"statefulSet":{"persistence":{"volumeClaim":{"size":"1e-999999999"}}}}}`)
	f.Fuzz(func(t *testing.T, from, to, running, wanted string) {
		var before, after map[string]any
		if json.Unmarshal([]byte(running), &before) != nil || json.Unmarshal([]byte(wanted), &after) != nil {
			return
		}

		a, b := Release{ChartVersion: from, Values: before}, Release{ChartVersion: to, Values: after}
		for _, r := range []Release{a, b} {
			if err := Refused(r, r); err != nil && !errors.Is(err, ErrUnsupportedChartVersion) {
				t.Errorf("%v may not become itself: %v", r, err)
			}
		}

		err := Refused(a, b)
		if again := Refused(a, b); (err == nil) != (again == nil) || (err != nil && err.Error() != again.Error()) {
			t.Errorf("once %v, once %v", err, again)
		}

		if errors.Is(err, ErrImmutableValue) && !strings.Contains(err.Error(), "controlPlane.") && !strings.Contains(err.Error(), "sync.") &&
			!strings.Contains(err.Error(), "experimental.") && !strings.Contains(err.Error(), "vcluster.") {
			t.Errorf("it names no field: %v", err)
		}
	})
}
