// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWithout(t *testing.T) {
	t.Parallel()
	env := []string{"A=1", "KUBECONFIG=/x", "KUBECONFIGS=2", "B=KUBECONFIG=3"}
	got := without(env, "KUBECONFIG")
	if diff := cmp.Diff([]string{"A=1", "KUBECONFIGS=2", "B=KUBECONFIG=3"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if env[1] != "KUBECONFIG=/x" {
		t.Error("the caller's environment is changed")
	}
}

func TestExecRefuses(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{"Nothing": nil, "OnlyDashes": {"--"}} {
		if err := newCluster(t).Exec(command); err == nil || !strings.Contains(err.Error(), "command") {
			t.Errorf("%s: Exec(...) = %v", name, err)
		}
	}
}

func TestLogsRefuses(t *testing.T) {
	t.Parallel()
	err := newCluster(t).Logs("kubelett", false)
	if err == nil || !strings.Contains(err.Error(), `"kubelett"`) || !strings.Contains(err.Error(), "kube-proxy") {
		t.Errorf("Logs(...) = %v, want the name and those that there are", err)
	}
}
