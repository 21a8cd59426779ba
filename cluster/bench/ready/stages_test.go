// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

func TestStages(t *testing.T) {
	t.Parallel()

	before := stages{"APIReachable": {Sum: 20, Count: 2}, "BoundaryReady": {Sum: 1, Count: 2}}
	after := stages{"APIReachable": {Sum: 29, Count: 3}, "BoundaryReady": {Sum: 1, Count: 2}, "FluxReady": {Sum: 4, Count: 1}}

	took := after.since(before)
	if diff := cmp.Diff(stages{"APIReachable": {Sum: 9, Count: 1}, "FluxReady": {Sum: 4, Count: 1}}, took); diff != "" {
		t.Errorf("want what was added and nothing else: -want, +got:\n%s", diff)
	}

	all := stages{}
	all.add(took)
	all.add(stages{"FluxReady": rig.Seconds{Sum: 5, Count: 1}})

	for _, want := range []string{"APIReachable", "9.00 s", "FluxReady", "4.50 s"} {
		if got := all.table(); !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}
