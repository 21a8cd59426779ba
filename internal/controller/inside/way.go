// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// passTimeout bounds all calls into one vCluster in one pass, so that one whose
// API hangs stops nobody else.
const passTimeout = 10 * time.Second

// Why there is no way into a vCluster. Each passes by itself, or by what is done
// to the Tenant: none is a failure of who waits.
var (
	// ErrNoTenant says that the Tenant does not exist, or is another than the one
	// that the object was inside of.
	ErrNoTenant = errors.New("there is no such Tenant")
	// ErrTenantDeleting says that the Tenant is being deleted.
	ErrTenantDeleting = errors.New("the Tenant is being deleted")
	// ErrNoKubeconfig says that the Tenant has published no usable kubeconfig.
	ErrNoKubeconfig = errors.New("there is no kubeconfig yet")
	// ErrUnreachable says that the Tenant found that its API does not answer.
	ErrUnreachable = errors.New("the tenant's API cannot be reached")
)

// IsWaiting says that err is one of those reasons.
func IsWaiting(err error) bool {
	return errors.Is(err, ErrNoTenant) || errors.Is(err, ErrTenantDeleting) ||
		errors.Is(err, ErrNoKubeconfig) || errors.Is(err, ErrUnreachable)
}

// Way is the way into the vCluster of a Tenant.
type Way struct {
	// Tenant as it was found; nil when there is none.
	Tenant *v1alpha1.Tenant
	// API of its vCluster; nil when there is no way in.
	API *tenantapi.API
}

// Door finds the way into vClusters.
type Door struct {
	// Kube reads Tenants and, not from a cache, Secrets.
	Kube client.Reader
	// Open makes the clients for the Tenant of a UID.
	Open func(tenant types.UID, k *vcluster.Kubeconfig) (*tenantapi.API, error)
}

// Find finds the way into the vCluster of the Tenant that mg refers to, with what
// the Tenant has published. It makes no call to the tenant's API. With an error,
// for which see [IsWaiting], the Way holds as much as was found.
func (d Door) Find(ctx context.Context, mg resource.Managed) (Way, error) {
	ref, _ := TenantOf(mg)

	t := &v1alpha1.Tenant{}
	if err := d.Kube.Get(ctx, ref, t); kerrors.IsNotFound(err) {
		return Way{}, fmt.Errorf("%w: Tenant %q in namespace %q; create it, or delete this %s", ErrNoTenant, ref.Name, ref.Namespace, kindOf(mg))
	} else if err != nil {
		return Way{}, fmt.Errorf("cannot read Tenant %q: %w", ref.Name, err)
	}

	if meta.WasDeleted(mg) {
		if was := boundTo(mg); was != "" && was != t.GetUID() {
			return Way{}, fmt.Errorf("%w: Tenant %q is another than it was", ErrNoTenant, ref.Name)
		}
	} else if meta.WasDeleted(t) {
		return Way{Tenant: t}, fmt.Errorf("%w: Tenant %q", ErrTenantDeleting, ref.Name)
	}

	k, err := d.kubeconfig(ctx, t)
	if err != nil {
		return Way{Tenant: t}, err
	}

	if !meta.WasDeleted(t) && t.GetCondition(v1alpha1.TypeAPIReachable).Status == corev1.ConditionFalse {
		return Way{Tenant: t}, fmt.Errorf("%w: see the condition %s of Tenant %q", ErrUnreachable, v1alpha1.TypeAPIReachable, ref.Name)
	}

	api, err := d.Open(t.GetUID(), k)
	if err != nil {
		return Way{Tenant: t}, fmt.Errorf("cannot use the kubeconfig of Tenant %q: %w", ref.Name, err)
	}

	return Way{Tenant: t, API: api}, nil
}

// kubeconfig is the one that the Tenant has published.
func (d Door) kubeconfig(ctx context.Context, t *v1alpha1.Tenant) (*vcluster.Kubeconfig, error) {
	key := types.NamespacedName{Namespace: t.GetNamespace(), Name: vcluster.KubeconfigSecretName(t.Spec.CloudSpaceID)}

	s := &corev1.Secret{}
	if err := d.Kube.Get(ctx, key, s); kerrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: Tenant %q has not published Secret %q", ErrNoKubeconfig, t.GetName(), key.Name)
	} else if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q: %w", key.Name, err)
	}

	if !metav1.IsControlledBy(s, t) {
		return nil, fmt.Errorf("%w: Secret %q does not belong to Tenant %q", ErrNoKubeconfig, key.Name, t.GetName())
	}

	k, err := vcluster.ParseKubeconfig(s.Data[xpv2.CredentialsSecretKubeconfigKey])
	if err != nil {
		return nil, fmt.Errorf("%w: Secret %q of Tenant %q: %w", ErrNoKubeconfig, key.Name, t.GetName(), err)
	}

	return k, nil
}
