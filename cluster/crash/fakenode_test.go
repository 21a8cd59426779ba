// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"context"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// fakeNode plays the node of a cluster and what of its controllers matters here:
// workloads become ready at once, and namespaces that are deleted go with what is
// in them.
type fakeNode struct {
	client client.WithWatch
	core   kubernetes.Interface
	// export is the kubeconfig that the control plane of a vCluster writes into its
	// namespace on this host.
	export func(life string) ([]byte, bool)
}

// runFakeNode runs it until the test ends.
func runFakeNode(t *testing.T, cluster *rest.Config, c client.WithWatch, export func(string) ([]byte, bool)) {
	t.Helper()

	core, err := kubernetes.NewForConfig(cluster)
	if err != nil {
		t.Fatalf("cannot make a client: %v", err)
	}

	n := &fakeNode{client: c, core: core, export: export}
	go rig.Follow(t.Context(), c, &corev1.NamespaceList{}, n.endNamespace)
	go rig.Follow(t.Context(), c, &appsv1.StatefulSetList{}, n.runStatefulSet)
	go rig.Follow(t.Context(), c, &appsv1.DeploymentList{}, n.runDeployment)
}

// again is the pause before something is tried or looked at once more.
const again = 50 * time.Millisecond

// runStatefulSet has the control plane of a vCluster run, which exports its kubeconfig.
func (n *fakeNode) runStatefulSet(ctx context.Context, o client.Object) error {
	s, ok := o.(*appsv1.StatefulSet)
	if !ok || s.GetDeletionTimestamp() != nil {
		return nil
	}

	want := ptr.Deref(s.Spec.Replicas, 1)
	if s.Status.ObservedGeneration == s.GetGeneration() && s.Status.ReadyReplicas == want {
		return nil
	}

	if raw, ok := n.export(lifeName.FindString(s.GetName())); ok {
		if err := rig.FakeExport(ctx, n.client, s.GetNamespace(), s.GetName(), raw); err != nil {
			return err
		}
	}

	s.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: s.GetGeneration(), Replicas: want, ReadyReplicas: want, AvailableReplicas: want, UpdatedReplicas: want,
	}

	return n.client.Status().Update(ctx, s)
}

func (n *fakeNode) runDeployment(ctx context.Context, o client.Object) error {
	d, ok := o.(*appsv1.Deployment)
	if !ok || d.GetDeletionTimestamp() != nil {
		return nil
	}

	want := ptr.Deref(d.Spec.Replicas, 1)
	if d.Status.ObservedGeneration == d.GetGeneration() && d.Status.AvailableReplicas == want {
		return nil
	}

	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.GetGeneration(), Replicas: want, ReadyReplicas: want, AvailableReplicas: want, UpdatedReplicas: want,
		Conditions: []appsv1.DeploymentCondition{{
			Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "MinimumReplicasAvailable",
			LastUpdateTime: metav1.Now(), LastTransitionTime: metav1.Now(),
		}},
	}

	return n.client.Status().Update(ctx, d)
}

// contents are what may be in a namespace here.
func contents() []client.Object {
	return []client.Object{
		&corev1.Secret{}, &corev1.ConfigMap{}, &corev1.Service{}, &corev1.ServiceAccount{}, &corev1.PersistentVolumeClaim{},
		&corev1.ResourceQuota{}, &corev1.LimitRange{}, &discoveryv1.EndpointSlice{}, &corev1.Event{},
		&appsv1.StatefulSet{}, &appsv1.Deployment{}, &rbacv1.Role{}, &rbacv1.RoleBinding{}, &networkingv1.NetworkPolicy{},
	}
}

// endNamespace ends one that is being deleted, with what is in it.
func (n *fakeNode) endNamespace(ctx context.Context, o client.Object) error {
	ns, ok := o.(*corev1.Namespace)
	if !ok || ns.GetDeletionTimestamp() == nil {
		return nil
	}

	for _, c := range contents() {
		if err := n.client.DeleteAllOf(ctx, c, client.InNamespace(ns.GetName())); err != nil {
			return err
		}
	}

	ns.Spec.Finalizers = nil
	_, err := n.core.CoreV1().Namespaces().Finalize(ctx, ns, metav1.UpdateOptions{})

	return err
}
