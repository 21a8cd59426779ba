// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
)

func TestR7RubbishInAdvisorAgent(t *testing.T) {
	t.Parallel()

	insidetest.ExpectRubbishTold(t, insidetest.Agent,
		func(o *v1alpha1.AdvisorAgent) *v1alpha1.AdvisorAgentSpec { return &o.Spec },
		func(t *testing.T, objs ...client.Object) *insidetest.World[*v1alpha1.AdvisorAgent] {
			t.Helper()

			return newWorld(t, objs...).World
		})
}
