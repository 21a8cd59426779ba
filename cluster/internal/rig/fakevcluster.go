// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// FakeExport writes the Secret that a vCluster writes when it starts, with this
// kubeconfig. One that exists is left as it is.
func FakeExport(ctx context.Context, c client.Client, namespace, release string, kubeconfig []byte) error {
	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Namespace: namespace, Name: vcluster.ExportedSecretName(release),
		Labels: map[string]string{vcluster.LabelApp: vcluster.AppName, "vcluster-name": release},
	}}
	s.Data = map[string][]byte{vcluster.KeyConfig: kubeconfig}

	if err := c.Create(ctx, s); err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot export a kubeconfig as %q does: %w", release, err)
	}

	return nil
}

// FakeDNS is a Deployment that passes for the CoreDNS which a vCluster makes inside of
// itself when it starts. It is for that namespace, usually [vcluster.DNSNamespace].
func FakeDNS(namespace string) *appsv1.Deployment {
	labels := vcluster.DNSLabels()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: vcluster.DNSDeployment}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels}
	d.Spec.Template.Labels = labels
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "coredns", Image: "coredns"}}

	return d
}
