// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// answerLimit bounds one question to a tenant's API.
const answerLimit = 2 * time.Second

// Answers asks a tenant's API for something that only its credentials may read.
// No connection outlives the question.
func Answers(ctx context.Context, kubeconfig []byte) error {
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot use the kubeconfig: %w", err)
	}

	return answers(ctx, cfg)
}

func answers(ctx context.Context, cfg *rest.Config) error {
	return inside(ctx, cfg, func(ctx context.Context, k kubernetes.Interface) error {
		if _, err := k.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{}); err != nil {
			return fmt.Errorf("the tenant's API at %s does not answer: %w", cfg.Host, err)
		}

		return nil
	})
}

// Inside does something inside a vCluster, by its kubeconfig, within 2 seconds. No
// connection outlives it.
func Inside(ctx context.Context, kubeconfig []byte, do func(context.Context, kubernetes.Interface) error) error {
	cfg, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot use the kubeconfig: %w", err)
	}

	return inside(ctx, cfg, do)
}

func inside(ctx context.Context, cfg *rest.Config, do func(context.Context, kubernetes.Interface) error) error {
	ctx, cancel := context.WithTimeout(ctx, answerLimit)
	defer cancel()

	cfg = rest.CopyConfig(cfg)
	// A function of its own keeps the transport out of client-go's cache.
	cfg.Proxy = http.ProxyFromEnvironment

	h, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return fmt.Errorf("cannot make an HTTP client: %w", err)
	}
	defer h.CloseIdleConnections()

	k, err := kubernetes.NewForConfigAndClient(cfg, h)
	if err != nil {
		return fmt.Errorf("cannot make a client: %w", err)
	}

	return do(ctx, k)
}

// ExportedAnswers asks the API of a vCluster with the kubeconfig that the
// vCluster itself exports, through its Service.
func (c *Cluster) ExportedAnswers(ctx context.Context, release, namespace string) error {
	s := &corev1.Secret{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: vcluster.ExportedSecretName(release)}, s); err != nil {
		return fmt.Errorf("cannot read the exported kubeconfig: %w", err)
	}

	cfg, err := clientcmd.RESTConfigFromKubeConfig(s.Data[vcluster.KeyConfig])
	if err != nil {
		return fmt.Errorf("cannot use the exported kubeconfig: %w", err)
	}

	svc := &corev1.Service{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: release}, svc); err != nil {
		return fmt.Errorf("cannot read the vCluster's Service: %w", err)
	}

	cfg.Host = fmt.Sprintf("https://%s:%d", svc.Spec.ClusterIP, vcluster.ServicePort)

	return answers(ctx, cfg)
}
