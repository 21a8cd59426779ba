// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// claimsEvery is how often each Tenant that is Ready is asked whether it answers.
	claimsEvery = 3 * time.Second
	// claimBound is how much calm time a Tenant may be Ready without an answer: an API
	// that hangs shows in its pod only after a while, and in the provider's next look,
	// which comes once a minute.
	claimBound = 90 * time.Second
	// harmEvery is how often it is looked whether the bystander is unharmed, and the
	// provider runs.
	harmEvery = 20 * time.Second
	// calmBefore is how long nobody may have killed the provider when it is looked for.
	calmBefore = 5 * time.Second
	// progressEvery is how often it is said where the run stands.
	progressEvery = time.Minute
)

// watch checks all the time what must always be so, until ctx ends. The channel is
// closed then.
func (s *soak) watch(ctx context.Context) <-chan struct{} {
	var all sync.WaitGroup

	claims := &claims{since: map[types.UID]time.Time{}}

	for _, check := range []struct {
		every time.Duration
		do    func(context.Context)
	}{
		{claimsEvery, func(ctx context.Context) { s.checkClaims(ctx, claims) }},
		{harmEvery, func(ctx context.Context) { s.checkBystander(ctx); s.checkRuns(ctx) }},
		{progressEvery, s.progress},
	} {
		all.Go(func() {
			for ctx.Err() == nil {
				check.do(ctx)
				rig.Sleep(ctx, check.every)
			}
		})
	}

	ended := make(chan struct{})

	go func() {
		defer close(ended)

		all.Wait()
	}()

	return ended
}

// claims are the Tenants that are Ready without an answer, and since when.
type claims struct{ since map[types.UID]time.Time }

// checkClaims holds that a Tenant that is Ready really answers.
func (s *soak) checkClaims(ctx context.Context, c *claims) {
	for _, t := range s.lives.now() {
		err := s.checkClaim(ctx, t)
		if err == nil {
			delete(c.since, t.GetUID())
			continue
		}

		since, known := c.since[t.GetUID()]
		if !known {
			c.since[t.GetUID()] = time.Now()
			continue
		}

		if s.host.since(since) > claimBound && ctx.Err() == nil {
			s.diary.wrong(fmt.Sprintf("Tenant %s is Ready and does not answer for %s: %v", t.Name, claimBound, err), rig.Describe(t))
			delete(c.since, t.GetUID())
		}
	}
}

// checkClaim errs when the Tenant is Ready and does not answer.
func (s *soak) checkClaim(ctx context.Context, t *v1alpha1.Tenant) error {
	uid := t.GetUID()

	if err := s.cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), t); err != nil || t.GetUID() != uid {
		return nil //nolint:nilerr // What is not there claims nothing.
	}

	if t.GetCondition("Ready").Status != corev1.ConditionTrue || meta.WasDeleted(t) || meta.IsPaused(t) {
		return nil
	}

	return s.answers(ctx, t)
}

// answers asks the Tenant's API with its published kubeconfig.
func (s *soak) answers(ctx context.Context, t *v1alpha1.Tenant) error {
	kubeconfig, err := s.kubeconfig(ctx, t)
	if err != nil {
		return err
	}

	return rig.Answers(ctx, kubeconfig)
}

// kubeconfig that is published for the Tenant.
func (s *soak) kubeconfig(ctx context.Context, t *v1alpha1.Tenant) ([]byte, error) {
	published := &corev1.Secret{ObjectMeta: namesOf(t).published}
	if err := s.cluster.Client.Get(ctx, client.ObjectKeyFromObject(published), published); err != nil {
		return nil, fmt.Errorf("cannot read the published kubeconfig: %w", err)
	}

	return published.Data["kubeconfig"], nil
}

func (s *soak) checkBystander(ctx context.Context) {
	if err := s.bystander.check(ctx); err != nil && ctx.Err() == nil {
		s.diary.wrong(fmt.Sprintf("the bystander is harmed: %v", err), "")
	}
}

// checkRuns holds that the provider never ends by itself.
func (s *soak) checkRuns(ctx context.Context) {
	calm := s.host.since(time.Now().Add(-calmBefore)) >= calmBefore
	if calm && !s.provider.Runs() && ctx.Err() == nil {
		s.diary.wrong("the provider has ended by itself", s.provider.Tail(30))
	}
}

// progress says in a line where the run stands.
func (s *soak) progress(ctx context.Context) {
	phases := map[v1alpha1.TenantPhase]int{}

	for _, t := range s.lives.now() {
		if err := s.cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), t); err == nil {
			phases[t.Status.Phase]++
		}
	}

	process := "not there"
	if now, err := s.provider.Footprint(ctx); err == nil {
		process = now.String()
	}

	t := s.diary.tally()
	s.diary.say("== %s: %d Tenants so far, now %v; %d operations, %d faults, %d times right again, %d wrong; provider: %s",
		time.Since(s.began).Round(time.Second), s.lives.count(), phases, figures.Sum(t.operations), figures.Sum(t.faults), len(flat(t.recoveries)), len(t.wrongs), process)
}
