// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func TestTarget(t *testing.T) {
	t.Parallel()

	unreachable := func(t *v1alpha1.Tenant) *v1alpha1.Tenant {
		t.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: corev1.ConditionFalse})
		return t
	}
	silent := insidetest.Tenant()
	silent.Status.Conditions = nil

	foreign := insidetest.Secret(insidetest.Tenant(), insidetest.Kubeconfig())
	foreign.SetOwnerReferences(nil)

	deleted := insidetest.Deleted(insidetest.Tenant(), insidetest.Epoch)
	good := insidetest.Secret(insidetest.Tenant(), insidetest.Kubeconfig())
	agent := insidetest.Agent("a")
	unbound := insidetest.Agent("a")
	delete(unbound.Labels, v1alpha1.LabelTenantUID)

	lost := unreachable(insidetest.Tenant())
	lost.Status.Conditions[0].LastTransitionTime = metav1.NewTime(insidetest.Epoch)

	own := func(made time.Duration) *v1alpha1.AdvisorAgent {
		a := insidetest.Agent("a")
		a.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(lost, v1alpha1.TenantGroupVersionKind))})
		a.SetCreationTimestamp(metav1.NewTime(insidetest.Epoch.Add(made)))

		return a
	}
	later := insidetest.Agent("a")
	later.SetCreationTimestamp(metav1.NewTime(insidetest.Epoch.Add(time.Second)))

	going := insidetest.Deleted(insidetest.Agent("a"), insidetest.Epoch)
	stranger := insidetest.Deleted(insidetest.Agent("a"), insidetest.Epoch)
	stranger.Labels[v1alpha1.LabelTenantUID] = "uid-of-the-one-before"

	cases := map[string]struct {
		reason  string
		of      resource.Managed
		kube    []client.Object
		open    error
		err     error
		says    string
		tenant  bool
		api     bool
		waiting bool
	}{
		"Ready":       {reason: "the Tenant has published its kubeconfig", of: agent, kube: []client.Object{insidetest.Tenant(), good}, tenant: true, api: true},
		"Quota":       {reason: "TenantQuotas find it likewise", of: insidetest.Quota("q"), kube: []client.Object{insidetest.Tenant(), good}, tenant: true, api: true},
		"NoCondition": {reason: "a Tenant that says nothing of its API may be asked", of: agent, kube: []client.Object{silent, good}, tenant: true, api: true},
		"NoTenant":    {reason: "none of that name", of: agent, err: errNoTenant, says: `Tenant "alice-default" in namespace "kubeopera-system"; create it, or delete this AdvisorAgent`, waiting: true},
		"NoSecret":    {reason: "nothing published", of: agent, kube: []client.Object{insidetest.Tenant()}, err: errNoKubeconfig, says: "tenant-7e9d3a1b-kubeconfig", tenant: true, waiting: true},
		"Unbound":     {reason: "what does not say so is inside of nothing", of: unbound, kube: []client.Object{insidetest.Tenant(), good}, err: errNoKubeconfig, says: "just now", tenant: true, waiting: true},
		"Foreign":     {reason: "a Secret that is not the Tenant's is not used", of: agent, kube: []client.Object{insidetest.Tenant(), foreign}, err: errNoKubeconfig, says: "does not belong", tenant: true, waiting: true},
		"Empty":       {reason: "an empty Secret", of: agent, kube: []client.Object{insidetest.Tenant(), insidetest.Secret(insidetest.Tenant(), nil)}, err: errNoKubeconfig, tenant: true, waiting: true},
		"Rubbish":     {reason: "a Secret that holds something else", of: agent, kube: []client.Object{insidetest.Tenant(), insidetest.Secret(insidetest.Tenant(), []byte("{]"))}, err: errNoKubeconfig, tenant: true, waiting: true},
		"Unreachable": {reason: "the Tenant knows that its API does not answer", of: agent, kube: []client.Object{unreachable(insidetest.Tenant()), good}, err: errUnreachable, says: "APIReachable", tenant: true, waiting: true},
		"MadeSince":   {reason: "what the Tenant has made since then says that it does", of: own(0), kube: []client.Object{lost, good}, tenant: true, api: true},
		"MadeBefore":  {reason: "what it made before says nothing", of: own(-time.Second), kube: []client.Object{lost, good}, err: errUnreachable, tenant: true, waiting: true},
		"ByOthers":    {reason: "nor does what others made since then", of: later, kube: []client.Object{lost, good}, err: errUnreachable, tenant: true, waiting: true},
		"Deleting":    {reason: "nothing is made in what goes", of: agent, kube: []client.Object{deleted, good}, err: errTenantDeleting, tenant: true, waiting: true},
		"BothGoing":   {reason: "what goes is removed from what goes, whatever its conditions say", of: going, kube: []client.Object{unreachable(insidetest.Deleted(insidetest.Tenant(), insidetest.Epoch)), good}, tenant: true, api: true},
		"GoingAlone":  {reason: "what goes is removed from what stays", of: going, kube: []client.Object{insidetest.Tenant(), good}, tenant: true, api: true},
		"Another":     {reason: "the Tenant of that name is not the one that it was inside of", of: stranger, kube: []client.Object{insidetest.Tenant(), good}, err: errNoTenant, says: "another than it was", waiting: true},
		"Unusable":    {reason: "clients that cannot be made are a failure", of: agent, kube: []client.Object{insidetest.Tenant(), good}, open: insidetest.ErrInjected, err: insidetest.ErrInjected, tenant: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := controllerOf(newKube(clones(tc.kube)...))
			c.Open = func(uid types.UID, _ *vcluster.Kubeconfig) (*tenantapi.API, error) {
				if uid != "uid-alice" {
					t.Errorf("clients for the Tenant of UID %q", uid)
				}

				return &tenantapi.API{}, tc.open
			}

			found, err := targetOf(t, c, tc.of)
			if !errors.Is(err, tc.err) || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%s: %v", tc.reason, err)
			}

			if (found.Tenant != nil) != tc.tenant || (found.API != nil) != tc.api || isWaiting(err) != tc.waiting {
				t.Errorf("%s: found Tenant: %t, API: %t, waiting: %t", tc.reason, found.Tenant != nil, found.API != nil, isWaiting(err))
			}

			if err != nil && strings.Contains(err.Error(), "BEGIN CERTIFICATE") {
				t.Errorf("%s: the error quotes the kubeconfig: %v", tc.reason, err)
			}
		})
	}
}

// TestTargetCannotRead holds that what cannot be read is not taken for absent.
func TestTargetCannotRead(t *testing.T) {
	t.Parallel()

	for _, kind := range []string{"Tenant", "Secret"} {
		kube := interceptor.NewClient(newKube(insidetest.Tenant(), insidetest.Secret(insidetest.Tenant(), insidetest.Kubeconfig())), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if _, secret := o.(*corev1.Secret); secret == (kind == "Secret") {
					return insidetest.ErrInjected
				}

				return c.Get(ctx, key, o, opts...)
			},
		})

		if _, err := targetOf(t, controllerOf(kube), insidetest.Agent("a")); !errors.Is(err, insidetest.ErrInjected) || isWaiting(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestR4TenantIsNotGoneByACache holds that a cache that is behind lets nothing go
// that is still inside a vCluster.
func TestR4TenantIsNotGoneByACache(t *testing.T) {
	t.Parallel()

	before := insidetest.Tenant()
	before.SetUID("uid-of-the-one-before")

	for name, cache := range map[string][]client.Object{"R4: no Tenant yet": nil, "R4: the one before": {before}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			c := controllerOf(newKube(append(clones(cache), insidetest.Secret(insidetest.Tenant(), insidetest.Kubeconfig()))...))
			c.Live = newKube(insidetest.Tenant())

			found, err := targetOf(t, c, insidetest.Deleted(insidetest.Agent("a"), insidetest.Epoch))
			if err != nil || found.API == nil {
				t.Errorf("the vCluster is there to be cleaned up: found %t, %v", found.API != nil, err)
			}
		})
	}
}

func clones(objs []client.Object) []client.Object {
	out := make([]client.Object, len(objs))
	for i, o := range objs {
		out[i] = o.DeepCopyObject().(client.Object)
	}

	return out
}
