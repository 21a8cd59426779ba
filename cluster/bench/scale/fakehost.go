// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// fakeHost plays what of a host neither its controllers nor KWOK do: a scheduler that
// puts each pod onto the one node, whatever its volumes, and the control planes of
// vClusters, as far as they export a kubeconfig.
type fakeHost struct {
	client     client.WithWatch
	kubeconfig func(tenant string) ([]byte, error)
}

// run it until ctx ends.
func (h fakeHost) run(ctx context.Context) {
	go rig.Follow(ctx, h.client, &corev1.PodList{}, h.bind, client.MatchingFields{"spec.nodeName": ""})
	go rig.Follow(ctx, h.client, &appsv1.StatefulSetList{}, h.export, client.MatchingLabels{vcluster.LabelApp: vcluster.AppName})
}

func (h fakeHost) bind(ctx context.Context, o client.Object) error {
	p, ok := o.(*corev1.Pod)
	if !ok || p.Spec.NodeName != "" || p.GetDeletionTimestamp() != nil {
		return nil
	}

	to := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Namespace: p.GetNamespace(), Name: p.GetName()}}
	to.Target = corev1.ObjectReference{Kind: "Node", Name: nodeName}

	return h.client.SubResource("binding").Create(ctx, p, to)
}

// export writes the kubeconfig of a control plane that was just made. A real one does
// so some seconds later, when it runs.
func (h fakeHost) export(ctx context.Context, o client.Object) error {
	s, ok := o.(*appsv1.StatefulSet)
	if !ok || s.GetDeletionTimestamp() != nil || s.Status.ReadyReplicas > 0 {
		return nil
	}

	raw, err := h.kubeconfig(tenantIn(s.GetNamespace()))
	if err != nil {
		return fmt.Errorf("cannot make a kubeconfig: %w", err)
	}

	err = rig.FakeExport(ctx, h.client, s.GetNamespace(), s.GetName(), raw)
	if kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) {
		return nil
	}

	return err
}
