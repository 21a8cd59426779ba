// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func TestFind(t *testing.T) {
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
		"NoTenant":    {reason: "none of that name", of: agent, err: ErrNoTenant, says: `Tenant "alice-default" in namespace "kubeopera-system"; create it, or delete this AdvisorAgent`, waiting: true},
		"NoSecret":    {reason: "nothing published", of: agent, kube: []client.Object{insidetest.Tenant()}, err: ErrNoKubeconfig, says: "tenant-7e9d3a1b-kubeconfig", tenant: true, waiting: true},
		"Foreign":     {reason: "a Secret that is not the Tenant's leads nowhere", of: agent, kube: []client.Object{insidetest.Tenant(), foreign}, err: ErrNoKubeconfig, says: "does not belong", tenant: true, waiting: true},
		"Empty":       {reason: "an empty Secret", of: agent, kube: []client.Object{insidetest.Tenant(), insidetest.Secret(insidetest.Tenant(), nil)}, err: ErrNoKubeconfig, tenant: true, waiting: true},
		"Rubbish":     {reason: "a Secret that holds something else", of: agent, kube: []client.Object{insidetest.Tenant(), insidetest.Secret(insidetest.Tenant(), []byte("{]"))}, err: ErrNoKubeconfig, tenant: true, waiting: true},
		"Unreachable": {reason: "the Tenant knows that its API does not answer", of: agent, kube: []client.Object{unreachable(insidetest.Tenant()), good}, err: ErrUnreachable, says: "APIReachable", tenant: true, waiting: true},
		"Deleting":    {reason: "nothing is made in what goes", of: agent, kube: []client.Object{deleted, good}, err: ErrTenantDeleting, tenant: true, waiting: true},
		"BothGoing":   {reason: "what goes is removed from what goes, whatever its conditions say", of: going, kube: []client.Object{unreachable(insidetest.Deleted(insidetest.Tenant(), insidetest.Epoch)), good}, tenant: true, api: true},
		"GoingAlone":  {reason: "what goes is removed from what stays", of: going, kube: []client.Object{insidetest.Tenant(), good}, tenant: true, api: true},
		"Another":     {reason: "the Tenant of that name is not the one that it was inside of", of: stranger, kube: []client.Object{insidetest.Tenant(), good}, err: ErrNoTenant, says: "another than it was", waiting: true},
		"Unusable":    {reason: "clients that cannot be made are a failure", of: agent, kube: []client.Object{insidetest.Tenant(), good}, open: errInjected, err: errInjected, tenant: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			d := doorTo(newKube(clones(tc.kube)...))
			d.Open = func(uid types.UID, _ *vcluster.Kubeconfig) (*tenantapi.API, error) {
				if uid != "uid-alice" {
					t.Errorf("clients for the Tenant of UID %q", uid)
				}

				return &tenantapi.API{}, tc.open
			}

			w, err := d.Find(t.Context(), tc.of)
			if !errors.Is(err, tc.err) || (err != nil && !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("%s: %v", tc.reason, err)
			}

			if (w.Tenant != nil) != tc.tenant || (w.API != nil) != tc.api || IsWaiting(err) != tc.waiting {
				t.Errorf("%s: found Tenant: %t, API: %t, waiting: %t", tc.reason, w.Tenant != nil, w.API != nil, IsWaiting(err))
			}

			if err != nil && strings.Contains(err.Error(), "BEGIN CERTIFICATE") {
				t.Errorf("%s: the error quotes the kubeconfig: %v", tc.reason, err)
			}
		})
	}
}

// TestFindCannotRead holds that what cannot be read is not taken for absent.
func TestFindCannotRead(t *testing.T) {
	t.Parallel()

	for _, kind := range []string{"Tenant", "Secret"} {
		kube := interceptor.NewClient(newKube(insidetest.Tenant(), insidetest.Secret(insidetest.Tenant(), insidetest.Kubeconfig())), interceptor.Funcs{
			Get: func(ctx context.Context, c client.WithWatch, key client.ObjectKey, o client.Object, opts ...client.GetOption) error {
				if _, secret := o.(*corev1.Secret); secret == (kind == "Secret") {
					return errInjected
				}

				return c.Get(ctx, key, o, opts...)
			},
		})

		if _, err := doorTo(kube).Find(t.Context(), insidetest.Agent("a")); !errors.Is(err, errInjected) || IsWaiting(err) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestAskLeave(t *testing.T) {
	t.Parallel()

	at := func(s int) time.Time { return insidetest.Epoch.Add(time.Duration(s) * time.Second) }
	never := insidetest.Tenant()
	never.Status.KubeconfigSecret = ""

	neverInside := insidetest.Deleted(insidetest.Agent("a"), at(0))
	delete(neverInside.Labels, v1alpha1.LabelTenantUID)

	alive := Way{Tenant: insidetest.Tenant()}
	going := Way{Tenant: insidetest.Deleted(insidetest.Tenant(), at(100))}

	cases := map[string]struct {
		reason string
		of     resource.Managed
		way    Way
		err    error
		now    time.Time
		want   leave
	}{
		"NoTenant":     {"its Tenant is gone", nil, Way{}, ErrNoTenant, at(0), leave{granted: true, because: ErrNoTenant.Error()}},
		"NeverInside":  {"its Tenant never was", neverInside, Way{}, ErrNoTenant, at(0), leave{granted: true}},
		"NeverOpen":    {"its Tenant never had a kubeconfig", nil, Way{Tenant: never}, ErrNoKubeconfig, at(0), leave{granted: true}},
		"Lost":         {"a kubeconfig that was there comes back", nil, alive, ErrNoKubeconfig, at(999), leave{}},
		"Unreachable":  {"nothing is left behind in a vCluster that lives", nil, alive, ErrUnreachable, at(999), leave{}},
		"Failing":      {"whatever the error", nil, alive, errInjected, at(999), leave{}},
		"Unreadable":   {"a Tenant that cannot be read may be alive", nil, Way{}, errInjected, at(999), leave{}},
		"Trying":       {"it tries as long as it has time", nil, going, errInjected, at(101), leave{again: at(115)}},
		"AlmostOver":   {"to the end", nil, going, errInjected, at(115).Add(-1), leave{again: at(115)}},
		"Over":         {"and goes when it has none", nil, going, errInjected, at(115), leave{granted: true, because: `Tenant "alice-default" is being deleted, and not all was removed within 15s: injected failure`}},
		"LaterRequest": {"its time begins with its own deletion", insidetest.Deleted(insidetest.Agent("a"), at(200)), going, errInjected, at(210), leave{again: at(215)}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			mg := tc.of
			if mg == nil {
				mg = insidetest.Deleted(insidetest.Agent("a"), at(0))
			}

			if got := askLeave(mg, tc.way, tc.err, tc.now); got != tc.want {
				t.Errorf("%s: got %+v, want %+v", tc.reason, got, tc.want)
			}
		})
	}
}

func TestCallTimeout(t *testing.T) {
	t.Parallel()

	at := func(s int) time.Time { return insidetest.Epoch.Add(time.Duration(s) * time.Second) }
	mg := insidetest.Deleted(insidetest.Agent("a"), at(0))
	going := Way{Tenant: insidetest.Deleted(insidetest.Tenant(), at(0))}

	for name, tc := range map[string]struct {
		of   resource.Managed
		way  Way
		now  time.Time
		want time.Duration
	}{
		"NoTenant":    {mg, Way{}, at(0), 10 * time.Second},
		"Alive":       {mg, Way{Tenant: insidetest.Tenant()}, at(14), 10 * time.Second},
		"NotDeleted":  {insidetest.Agent("a"), going, at(14), 10 * time.Second},
		"Enough":      {mg, going, at(1), 10 * time.Second},
		"TheRest":     {mg, going, at(12), 3 * time.Second},
		"LastAttempt": {mg, going, at(99), time.Second},
	} {
		if got := callTimeout(tc.of, tc.way, tc.now); got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
	}
}

func clones(objs []client.Object) []client.Object {
	out := make([]client.Object, len(objs))
	for i, o := range objs {
		out[i] = o.DeepCopyObject().(client.Object)
	}

	return out
}
