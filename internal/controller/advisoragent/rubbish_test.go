// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"encoding/json"
	"testing"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/rubbish"
)

// TestR7RubbishInAdvisorAgent holds that one of which any field is rubbish, and no schema
// has seen it, is told about in words.
func TestR7RubbishInAdvisorAgent(t *testing.T) {
	t.Parallel()

	for _, s := range rubbish.Of(t, &insidetest.Agent("a").Spec) {
		t.Run(s.Field, func(t *testing.T) {
			t.Parallel()

			o := insidetest.Agent("a")
			o.Spec = v1alpha1.AdvisorAgentSpec{}

			if err := json.Unmarshal(s.JSON, &o.Spec); err != nil {
				t.Fatal(err)
			}

			w := newWorld(t, insidetest.Ready(o)...)
			for range 2 {
				insidetest.ExpectTold(t, w.Reconcile("a"))
			}
		})
	}
}
