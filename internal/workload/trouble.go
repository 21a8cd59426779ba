// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// maxListed is how many pods or events are looked at: whose they are decides how
// many there are.
const maxListed = client.Limit(100)

// kindDeployment is the kind whose pods belong to ReplicaSets.
const kindDeployment = "Deployment"

// Trouble says in words why a workload, such as a Deployment or a StatefulSet, is
// not ready: what its pods say or, when they say nothing, what keeps them from
// being made, such as a quota. It is empty when nothing is known. An error says
// what could not be read.
func Trouble(ctx context.Context, r client.Reader, kind, name, namespace string, pods client.MatchingLabels) (string, error) {
	list := &corev1.PodList{}
	if err := r.List(ctx, list, client.InNamespace(namespace), pods, maxListed); err != nil {
		return "", fmt.Errorf("cannot list the pods of %s %q: %w", kind, name, err)
	}

	var words []string
	for i := range list.Items {
		words = append(words, PodTrouble(&list.Items[i])...)
	}

	if len(words) > 0 {
		slices.Sort(words)
		return strings.Join(slices.Compact(words), "; "), nil
	}

	if kind == kindDeployment {
		if refusal, err := replicaFailure(ctx, r, name, namespace); err != nil || refusal != "" {
			return refusal, err
		}
	}

	for i := range list.Items {
		if p := &list.Items[i]; p.Status.Phase == corev1.PodPending && p.Spec.NodeName == "" {
			return podRefusal(ctx, r, p)
		}
	}

	if len(list.Items) > 0 {
		return "", nil // Events may be about pods that were refused before.
	}

	return newestWarning(ctx, r, kind, name, namespace)
}

// podRefusal is why a pod gets no node, if not even the scheduler has seen it: inside
// a vCluster it may be refused on the host cluster.
func podRefusal(ctx context.Context, r client.Reader, p *corev1.Pod) (string, error) {
	events, err := warnings(ctx, r, p.GetNamespace(), client.MatchingFields{"involvedObject.kind": "Pod", "involvedObject.name": p.GetName()})
	if err != nil {
		return "", fmt.Errorf("cannot list the events of pod %q: %w", p.GetName(), err)
	}

	return newestOf(events), nil
}

// replicaFailure is why a Deployment cannot make its pods now.
func replicaFailure(ctx context.Context, r client.Reader, name, namespace string) (string, error) {
	d := &appsv1.Deployment{}
	if err := r.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, d); err != nil {
		return "", fmt.Errorf("cannot read Deployment %q: %w", name, err)
	}

	if c := condition(d, appsv1.DeploymentReplicaFailure); c != nil && c.Status == corev1.ConditionTrue {
		return steady(c.Message), nil
	}

	return "", nil
}

// newestWarning is the newest event that warns about the workload. Those about
// the ReplicaSets of a Deployment count as its own.
func newestWarning(ctx context.Context, r client.Reader, kind, name, namespace string) (string, error) {
	events, err := warnings(ctx, r, namespace, client.MatchingFields{"involvedObject.kind": kind, "involvedObject.name": name})
	if err != nil {
		return "", fmt.Errorf("cannot list the events of %s %q: %w", kind, name, err)
	}

	if kind == kindDeployment {
		sets, err := warnings(ctx, r, namespace, client.MatchingFields{"involvedObject.kind": "ReplicaSet"})
		if err != nil {
			return "", fmt.Errorf("cannot list the events of the ReplicaSets of Deployment %q: %w", name, err)
		}

		for _, e := range sets {
			if hash, ok := strings.CutPrefix(e.InvolvedObject.Name, name+"-"); ok && !strings.Contains(hash, "-") {
				events = append(events, e)
			}
		}
	}

	return newestOf(events), nil
}

// newestOf is what the newest of the events says; empty when there is none.
func newestOf(events []corev1.Event) string {
	if len(events) == 0 {
		return ""
	}

	newest := slices.MaxFunc(events, func(a, b corev1.Event) int { return lastSeen(&a).Compare(lastSeen(&b)) })

	return steady(newest.Message)
}

// warnings are the events of type Warning about what the fields tell.
func warnings(ctx context.Context, r client.Reader, namespace string, about client.MatchingFields) ([]corev1.Event, error) {
	of := maps.Clone(about)
	of["type"] = corev1.EventTypeWarning

	list := &corev1.EventList{}
	err := r.List(ctx, list, client.InNamespace(namespace), of, maxListed)

	return list.Items, err
}

// lastSeen is when an event happened last, in the one of its forms that is set.
func lastSeen(e *corev1.Event) time.Time {
	last := e.LastTimestamp.Time
	if e.EventTime.After(last) {
		last = e.EventTime.Time
	}

	if e.Series != nil && e.Series.LastObservedTime.After(last) {
		last = e.Series.LastObservedTime.Time
	}

	return last
}
