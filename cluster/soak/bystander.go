// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// bystanderName is the tenantName whose names the bystander's objects have.
const bystanderName = "bystander"

// readBound is for how long an object of the bystander may not be read, or be gone.
const readBound = time.Minute

// bystander is a vCluster that someone else has installed with Helm, with the names
// that a Tenant's would have. None of its objects may change. Its control plane is
// scaled to zero: it is here to be left alone.
type bystander struct {
	cluster   *rig.Cluster
	namespace string
	objects   []*unstructured.Unstructured
	imprints  []string
}

func newBystander(ctx context.Context, c *rig.Cluster) (*bystander, error) {
	b := &bystander{cluster: c, namespace: vcluster.HostNamespace(bystanderName)}

	for _, o := range b.manifests() {
		if err := c.Client.Create(ctx, o); err != nil {
			return nil, fmt.Errorf("cannot create the bystander: %w", err)
		}

		gvk, err := c.Client.GroupVersionKindFor(o)
		if err != nil {
			return nil, fmt.Errorf("cannot name the bystander's kind: %w", err)
		}

		u := &unstructured.Unstructured{}
		u.SetGroupVersionKind(gvk)
		u.SetNamespace(o.GetNamespace())
		u.SetName(o.GetName())

		is, err := b.imprint(ctx, u)
		if err != nil {
			return nil, err
		}

		b.objects, b.imprints = append(b.objects, u), append(b.imprints, is)
	}

	return b, nil
}

// manifests are what a chart makes, in brief.
func (b *bystander) manifests() []client.Object {
	release := vcluster.ReleaseName(bystanderName)
	labels := map[string]string{"app": "vcluster", "release": release, "app.kubernetes.io/managed-by": "Helm"}
	in := func(name string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: b.namespace, Name: name, Labels: labels}
	}
	cluster := metav1.ObjectMeta{Name: "vc-" + release + "-v-" + b.namespace, Labels: labels}
	record := in("sh.helm.release.v1." + release + ".v1")
	record.Labels = map[string]string{"owner": "helm", "name": release, "status": "deployed", "version": "1"}
	pod := corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "syncer", Image: "ghcr.io/loft-sh/vcluster-oss:" + rig.ChartVersion}}},
	}

	return []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}},
		&corev1.Secret{ObjectMeta: record, Type: "helm.sh/release.v1", Data: map[string][]byte{"release": []byte("of someone else")}},
		&corev1.Secret{ObjectMeta: in(vcluster.ExportedSecretName(release)), Data: map[string][]byte{vcluster.KeyConfig: []byte("of someone else")}},
		&corev1.ServiceAccount{ObjectMeta: in(release)},
		&corev1.Service{ObjectMeta: in(release), Spec: corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Port: vcluster.ServicePort}}}},
		&appsv1.StatefulSet{ObjectMeta: in(release), Spec: appsv1.StatefulSetSpec{
			Replicas: ptr.To[int32](0), Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: pod,
		}},
		&corev1.ResourceQuota{ObjectMeta: in(wallName), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{"limits.cpu": resource.MustParse("4")}}},
		&corev1.LimitRange{ObjectMeta: in(wallName)},
		&rbacv1.Role{ObjectMeta: in(release)},
		&rbacv1.RoleBinding{ObjectMeta: in(release), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: release}},
		&rbacv1.ClusterRole{ObjectMeta: cluster},
		&rbacv1.ClusterRoleBinding{ObjectMeta: cluster, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: cluster.Name}},
	}
}

// check errs when one of the objects is not as it was made.
func (b *bystander) check(ctx context.Context) error {
	var errs []error

	for i, o := range b.objects {
		now, err := b.imprint(ctx, o.DeepCopy())
		if err == nil && now != b.imprints[i] {
			err = fmt.Errorf("%s %q was changed: from %s to %s", o.GetKind(), o.GetName(), b.imprints[i], now)
		}

		errs = append(errs, err)
	}

	return errors.Join(errs...)
}

// imprint is all of the object that only its owner changes. What cannot be read for a
// moment, on a machine that has much to do, is unknown and not harmed.
func (b *bystander) imprint(ctx context.Context, o *unstructured.Unstructured) (string, error) {
	deadline := time.Now().Add(readBound)

	err := until(ctx, func() bool { return time.Now().Before(deadline) }, func(ctx context.Context) error {
		return b.cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	})
	if err != nil {
		return "", fmt.Errorf("cannot read the bystander: %w", err)
	}

	o.SetResourceVersion("")
	o.SetManagedFields(nil)
	delete(o.Object, "status")

	raw, err := json.Marshal(o.Object)
	if err != nil {
		return "", fmt.Errorf("cannot compare the bystander: %w", err)
	}

	return string(raw), nil
}
