// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"net"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// keepAddress makes the Service of a deployed release again at the address that it had,
// if someone deleted it, before Helm makes it at another: pods inside the vCluster have
// been told that address of its API for good, and so have the people who were given its
// kubeconfig. Where the address is not to be had any more, Helm has its way.
func (e *external) keepAddress(ctx context.Context, t *v1alpha1.Tenant, r *helm.Release) error {
	if r == nil || r.Status != helm.StatusDeployed {
		return nil
	}

	key := types.NamespacedName{Namespace: e.names.namespace, Name: e.names.release}
	if err := e.live.Get(ctx, key, &corev1.Service{}); !kerrors.IsNotFound(err) {
		return client.IgnoreNotFound(err)
	}

	address, err := e.publishedAddress(ctx, t)
	if err != nil || address == "" {
		return err
	}

	svc, err := e.serviceOf(r)
	if err != nil || svc == nil {
		return err
	}

	if err := unstructured.SetNestedField(svc.Object, address, "spec", "clusterIP"); err != nil {
		return fmt.Errorf("cannot keep the address of Service %q: %w", key.Name, err)
	}

	switch err := e.live.Create(ctx, svc); {
	case err == nil, kerrors.IsAlreadyExists(err), kerrors.IsInvalid(err):
		return nil
	default:
		return fmt.Errorf("cannot make Service %q on the host cluster again: %w", key.Name, err)
	}
}

// publishedAddress is the IP address of the published kubeconfig's server, empty if there
// is none.
func (e *external) publishedAddress(ctx context.Context, t *v1alpha1.Tenant) (string, error) {
	s, err := e.publishedSecret(ctx, t)
	if err != nil || s == nil {
		return "", err
	}

	k, err := vcluster.ParseKubeconfig(s.Data[xpv2.CredentialsSecretKubeconfigKey])
	if err != nil {
		return "", nil //nolint:nilerr // Who spoiled it has lost the address.
	}

	host := hostOf(k.Endpoint())
	if net.ParseIP(host) == nil {
		return "", nil
	}

	return host, nil
}

// serviceOf is the control plane's Service as the release has it, with what Helm knows
// it by; nil if its address is not for us to give.
func (e *external) serviceOf(r *helm.Release) (*unstructured.Unstructured, error) {
	objs, err := helm.ManifestObjects(r, kindService)
	if err != nil {
		return nil, err
	}

	for _, o := range objs {
		if o.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind(kindService) || o.GetName() != e.names.release {
			continue
		}

		if _, given, err := unstructured.NestedString(o.Object, "spec", "clusterIP"); err != nil || given {
			return nil, err
		}

		o.SetNamespace(e.names.namespace)
		meta.AddLabels(o, map[string]string{helm.LabelManagedBy: helm.ManagedByHelm})
		meta.AddAnnotations(o, map[string]string{helm.AnnotationReleaseName: r.Name, helm.AnnotationReleaseNamespace: e.names.namespace})

		return o, nil
	}

	return nil, nil
}
