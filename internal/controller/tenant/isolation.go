// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	discoveryv1 "k8s.io/api/discovery/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
)

// policyNames are the NetworkPolicies of a host namespace, in the order in which they
// are made: the one for all pods alone would cut a control plane that runs off from the
// host's API.
var policyNames = []string{isolation.ControlPlanePolicy, isolation.TenantPolicy}

// isolationWanted is what the isolation of a host namespace should be. Of what is not in
// it nothing is wanted.
type isolationWanted struct {
	// labels of the namespace.
	labels map[string]string
	// policies by their names.
	policies map[string]networkingv1.NetworkPolicySpec
}

// wantIsolation is what the isolation of the host namespace should be, on a host whose
// own API is there. The error says why a part of it that is there stays as it is, or
// cannot be made: rules that an API server refuses, or an API at no known address.
func (e *external) wantIsolation(b boundary, hostAPI []discoveryv1.EndpointSlice) (isolationWanted, error) {
	is := isolationWanted{policies: map[string]networkingv1.NetworkPolicySpec{}}
	for name, p := range b.policies {
		is.policies[name] = p.Spec
	}

	if err := isolation.Validate(e.defaults.Isolation); err != nil {
		return is, fmt.Errorf("cannot use the isolation of %s, which has to be corrected there: %w", e.defaults.isolatedBy, err)
	}

	api, err := isolation.ControlPlane(e.names.release, hostAPI)
	if err != nil {
		var ok bool
		if api, ok = is.policies[isolation.ControlPlanePolicy]; !ok {
			return is, err
		}
	}

	return isolationWanted{
		labels: isolation.PodSecurity(e.defaults.Isolation),
		policies: map[string]networkingv1.NetworkPolicySpec{
			isolation.ControlPlanePolicy: api,
			isolation.TenantPolicy:       isolation.Tenant(e.defaults.Isolation, api),
		},
	}, err
}

// readHostAPI finds where the host's own API is.
func (e *external) readHostAPI(ctx context.Context) ([]discoveryv1.EndpointSlice, error) {
	l := &discoveryv1.EndpointSliceList{}
	if err := e.cached.List(ctx, l, client.InNamespace(isolation.APINamespace), client.MatchingLabels{discoveryv1.LabelServiceName: isolation.APIService}); err != nil {
		return nil, fmt.Errorf("cannot list EndpointSlices of Service %q in namespace %q on the host cluster: %w", isolation.APIService, isolation.APINamespace, err)
	}

	return l.Items, nil
}

// readPolicies finds the NetworkPolicies that are the Tenant's isolation.
func (e *external) readPolicies(ctx context.Context) (map[string]*networkingv1.NetworkPolicy, error) {
	out := map[string]*networkingv1.NetworkPolicy{}

	for _, name := range policyNames {
		p := &networkingv1.NetworkPolicy{}
		if ok, err := e.find(ctx, types.NamespacedName{Namespace: e.names.namespace, Name: name}, p); err != nil {
			return nil, err
		} else if ok {
			out[name] = p
		}
	}

	return out, nil
}

// notIsolated names what of the isolation must change; empty if nothing must.
func (e *external) notIsolated(t *v1alpha1.Tenant, b boundary, want isolationWanted) string {
	if b.namespace == nil || !contains(b.namespace.GetLabels(), want.labels) {
		return "the Pod Security labels"
	}

	for _, name := range policyNames {
		if p := b.policies[name]; p == nil || !e.stamped(t, p) || !equality.Semantic.DeepEqual(p.Spec, want.policies[name]) {
			return fmt.Sprintf("the NetworkPolicy %q", name)
		}
	}

	return ""
}

// makePolicies creates or repairs the NetworkPolicies.
func (e *external) makePolicies(ctx context.Context, t *v1alpha1.Tenant, b boundary, want map[string]networkingv1.NetworkPolicySpec) error {
	for _, name := range policyNames {
		spec, ok := want[name]
		if !ok {
			continue
		}

		p := &networkingv1.NetworkPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: e.names.namespace, Name: name}}
		if err := createOr(ctx, controllerutil.CreateOrPatch, b.policies[name] == nil, e.live, p, func() error {
			e.stamp(t, p)

			if !equality.Semantic.DeepEqual(p.Spec, spec) {
				p.Spec = spec
			}

			return nil
		}); err != nil {
			return fmt.Errorf("cannot write the NetworkPolicy %q of namespace %q: %w", name, e.names.namespace, err)
		}
	}

	return nil
}

// missingPolicy names a NetworkPolicy that is absent; empty if none is.
func (b boundary) missingPolicy() string {
	for _, name := range policyNames {
		if b.policies[name] == nil {
			return fmt.Sprintf("the NetworkPolicy %q", name)
		}
	}

	return ""
}

// isolationUnfinished says that the isolation was never made. What was brought to its end
// without it, as by a provider that made none, runs, or did; to isolate it is a change.
func (f *facts) isolationUnfinished() bool {
	return f.boundary.missingPolicy() != "" && !f.wasInstalled()
}

// wasInstalled says that the release was brought to its end once, whatever became of it
// since, and of its pods.
func (f *facts) wasInstalled() bool {
	return f.installed() && (f.release.Status == helm.StatusDeployed || f.release.Revision > 1)
}

// cannotIsolate says why a NetworkPolicy that is missing cannot be made. Nothing is
// installed before it.
func (f *facts) cannotIsolate() error {
	missing := f.boundary.missingPolicy()
	if missing == "" || f.isolationKept == nil {
		return nil
	}

	return fmt.Errorf("cannot make %s of namespace %q on the host cluster: %w", missing, f.names.namespace, f.isolationKept)
}

// isolationStage is the stage of a boundary that is right otherwise. What runs goes on
// to run, however it is isolated.
func (f *facts) isolationStage() xpv2.Condition {
	ct, in := v1alpha1.TypeBoundaryReady, f.names.namespace

	switch err := f.cannotIsolate(); {
	case err != nil && f.isolationUnfinished():
		return notDone(ct, v1alpha1.ReasonFailed, err.Error())
	case err != nil:
		return pendingChange(ct, err.Error())
	case f.isolationUnfinished():
		return notDone(ct, v1alpha1.ReasonProgressing, fmt.Sprintf("%s of namespace %q on the host cluster is missing", f.boundary.missingPolicy(), in))
	case f.isolationKept != nil:
		return pendingChange(ct, fmt.Sprintf("namespace %q on the host cluster stays isolated as it is: %s", in, f.isolationKept))
	case f.notIsolated != "":
		return waits(f.may, ct, fmt.Sprintf("%s of namespace %q on the host cluster is to change", f.notIsolated, in))
	default:
		return done(ct)
	}
}
