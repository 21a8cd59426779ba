// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"encoding/json"
	"strings"
	"testing"
)

// FuzzParse holds that an XR of any shape is composed, or refused with one line that names a field.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		`{"userID":"3f1a2b4c-0000-4000-8000-000000000001"}`,
		`{"userID":"a","spaceName":"alice","cpu":"2\"; injected: true","memory":"-1","storage":"1e30","pods":-1}`,
		`{"userID":"3f1a2b4c","cpu":"1e-999999999","memory":1e300,"advisor":{"resources":{"limits":{"cpu":"1e999999999"}}}}`,
		`{"userID":"3f1a2b4c","advisor":{"env":[{"name":"X","valueFrom":{"resourceFieldRef":{"divisor":"1e-99999999"}}}]},"flux":[],"vcluster":7}`,
		`{"userID":"3f1a2b4c","advisor":{"enabled":true,"replicas":3,"image":"x"},"flux":null,"vcluster":{"chartVersion":null}}`,
		`{"claimRef":{"namespace":7},"userID":{}}`, `[]`, `null`, `{}`,
	} {
		f.Add(s, false)
		f.Add(s, true)
	}

	f.Fuzz(func(t *testing.T, spec string, claim bool) {
		var in any
		if json.Unmarshal([]byte(spec), &in) != nil {
			return
		}

		u := cloudSpace(nil)
		if m, ok := in.(map[string]any); ok && claim && m != nil {
			u = claimed(m)
		}

		u.Object["spec"] = in

		xr, err := Parse(u)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "spec") {
				t.Errorf("it is more than a line, or names no field: %v", err)
			}

			return
		}

		d := Compose(xr, Observed{})
		if !nameRule.MatchString(d.Tenant.Spec.TenantName) || !userIDRule.MatchString(d.Tenant.Spec.UserID) {
			t.Errorf("%s becomes a Tenant that is refused: %v", spec, d.Tenant.Spec)
		}

		Summarize(xr, Observed{}, d)

		for name, q := range d.Quota.Spec.Hard {
			if q.Sign() <= 0 && xr.Spec.Pods == nil {
				t.Errorf("%s of the quota is %s", name, q.String())
			}
		}

		// What exists stays what it is.
		if again := Compose(xr, Observed{Tenant: d.Tenant, Quota: d.Quota, Advisor: d.Advisor}); len(again.Ignored) > 0 || again.Tenant.Name != d.Tenant.Name {
			t.Errorf("composed again, it is another: %v", again.Ignored)
		}
	})
}
