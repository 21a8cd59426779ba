// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// availableLimit is enough for Crossplane on a busy machine.
const availableLimit = 180 * time.Second

// awaitDeployment waits until all of the Deployment's replicas are available.
func awaitDeployment(ctx context.Context, client kubernetes.Interface, name string) error {
	ctx, cancel := context.WithTimeout(ctx, availableLimit)
	defer cancel()
	for {
		last := deploymentAvailable(ctx, client, name)
		if last == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%s was not available within %s: %w; look at it by 'exec -- kubectl -n %s describe pods', "+
				"then run 'crossplane' again, or begin anew by 'down' and 'up'", name, availableLimit, last, crossplaneNamespace)
		case <-time.After(poll):
		}
	}
}

// deploymentAvailable says why not all of the Deployment's replicas are
// available, or nil.
func deploymentAvailable(ctx context.Context, client kubernetes.Interface, name string) error {
	d, err := client.AppsV1().Deployments(crossplaneNamespace).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if rolledOut(d) {
		return nil
	}
	pods, err := client.CoreV1().Pods(crossplaneNamespace).List(ctx, metav1.ListOptions{LabelSelector: metav1.FormatLabelSelector(d.Spec.Selector)})
	if err != nil {
		return err
	}
	said := []string{fmt.Sprintf("%d of %d replicas are available", d.Status.AvailableReplicas, replicas(d))}
	for _, p := range pods.Items {
		said = append(said, waiting(p)...)
	}
	return errors.New(strings.Join(said, ", "))
}

func rolledOut(d *appsv1.Deployment) bool {
	want := replicas(d)
	return d.Status.ObservedGeneration >= d.Generation && d.Status.UpdatedReplicas == want && d.Status.AvailableReplicas == want && d.Status.Replicas == want
}

func replicas(d *appsv1.Deployment) int32 {
	if d.Spec.Replicas == nil {
		return 1
	}
	return *d.Spec.Replicas
}

// waiting says what the containers of the pod wait for.
func waiting(p corev1.Pod) []string {
	var out []string
	for _, s := range append(p.Status.InitContainerStatuses, p.Status.ContainerStatuses...) {
		if w := s.State.Waiting; w != nil {
			out = append(out, strings.TrimSpace(fmt.Sprintf("container %s of pod %s waits: %s %s", s.Name, p.GetName(), w.Reason, w.Message)))
		}
	}
	return out
}
