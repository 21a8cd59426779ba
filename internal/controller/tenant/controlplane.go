// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
	"github.com/kubeopera/provider-kubeopera/internal/workload"
)

// Kinds that a host's cache holds of a release.
const (
	kindStatefulSet = "StatefulSet"
	kindDeployment  = "Deployment"
	kindService     = "Service"
)

// controlPlaneFacts are the StatefulSet or Deployment that runs a vCluster's control plane.
type controlPlaneFacts struct {
	found bool
	kind  string
	name  string
	ready bool
	// rolling says that not all of it is of the newest revision yet.
	rolling bool
	// renewed is for which certificate it was restarted last.
	renewed string
	// trouble says in words why it is not ready, as far as the host tells.
	trouble string
}

// readWorkload finds the control plane by its labels: the chart makes a
// StatefulSet or a Deployment, depending on persistence.
func (e *external) readWorkload(ctx context.Context) (controlPlaneFacts, error) {
	w, err := e.listWorkloads(ctx, e.cached)
	if err == nil && !w.found {
		w, err = e.listWorkloads(ctx, e.live)
	}

	if err != nil || !w.found || w.ready {
		return w, err
	}

	w.trouble, err = workload.Trouble(ctx, e.live, w.kind, w.name, e.names.namespace, vcluster.ControlPlaneLabels(e.names.release))
	if err != nil {
		return w, fmt.Errorf("cannot find out on the host cluster why the control plane is not ready: %w", err)
	}

	return w, nil
}

func (e *external) listWorkloads(ctx context.Context, from client.Reader) (controlPlaneFacts, error) {
	of := []client.ListOption{
		client.InNamespace(e.names.namespace),
		client.MatchingLabels(vcluster.ControlPlaneLabels(e.names.release)),
	}

	sets := &appsv1.StatefulSetList{}
	if err := from.List(ctx, sets, of...); err != nil {
		return controlPlaneFacts{}, fmt.Errorf("cannot list StatefulSets on the host cluster: %w", err)
	}

	for i := range sets.Items {
		s := &sets.Items[i]
		if s.GetName() == e.names.release {
			return controlPlaneFacts{
				found:   true,
				kind:    kindStatefulSet,
				name:    s.GetName(),
				ready:   s.Status.ReadyReplicas > 0 && !toNothing(s.Spec.Replicas),
				rolling: s.Status.ObservedGeneration < s.GetGeneration() || s.Status.UpdatedReplicas < s.Status.Replicas,
				renewed: s.Spec.Template.GetAnnotations()[v1alpha1.AnnotationRenewed],
			}, nil
		}
	}

	deployments := &appsv1.DeploymentList{}
	if err := from.List(ctx, deployments, of...); err != nil {
		return controlPlaneFacts{}, fmt.Errorf("cannot list Deployments on the host cluster: %w", err)
	}

	for i := range deployments.Items {
		d := &deployments.Items[i]
		if d.GetName() == e.names.release {
			return controlPlaneFacts{
				found:   true,
				kind:    kindDeployment,
				name:    d.GetName(),
				ready:   d.Status.ReadyReplicas > 0 && !toNothing(d.Spec.Replicas),
				rolling: d.Status.ObservedGeneration < d.GetGeneration() || d.Status.UpdatedReplicas < d.Status.Replicas,
				renewed: d.Spec.Template.GetAnnotations()[v1alpha1.AnnotationRenewed],
			}, nil
		}
	}

	return controlPlaneFacts{}, nil
}

// toNothing says that a workload is to run no pod: those that it has are about to go.
func toNothing(replicas *int32) bool { return replicas != nil && *replicas == 0 }
