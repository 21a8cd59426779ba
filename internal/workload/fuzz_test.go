// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// FuzzPodTrouble holds that what a kubelet says is told the same each time, and with the pod's name.
func FuzzPodTrouble(f *testing.F) {
	for _, s := range []string{
		`{}`, `null`,
		`{"conditions":[{"type":"PodScheduled","status":"False","message":"0/3 nodes are available"}]}`,
		`{"containerStatuses":[{"name":"c","state":{"waiting":{"reason":"ImagePullBackOff","message":"Back-off pulling image \"x\": ErrImagePull: dial tcp 10.0.0.1:4711->10.0.0.2:443"}}}]}`,
		`{"initContainerStatuses":[{"lastState":{"terminated":{"exitCode":-1}}}],"containerStatuses":[{"state":{"waiting":{"reason":"ErrImagePull","message":"ErrImagePull: "}}}]}`,
	} {
		f.Add(s)
	}

	f.Fuzz(func(t *testing.T, status string) {
		p := &corev1.Pod{}
		p.SetName("the-pod")

		if json.Unmarshal([]byte(status), &p.Status) != nil {
			return
		}

		first := PodTrouble(p)
		for i, words := range first {
			if !strings.Contains(words, "the-pod") {
				t.Errorf("whose trouble is %q", words)
			}

			if again := PodTrouble(p)[i]; again != words {
				t.Errorf("once %q, once %q", words, again)
			}
		}
	})
}
