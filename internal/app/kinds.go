// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/gate"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/customresourcesgate"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/config"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// kindsPause is how long kinds may be unknown before that is said: a first
	// look at those of a cluster takes a moment.
	kindsPause = 2 * time.Second
	// mapInterval is how often the API server is asked for a kind that it has
	// just begun to serve.
	mapInterval = 200 * time.Millisecond
)

// needed are the kinds without which no controller starts: each works with most
// of the others.
func needed() map[schema.GroupVersionKind]string {
	return map[schema.GroupVersionKind]string{
		v1alpha1.TenantGroupVersionKind:                "tenants",
		v1alpha1.AdvisorAgentGroupVersionKind:          "advisoragents",
		v1alpha1.TenantQuotaGroupVersionKind:           "tenantquotas",
		v1alpha1.ProviderConfigGroupVersionKind:        "providerconfigs",
		v1alpha1.ClusterProviderConfigGroupVersionKind: "clusterproviderconfigs",
		v1alpha1.ProviderConfigUsageGroupVersionKind:   "providerconfigusages",
	}
}

// kinds is the gate that opens once all kinds of ours are served. It knows which
// are not.
type kinds struct {
	gate   gate.Gate[schema.GroupVersionKind]
	opened chan struct{}

	mu     sync.Mutex
	absent map[schema.GroupVersionKind]string
}

var _ controller.Gate = &kinds{}

func newKinds() *kinds {
	k := &kinds{opened: make(chan struct{}), absent: needed()}
	of := make([]schema.GroupVersionKind, 0, len(k.absent))
	for gvk := range k.absent {
		of = append(of, gvk)
	}
	k.gate.Register(func() { close(k.opened) }, of...)
	return k
}

// Register a function to be called once these kinds are served.
func (k *kinds) Register(fn func(), of ...schema.GroupVersionKind) { k.gate.Register(fn, of...) }

// Set whether a kind is served.
func (k *kinds) Set(gvk schema.GroupVersionKind, served bool) bool {
	if plural, ours := needed()[gvk]; ours {
		k.mu.Lock()
		if served {
			delete(k.absent, gvk)
		} else {
			k.absent[gvk] = plural
		}
		k.mu.Unlock()
	}
	return k.gate.Set(gvk, served)
}

// missing names the CRDs of the kinds that are not served, sorted.
func (k *kinds) missing() []string {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []string
	for gvk, plural := range k.absent {
		out = append(out, fmt.Sprintf("CRD %s.%s", plural, gvk.Group))
	}
	slices.Sort(out)
	return out
}

// await returns when all kinds are served and known to the mapper, or with the
// error of ctx. It tells which CRDs are missing as long as there are some.
func (k *kinds) await(ctx context.Context, mapper meta.RESTMapper, tell func([]string)) error {
	again := time.NewTicker(kindsPause)
	defer again.Stop()
	for open := false; !open; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-k.opened:
			open = true
		case <-again.C:
			if m := k.missing(); len(m) > 0 {
				tell(m)
			}
		}
	}
	// A CRD is established a moment before its kind is found by discovery.
	return wait.PollUntilContextCancel(ctx, mapInterval, true, func(context.Context) (bool, error) {
		for gvk := range needed() {
			if _, err := mapper.RESTMapping(gvk.GroupKind(), gvk.Version); err != nil {
				return false, nil //nolint:nilerr // It is asked again until ctx ends.
			}
		}
		return true, nil
	})
}

// watchKinds has the gate know which kinds the cluster serves, in every replica.
func watchKinds(mgr ctrl.Manager, o controller.Options, k *kinds) error {
	o.Gate = k
	if err := customresourcesgate.Setup(everyReplica{mgr}, o); err != nil {
		return fmt.Errorf("cannot set up the controller of CRDs: %w", err)
	}
	return nil
}

// everyReplica is a manager whose controllers work without being the leader.
type everyReplica struct{ ctrl.Manager }

// GetControllerOptions are those of the manager otherwise.
func (m everyReplica) GetControllerOptions() config.Controller {
	o := m.Manager.GetControllerOptions()
	o.NeedLeaderElection = ptr.To(false)
	return o
}
