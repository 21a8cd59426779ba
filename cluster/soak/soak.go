// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

const (
	// killedShare is the part of the time in which the provider is killed.
	killedShare = 0.4
	// tooMany things that are wrong end the run: what follows shows nothing new.
	tooMany = 8
	// lookEvery is how often it is looked whether something has become right.
	lookEvery = 500 * time.Millisecond
)

var errWrong = errors.New("the soak found something wrong")

// errNothing says that too little happened for anything to be wrong.
var errNothing = errors.New("the soak proves nothing: it needs a kill, a fault, something that was mended, and a Tenant between two rests; give it more time")

// soak is one run on one cluster.
type soak struct {
	cluster   *rig.Cluster
	provider  *rig.Provider
	proxy     *rig.FaultProxy
	kubeopera *rig.FakeKubeoperaAPI

	flags flags
	facts rig.Facts
	diary *diary
	lives *lives
	// host is calm when the provider lives and its host API works; kubeoperaCalm
	// when kubeopera-api works.
	host, kubeoperaCalm *calm

	began time.Time
	kills int
	// early and late are the provider's process at rest.
	early, late *rest
	bystander   *bystander
	before      []string // all objects of the cluster
}

// run goes through the parts. It errs when it could not; what was found wrong is in
// the diary.
func (s *soak) run(ctx context.Context) error {
	s.began = time.Now()
	s.diary.say("seed %d, %d Tenants at a time, %s\n%s", s.flags.Seed, s.flags.Tenants, s.flags.Time, s.facts)

	if err := s.prepare(ctx); err != nil {
		return err
	}

	watched, stop := context.WithCancel(ctx)
	ended := s.watch(watched)

	err := s.parts(ctx)

	stop()
	<-ended

	if err != nil {
		return err
	}

	return s.checkEnd(ctx)
}

// prepare makes the bystander, and looks at what there is before any Tenant.
func (s *soak) prepare(ctx context.Context) (err error) {
	if s.bystander, err = newBystander(ctx, s.cluster); err != nil {
		return err
	}

	s.before, err = s.cluster.Inventory(ctx)

	return err
}

func (s *soak) parts(ctx context.Context) error {
	first := time.Duration(float64(s.flags.Time) * killedShare)

	s.diary.say("part 1: the provider is killed, %s", first)
	s.part(ctx, partKilled, first, true)

	if ctx.Err() != nil {
		return ctx.Err()
	}

	// From here on one process lives to the end.
	end := s.host.disturb()
	err := errors.Join(s.provider.Stop(), s.provider.Start(ctx))

	end()

	if err != nil {
		return fmt.Errorf("cannot restart the provider: %w", err)
	}

	s.diary.say("warming up the process that lives on")
	s.warmUp(ctx)

	if s.early, err = s.rest(ctx); err != nil {
		return err
	}

	s.diary.say("part 2: the provider lives on, %s", s.flags.Time-first)
	s.part(ctx, partLivingOn, s.flags.Time-first, false)

	s.late, err = s.rest(ctx)

	return err
}

// part lets Tenants live and injects faults for a time, and then waits until no
// Tenant is left.
func (s *soak) part(ctx context.Context, number uint64, d time.Duration, kill bool) {
	p := &period{until: time.Now().Add(d), soak: s}

	var all sync.WaitGroup

	for i := range s.flags.Tenants {
		all.Go(func() { p.live(ctx, s.random(number, i)) })
	}

	all.Go(func() { p.spoilHost(ctx, s.random(number, hostFaulter)) })
	all.Go(func() { p.spoilKubeopera(ctx, s.random(number, kubeoperaFaulter)) })

	if kill {
		all.Go(func() { p.killProvider(ctx, s.random(number, killer)) })
	}

	all.Wait()
}

// Parts of a run, and who has random numbers in them beside the Tenants, which count from
// 0. A seed repeats a run only as long as these stay.
const (
	partKilled    uint64 = 1
	partLivingOn  uint64 = 2
	partWarmingUp uint64 = 9

	hostFaulter      = 1 << 16
	kubeoperaFaulter = 1<<16 + 1
	killer           = 1<<16 + 2
)

// random numbers of one of those who do something at the same time. They follow from the
// seed, and not from how fast the others are.
func (s *soak) random(part uint64, who int) *rand.Rand {
	return rand.New(rand.NewPCG(s.flags.Seed, part<<32|uint64(who))) //nolint:gosec // It is to be repeatable, and nobody is below zero.
}

// warmUp has the provider do once what it does, with no fault.
func (s *soak) warmUp(ctx context.Context) {
	var all sync.WaitGroup

	for i := range min(2, s.flags.Tenants) {
		all.Go(func() {
			r := s.random(partWarmingUp, i)
			l := &life{soak: s, rand: r, tenant: newTenant(r, i == 0)}
			l.plain(ctx)
		})
	}

	all.Wait()
}

// period is a part of the run.
type period struct {
	soak  *soak
	until time.Time
}

// over says that nothing new is to be begun.
func (p *period) over(ctx context.Context) bool {
	return ctx.Err() != nil || !time.Now().Before(p.until) || p.soak.diary.wrongCount() >= tooMany
}

// pause waits so long, or until the period is over. It returns whether it goes on.
func (p *period) pause(ctx context.Context, d time.Duration) bool {
	rig.Sleep(ctx, min(d, time.Until(p.until)))

	return !p.over(ctx)
}

// within is a random duration from least to most.
func within(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}

// until asks again and again until there is no error, or patience ends. It returns the
// last error.
func until(ctx context.Context, patience func() bool, ask func(context.Context) error) error {
	var last error

	_ = wait.PollUntilContextCancel(ctx, lookEvery, true, func(ctx context.Context) (bool, error) {
		last = ask(ctx)

		return last == nil || !patience(), nil
	})

	if last == nil {
		return ctx.Err()
	}

	return last
}
