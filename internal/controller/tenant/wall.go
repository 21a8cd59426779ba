// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/advisor"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// wantWall is what the ResourceQuota of the host namespace should say. As long
// as it is not known what Flux needs, the one that is there stays: it may be
// right, and less would refuse what runs. The error says so.
func (e *external) wantWall(ctx context.Context, t *v1alpha1.Tenant, f *facts) (corev1.ResourceQuotaSpec, error) {
	p, err := e.platform(ctx, f)
	if err != nil && f.boundary.quota != nil {
		f.shares = quota.Shares(t.Spec.Quota, f.boundary.quota.Spec.Hard)
		return f.boundary.quota.Spec, err
	}

	want := quota.Wall(t.Spec.Quota, p.all())
	f.shares = quota.Shares(t.Spec.Quota, want.Hard)

	if f.boundary.quota == nil {
		return want, nil
	}

	wall, over := quota.Lowered(want, f.boundary.quota, f.lacking(p))
	if len(over) > 0 {
		err = inUse(over, want.Hard)
	}

	return wall, err
}

// errInUse says that a quota is below what is in use.
var errInUse = errors.New("more is in use than it is to allow")

// inUse says so without how much is in use, which changes all the time: status.quota
// shows that.
func inUse(over []corev1.ResourceName, hard corev1.ResourceList) error {
	words := make([]string, len(over))
	for i, name := range over {
		q := hard[name]
		words[i] = fmt.Sprintf("%s of %s", q.String(), name)
	}

	return fmt.Errorf("%w, which is %s; it follows as pods are deleted", errInUse, strings.Join(words, ", "))
}

// platform is what the platform's own pods need beside the tenant's.
type platform struct {
	// vcluster is the control plane with its CoreDNS, dns the latter alone.
	vcluster, dns, advisor, flux quota.Allowance
}

func (p platform) all() quota.Allowance { return p.vcluster.Plus(p.advisor).Plus(p.flux) }

// lacking is what of it may not run, so that what is in use does not count it. A part that
// a tenant stops inside keeps no more room than it needs itself.
func (f *facts) lacking(p platform) quota.Allowance {
	var out quota.Allowance

	runs := func(c xpv2.Condition) bool { return c.Status == corev1.ConditionTrue }

	switch {
	case f.workload.rolling || !runs(f.apiStage()):
		out = out.Plus(p.vcluster)
	case !runs(f.dnsStage()):
		out = out.Plus(p.dns)
	}

	if !runs(f.flux.stage()) {
		out = out.Plus(p.flux)
	}

	if !runs(f.advisorStage()) {
		out = out.Plus(p.advisor)
	}

	return out
}

// platform finds out what its pods need. With an error it is what is known of it.
func (e *external) platform(ctx context.Context, f *facts) (platform, error) {
	p := platform{vcluster: f.desired.allowance, dns: f.desired.dns}

	agents := slices.Clone(inPlace(f.children.otherAgents))
	if f.children.wantAgent != nil {
		agents = append(agents, f.children.wantAgent)
	}

	var errs []error

	for _, agent := range agents {
		need, err := advisorNeeds(agent)
		if err != nil && !errors.Is(err, quota.ErrNoPods) {
			errs = append(errs, fmt.Errorf("cannot find out what AdvisorAgent %q needs: %w", agent.GetName(), err))
		}

		p.advisor = p.advisor.Plus(need)
	}

	if f.flux.wanted {
		need, err := e.fluxAllowance(ctx, f.flux)
		p.flux, errs = need, append(errs, err)
	}

	return p, errors.Join(errs...)
}

// fluxAllowance is what Flux needs as it should be, or else as it is installed.
func (e *external) fluxAllowance(ctx context.Context, f fluxFacts) (quota.Allowance, error) {
	err := f.invalid
	if err == nil {
		var need quota.Allowance
		if need, err = e.fluxNeeds(ctx, f.desired); err == nil {
			return need, nil
		}
	}

	if f.release == nil {
		return quota.Allowance{}, err
	}

	return flux.Installed(f.release)
}

func advisorNeeds(a *v1alpha1.AdvisorAgent) (quota.Allowance, error) {
	d, err := runtime.DefaultUnstructuredConverter.ToUnstructured(advisor.Deployment(a.Spec.AdvisorSettings))
	if err != nil {
		return quota.Allowance{}, fmt.Errorf("cannot read the App Advisor's Deployment: %w", err)
	}

	return quota.AllowanceOf([]*unstructured.Unstructured{{Object: d}})
}

// quotaStatus shows the shares as they should be, with what the host has of them;
// nil when it has nothing yet.
func (f *facts) quotaStatus() *v1alpha1.QuotaStatus {
	q := f.boundary.quota
	if q == nil {
		return nil
	}

	s := f.shares
	s.Hard, s.Used = q.Spec.Hard, q.Status.Used

	return &s
}
