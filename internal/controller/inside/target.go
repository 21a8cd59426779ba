// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"fmt"

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

// Why a vCluster is not available. Each passes by itself, or by what is done to
// the Tenant: none is a failure of who waits.
var (
	// errNoTenant says that the Tenant does not exist, or is another than the one
	// that the object was inside of.
	errNoTenant = errors.New("there is no such Tenant")
	// errTenantDeleting says that the Tenant is being deleted.
	errTenantDeleting = errors.New("the Tenant is being deleted")
	// errNoKubeconfig says that the Tenant has published no usable kubeconfig.
	errNoKubeconfig = errors.New("there is no kubeconfig yet")
	// errUnreachable says that the Tenant found that its API does not answer.
	errUnreachable = errors.New("the tenant's API cannot be reached")
)

// isWaiting says that err is one of those reasons.
func isWaiting(err error) bool {
	return errors.Is(err, errNoTenant) || errors.Is(err, errTenantDeleting) ||
		errors.Is(err, errNoKubeconfig) || errors.Is(err, errUnreachable)
}

// Target is the vCluster that an object is inside of.
type Target struct {
	// Tenant as it was found; nil when there is none.
	Tenant *v1alpha1.Tenant
	// API of its vCluster; nil when it is not available.
	API *tenantapi.API
	// Inside reads and writes there.
	Inside client.Client
}

// target finds the vCluster of the Tenant that mg refers to, and the clients for
// it by what the Tenant has published. It makes no call to the tenant's API. With
// an error, for which see [isWaiting], the Target holds as much as was found.
func (p Pass) target(ctx context.Context, mg resource.Managed) (Target, error) {
	ref, _ := TenantOf(mg)

	// What goes may go without a cleanup when its Tenant is gone, which no cache proves.
	kube := client.Reader(p.Kube)
	if meta.WasDeleted(mg) {
		kube = p.Live
	}

	t := &v1alpha1.Tenant{}
	if err := kube.Get(ctx, ref, t); kerrors.IsNotFound(err) {
		return Target{}, fmt.Errorf("%w: Tenant %q in namespace %q; create it, or delete this %s", errNoTenant, ref.Name, ref.Namespace, KindOf(mg))
	} else if err != nil {
		return Target{}, fmt.Errorf("cannot read Tenant %q: %w", ref.Name, err)
	}

	if meta.WasDeleted(mg) {
		if was := boundTo(mg); was != "" && was != t.GetUID() {
			return Target{}, fmt.Errorf("%w: Tenant %q is another than it was", errNoTenant, ref.Name)
		}
	} else if meta.WasDeleted(t) {
		return Target{Tenant: t}, fmt.Errorf("%w: Tenant %q", errTenantDeleting, ref.Name)
	}

	k, err := p.kubeconfig(ctx, t)
	if err != nil {
		return Target{Tenant: t}, err
	}

	if !meta.WasDeleted(mg) && boundTo(mg) != t.GetUID() {
		return Target{Tenant: t}, fmt.Errorf("%w: Tenant %q has published it just now", errNoKubeconfig, ref.Name)
	}

	if !meta.WasDeleted(t) && foundUnreachable(t, mg) {
		return Target{Tenant: t}, fmt.Errorf("%w: see the condition %s of Tenant %q", errUnreachable, v1alpha1.TypeAPIReachable, ref.Name)
	}

	api, err := p.Open(t.GetUID(), k)
	if err != nil {
		return Target{Tenant: t}, fmt.Errorf("cannot use the kubeconfig of Tenant %q: %w", ref.Name, err)
	}

	return Target{Tenant: t, API: api, Inside: p.reads.Live(api.Live, nil)}, nil
}

// foundUnreachable says that the Tenant found its API not to answer, and has not made mg
// since: what it made later shows that the API answers again, before its status says so.
func foundUnreachable(t *v1alpha1.Tenant, mg client.Object) bool {
	c, made := t.GetCondition(v1alpha1.TypeAPIReachable), mg.GetCreationTimestamp()

	return c.Status == corev1.ConditionFalse && (!metav1.IsControlledBy(mg, t) || made.Before(&c.LastTransitionTime))
}

// kubeconfig is the one that the Tenant has published.
func (p Pass) kubeconfig(ctx context.Context, t *v1alpha1.Tenant) (*vcluster.Kubeconfig, error) {
	key := types.NamespacedName{Namespace: t.GetNamespace(), Name: vcluster.KubeconfigSecretName(t.Spec.CloudSpaceID)}

	s := &corev1.Secret{}
	if err := p.Kube.Get(ctx, key, s); kerrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: Tenant %q has not published Secret %q", errNoKubeconfig, t.GetName(), key.Name)
	} else if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q: %w", key.Name, err)
	}

	if !metav1.IsControlledBy(s, t) {
		return nil, fmt.Errorf("%w: Secret %q does not belong to Tenant %q", errNoKubeconfig, key.Name, t.GetName())
	}

	k, err := vcluster.ParseKubeconfig(s.Data[xpv2.CredentialsSecretKubeconfigKey])
	if err != nil {
		return nil, fmt.Errorf("%w: Secret %q of Tenant %q: %w", errNoKubeconfig, key.Name, t.GetName(), err)
	}

	return k, nil
}

// connectionState is what of a Tenant decides whether its vCluster is available.
type connectionState struct {
	uid      types.UID
	secret   string
	api      corev1.ConditionStatus
	deleting bool
}

func connectionStateOf(t *v1alpha1.Tenant) connectionState {
	return connectionState{
		uid:      t.GetUID(),
		secret:   t.Status.KubeconfigSecret,
		api:      t.GetCondition(v1alpha1.TypeAPIReachable).Status,
		deleting: t.GetDeletionTimestamp() != nil,
	}
}

// boundTo is the UID of the Tenant that mg was inside of last; empty when it was
// inside of none.
func boundTo(mg client.Object) types.UID {
	return types.UID(mg.GetLabels()[v1alpha1.LabelTenantUID])
}
