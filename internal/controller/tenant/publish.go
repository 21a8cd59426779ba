// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"reflect"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// publishedData is what the Secret beside the Tenant holds.
func publishedData(k *vcluster.Kubeconfig) (map[string][]byte, error) {
	raw, err := k.Bytes()
	if err != nil {
		return nil, fmt.Errorf("cannot write the kubeconfig: %w", err)
	}

	return map[string][]byte{xpv2.CredentialsSecretKubeconfigKey: raw}, nil
}

// connectionDetails are what a connection Secret holds.
func connectionDetails(k *vcluster.Kubeconfig) (managed.ConnectionDetails, error) {
	if k == nil {
		return nil, nil
	}

	raw, err := k.Bytes()
	if err != nil {
		return nil, fmt.Errorf("cannot write the kubeconfig: %w", err)
	}

	return managed.ConnectionDetails{
		xpv2.CredentialsSecretKubeconfigKey: raw,
		xpv2.CredentialsSecretEndpointKey:   []byte(k.Endpoint()),
		xpv2.CredentialsSecretCAKey:         k.CA(),
		xpv2.CredentialsSecretClientCertKey: k.ClientCert(),
		xpv2.CredentialsSecretClientKeyKey:  k.ClientKey(),
	}, nil
}

// publishedSecret reads the Secret beside the Tenant; nil when there is none.
func (e *external) publishedSecret(ctx context.Context, t *v1alpha1.Tenant) (*corev1.Secret, error) {
	s := &corev1.Secret{}

	err := e.kube.Get(ctx, types.NamespacedName{Namespace: t.GetNamespace(), Name: e.names.secret}, s)
	if kerrors.IsNotFound(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q in namespace %q: %w", e.names.secret, t.GetNamespace(), err)
	}

	return s, nil
}

// isPublished says that s, which may be nil, is the Tenant's and holds k.
func (e *external) isPublished(t *v1alpha1.Tenant, s *corev1.Secret, k *vcluster.Kubeconfig) (bool, error) {
	if s == nil {
		return false, nil
	}

	data, err := publishedData(k)
	if err != nil {
		return false, err
	}

	return metav1.IsControlledBy(s, t) && e.stamped(t, s) && reflect.DeepEqual(s.Data, data), nil
}

// publish writes the Secret beside the Tenant, and refuses one that is not the Tenant's.
func (e *external) publish(ctx context.Context, t *v1alpha1.Tenant, f *facts) error {
	data, err := publishedData(f.access.kubeconfig)
	if err != nil {
		return err
	}

	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.GetNamespace(), Name: e.names.secret}}

	err = createOr(ctx, controllerutil.CreateOrUpdate, f.access.secret == nil, e.kube, s, func() error {
		if s.GetUID() != "" && !metav1.IsControlledBy(s, t) {
			return foreignSecret(t, s)
		}

		e.stamp(t, s)
		s.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(t, v1alpha1.TenantGroupVersionKind))})
		s.Data = data

		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot publish the kubeconfig as Secret %q: %w", e.names.secret, err)
	}

	f.access.published = true
	e.noteCompletion(done(v1alpha1.TypeKubeconfigPublished), e.clock.Now())

	return nil
}

func foreignSecret(t *v1alpha1.Tenant, s *corev1.Secret) error {
	owner := "has no owner"
	if o := metav1.GetControllerOf(s); o != nil {
		owner = fmt.Sprintf("belongs to %s %q", o.Kind, o.Name)
	}

	return fmt.Errorf("%w: Secret %q in namespace %q %s; delete it, or give the Tenant another cloudSpaceID",
		errConflict, s.GetName(), t.GetNamespace(), owner)
}
