// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package insidetest

import (
	"encoding/json"
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/rubbish"
)

// ExpectRubbishTold holds that an object of which any field of the spec is rubbish, and
// no schema has seen it, is told about in words. Sound makes one of the name that has
// none, and world one that has the given objects.
func ExpectRubbishTold[O resource.Managed, S any](
	t *testing.T, sound func(name string) O, specOf func(O) *S, world func(*testing.T, ...client.Object) *World[O],
) {
	t.Helper()

	for _, s := range rubbish.Of(t, specOf(sound("a"))) {
		t.Run(s.Field, func(t *testing.T) {
			t.Parallel()

			var spec S
			if err := json.Unmarshal(s.JSON, &spec); err != nil {
				t.Fatal(err)
			}

			o := sound("a")
			*specOf(o) = spec

			w := world(t, Ready(o)...)
			w.Reconcile("a") // What it creates it looks at in the next pass.

			for range 2 {
				ExpectTold(t, w.Reconcile("a"))
			}
		})
	}
}
