// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"sort"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// workload is the StatefulSet or Deployment that runs a vCluster's control plane.
type workload struct {
	found bool
	kind  string
	name  string
	ready bool
	// rolling says that not all of it is of the newest revision yet.
	rolling bool
	// trouble says in words why it is not ready, as far as the host tells.
	trouble string
}

// readWorkload finds the control plane by its labels: the chart makes a
// StatefulSet or a Deployment, depending on persistence.
func (e *external) readWorkload(ctx context.Context) (workload, error) {
	w, err := e.listWorkloads(ctx, e.cached)
	if err == nil && !w.found {
		w, err = e.listWorkloads(ctx, e.live)
	}

	if err != nil || !w.found || w.ready {
		return w, err
	}

	w.trouble, err = e.readTrouble(ctx, w)

	return w, err
}

func (e *external) listWorkloads(ctx context.Context, from client.Reader) (workload, error) {
	of := []client.ListOption{
		client.InNamespace(e.names.namespace),
		client.MatchingLabels(vcluster.ControlPlaneLabels(e.names.release)),
	}

	sets := &appsv1.StatefulSetList{}
	if err := from.List(ctx, sets, of...); err != nil {
		return workload{}, fmt.Errorf("cannot list StatefulSets on the host cluster: %w", err)
	}

	for i := range sets.Items {
		s := &sets.Items[i]
		if s.GetName() == e.names.release {
			return workload{
				found:   true,
				kind:    "StatefulSet",
				name:    s.GetName(),
				ready:   s.Status.ReadyReplicas > 0,
				rolling: s.Status.ObservedGeneration < s.GetGeneration() || s.Status.UpdatedReplicas < s.Status.Replicas,
			}, nil
		}
	}

	deployments := &appsv1.DeploymentList{}
	if err := from.List(ctx, deployments, of...); err != nil {
		return workload{}, fmt.Errorf("cannot list Deployments on the host cluster: %w", err)
	}

	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.GetName() == e.names.release {
			return workload{
				found:   true,
				kind:    "Deployment",
				name:    d.GetName(),
				ready:   d.Status.ReadyReplicas > 0,
				rolling: d.Status.ObservedGeneration < d.GetGeneration() || d.Status.UpdatedReplicas < d.Status.Replicas,
			}, nil
		}
	}

	return workload{}, nil
}

// readTrouble asks the workload's pods, or the workload's own events when it
// has no pods, why it is not ready.
func (e *external) readTrouble(ctx context.Context, w workload) (string, error) {
	pods := &corev1.PodList{}
	if err := e.live.List(ctx, pods, client.InNamespace(e.names.namespace),
		client.MatchingLabels(vcluster.ControlPlaneLabels(e.names.release))); err != nil {
		return "", fmt.Errorf("cannot list the control plane's pods on the host cluster: %w", err)
	}

	if len(pods.Items) == 0 {
		return e.readRefusal(ctx, w)
	}

	var words []string

	for i := range pods.Items {
		words = append(words, podTrouble(&pods.Items[i])...)
	}

	sort.Strings(words)

	return strings.Join(words, "; "), nil
}

// readRefusal is the newest warning about the workload, such as a quota that
// refuses its pods.
func (e *external) readRefusal(ctx context.Context, w workload) (string, error) {
	events := &corev1.EventList{}
	if err := e.live.List(ctx, events, client.InNamespace(e.names.namespace), client.MatchingFields{
		"involvedObject.kind": w.kind,
		"involvedObject.name": w.name,
		"type":                corev1.EventTypeWarning,
	}); err != nil {
		return "", fmt.Errorf("cannot list the control plane's events on the host cluster: %w", err)
	}

	var newest *corev1.Event

	for i := range events.Items {
		ev := &events.Items[i]
		if newest == nil || newest.LastTimestamp.Before(&ev.LastTimestamp) {
			newest = ev
		}
	}

	if newest == nil {
		return "", nil
	}

	return newest.Message, nil
}

// podTrouble lists what keeps a pod from being ready and will not pass by itself.
func podTrouble(p *corev1.Pod) []string {
	var out []string

	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Message != "" {
			out = append(out, fmt.Sprintf("pod %s: %s", p.GetName(), c.Message))
		}
	}

	for _, s := range append(append([]corev1.ContainerStatus{}, p.Status.InitContainerStatuses...), p.Status.ContainerStatuses...) {
		switch wait, last := s.State.Waiting, s.LastTerminationState.Terminated; {
		case wait != nil && wait.Message != "" && last == nil:
			out = append(out, fmt.Sprintf("pod %s, container %s: %s: %s", p.GetName(), s.Name, wait.Reason, wait.Message))
		case last != nil && !s.Ready && last.ExitCode != 0:
			out = append(out, fmt.Sprintf("pod %s, container %s ended with code %d (%s)", p.GetName(), s.Name, last.ExitCode, last.Reason))
		}
	}

	return out
}
