// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Reasons that the kubelet gives in turn while it tries to pull an image.
const (
	pullFailed  = "ErrImagePull"
	pullBackOff = "ImagePullBackOff"
)

var (
	// backOff is what the kubelet puts before the cause while it waits to pull again.
	backOff = regexp.MustCompile(`^Back-off pulling image "[^"]*": ` + pullFailed + `: `)
	// localAddress is the near end of a connection, whose port is another each time.
	localAddress = regexp.MustCompile(`(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\]):\d+->`)
	// generated is the name of a pod that a ReplicaSet tries to make, which is
	// another each time.
	generated = regexp.MustCompile(`(pods? "[a-z0-9.-]+-)[bcdfghjklmnpqrstvwxz2456789]{5}"`)
)

// PodTrouble lists what keeps a pod from being ready and will not pass by itself.
func PodTrouble(p *corev1.Pod) []string {
	var out []string

	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			out = append(out, fmt.Sprintf("pod %s: %s", p.GetName(), c.Message))
		}
	}

	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		switch wait, last := s.State.Waiting, s.LastTerminationState.Terminated; {
		case wait != nil && wait.Message != "" && last == nil:
			out = append(out, fmt.Sprintf("pod %s, container %s: %s", p.GetName(), s.Name, waitingFor(wait)))
		case last != nil && !s.Ready && last.ExitCode != 0:
			out = append(out, fmt.Sprintf("pod %s, container %s ended with code %d (%s)", p.GetName(), s.Name, last.ExitCode, last.Reason))
		}
	}

	return out
}

// waitingFor is the same while the kubelet tries to pull an image and while it
// waits to try again.
func waitingFor(w *corev1.ContainerStateWaiting) string {
	if w.Reason != pullFailed && w.Reason != pullBackOff {
		return w.Reason + ": " + steady(w.Message)
	}

	return pullBackOff + ": " + steady(backOff.ReplaceAllString(w.Message, ""))
}

// steady takes out of a text what differs from attempt to attempt.
func steady(s string) string {
	s = localAddress.ReplaceAllString(s, "")
	s = generated.ReplaceAllString(s, `$1*"`)

	return strings.TrimSpace(s)
}
