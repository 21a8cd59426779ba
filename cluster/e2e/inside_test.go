// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// inside is a client of the tenant's own API.
func inside(kubeconfig []byte) client.WithWatch {
	GinkgoHelper()

	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	Expect(err).NotTo(HaveOccurred())

	c, err := client.NewWithWatch(cfg, client.Options{})
	Expect(err).NotTo(HaveOccurred())

	return c
}

// shellPod runs the script in a busybox.
func shellPod(name, script string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name, Labels: map[string]string{"name": name}},
		Spec: corev1.PodSpec{
			RestartPolicy: corev1.RestartPolicyNever,
			// The first process of a container hears no signal that it does not ask for.
			TerminationGracePeriodSeconds: ptr.To(int64(1)),
			Containers:                    []corev1.Container{{Name: "main", Image: busyboxImage, Command: []string{"sh", "-c", script}}},
		},
	}
}

// eventuallyPod makes the pod, once the tenant takes it, and waits for its phase.
func eventuallyPod(ctx context.Context, c client.Client, p *corev1.Pod, want corev1.PodPhase) {
	GinkgoHelper()
	// The tenant's default service account is made a moment after its API answers.
	Eventually(ctx, func(ctx context.Context) error {
		return c.Create(ctx, p)
	}).WithTimeout(phaseLimit).WithPolling(pollEvery).Should(Succeed())
	Eventually(ctx, func(ctx context.Context) (corev1.PodPhase, error) {
		return p.Status.Phase, c.Get(ctx, client.ObjectKeyFromObject(p), p)
	}).WithTimeout(goneLimit).WithPolling(pollEvery).Should(Equal(want), func() string { return fmt.Sprintf("%+v", p.Status) })
}
