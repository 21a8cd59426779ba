// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"testing"
)

func TestNamesOf(t *testing.T) {
	t.Parallel()

	want := names{
		release: "vc-alice-default", namespace: "vcluster-alice-default", exported: "vc-vc-alice-default",
		secret: "tenant-7e9d3a1b-0000-4000-8000-000000000002-kubeconfig",
	}
	if got := namesOf(alice().Obj()); got != want {
		t.Errorf("want %+v, got %+v", want, got)
	}
}
