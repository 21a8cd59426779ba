// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/kubeopera/provider-kubeopera/internal/rights"
)

const (
	rightsRemedy = "apply cluster/rbac/clusterrole.yaml and bind its ClusterRoles to the provider's account, as examples/install/rights.yaml does under Crossplane, and cluster/rbac/provider.yaml without"
	kindsRemedy  = "apply package/crds, or activate all kinds of kubeopera.io in a ManagedResourceActivationPolicy"
)

// starter starts the controllers when there is all that they need. It runs in every
// replica, so that one that is about to become the leader has said what it lacks.
type starter struct {
	mgr     ctrl.Manager
	options controller.Options
	ready   *readiness
	review  *rights.Review
	needs   *requirement
	// controllers adds them to the manager.
	controllers func() error
}

// NeedLeaderElection says that this runs in every replica.
func (*starter) NeedLeaderElection() bool { return false }

// Start returns when the controllers are added and their caches are full, or when
// the provider is told to stop. An error ends the provider.
func (s *starter) Start(ctx context.Context) error {
	err := s.start(ctx)
	if ctx.Err() != nil {
		// The provider is told to stop.
		return nil
	}
	return err
}

func (s *starter) start(ctx context.Context) error {
	if err := s.review.Await(ctx, s.needs.rights, s.lack); err != nil {
		return err
	}
	s.ready.doing("the kinds of kubeopera.io are being looked for")
	k := newKinds()
	if err := watchKinds(s.mgr, s.options, k); err != nil {
		return err
	}
	err := k.await(ctx, s.mgr.GetRESTMapper(), func(crds []string) { s.ready.waitFor(kindsRemedy, crds...) })
	if err != nil {
		return err
	}
	s.ready.doing("the caches are being filled")
	if err := s.controllers(); err != nil {
		return err
	}
	if err := fill(ctx, s.mgr.GetCache()); err != nil {
		return err
	}
	s.ready.done()
	return nil
}

// lack says which rights are missing, or why that is not known.
func (s *starter) lack(err error) {
	missing := &rights.MissingError{}
	if !errors.As(err, &missing) {
		s.ready.waitFor("it is tried again", err.Error())
		return
	}
	words := missing.Words()
	for i, w := range words {
		words[i] = fmt.Sprintf("missing right: %s", w)
	}
	s.ready.waitFor(rightsRemedy, words...)
}
