// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// FuzzValues holds that overrides of any shape make values, the same each time, and stay as they are.
func FuzzValues(f *testing.F) {
	for _, s := range []string{`{}`, `null`, `{"sourceController":null}`, `{"sourceController":{"create":false,"image":[]},"cli":7}`, `{"imageAutomationController":{"create":true}}`} {
		f.Add("registry.example.org/mirror/", s)
		f.Add("", s)
	}

	f.Fuzz(func(t *testing.T, registry, overrides string) {
		s, same := Spec{ImageRegistry: registry}, Spec{ImageRegistry: registry}
		if json.Unmarshal([]byte(overrides), &s.Overrides) != nil || json.Unmarshal([]byte(overrides), &same.Overrides) != nil {
			return
		}

		first := Values(s)
		if diff := cmp.Diff(first, Values(same)); diff != "" {
			t.Errorf("equal inputs, unequal values:\n%s", diff)
		}

		if _, err := json.Marshal(first); err != nil {
			t.Errorf("they cannot be stored: %v", err)
		}

		for key := range first {
			delete(first, key)
		}

		if diff := cmp.Diff(same.Overrides, s.Overrides); diff != "" {
			t.Errorf("the overrides have changed:\n%s", diff)
		}
	})
}
