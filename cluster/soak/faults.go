// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// hostFaults of the way to the host API, and for how long at least and at most.
var hostFaults = []struct {
	name        string
	fault       rig.HostFault
	least, most time.Duration
}{
	{"the host API takes 2 s a call", rig.HostFault{Delay: 2 * time.Second}, 20 * time.Second, 40 * time.Second},
	{"the host API refuses writes with 500", rig.HostFault{RefuseWrites: http.StatusInternalServerError}, 10 * time.Second, 40 * time.Second},
	{"the host API refuses writes with 429", rig.HostFault{RefuseWrites: http.StatusTooManyRequests}, 10 * time.Second, 40 * time.Second},
	{"the host API refuses writes with 403", rig.HostFault{RefuseWrites: http.StatusForbidden}, 10 * time.Second, 40 * time.Second},
	{"the host API resets each third request's connection", rig.HostFault{ResetEvery: 3}, 15 * time.Second, 30 * time.Second},
}

// kubeoperaFaults of each report, as long as they last.
var kubeoperaFaults = []struct {
	name  string
	fault rig.FakeFault
}{
	{"kubeopera-api answers 500", rig.FakeFault{Code: http.StatusInternalServerError}},
	{"kubeopera-api answers 429", rig.FakeFault{Code: http.StatusTooManyRequests, RetryAfter: "3"}},
	{"kubeopera-api answers 401", rig.FakeFault{Code: http.StatusUnauthorized}},
	{"kubeopera-api answers 404", rig.FakeFault{Code: http.StatusNotFound}},
	{"kubeopera-api hangs", rig.FakeFault{Hang: true}},
	{"kubeopera-api sends half of an error", rig.FakeFault{Code: http.StatusInternalServerError, Half: true}},
	{"kubeopera-api accepts and sends half of its answer", rig.FakeFault{Code: http.StatusOK, Half: true, Record: true}},
	{"kubeopera-api accepts and cuts the connection", rig.FakeFault{Cut: true, Record: true}},
}

const (
	// away is how long an API is gone.
	away = time.Minute
	// many is more than the requests in the longest fault.
	many = 10_000
	// Between two faults, and between two kills.
	leastCalm, mostCalm = 20 * time.Second, time.Minute
	leastLife, mostLife = 15 * time.Second, 75 * time.Second
	// mostDead is how long the provider may be gone after it was killed.
	mostDead = 10 * time.Second
)

// spoilHost injects one fault after the other between the provider and its host API.
func (p *period) spoilHost(ctx context.Context, r *rand.Rand) {
	for p.pause(ctx, within(r, leastCalm, mostCalm)) {
		s := p.soak
		end := s.host.disturb()

		switch n := r.IntN(len(hostFaults) + 3); {
		case n < len(hostFaults):
			f := hostFaults[n]
			s.diary.fault(f.name)
			s.proxy.Set(f.fault)
			rig.Sleep(ctx, within(r, f.least, f.most))
			s.proxy.Set(rig.HostFault{})
		case n == len(hostFaults):
			s.diary.fault("the host API is away for a minute")

			err := s.proxy.Down()
			rig.Sleep(ctx, away)
			s.tell(errors.Join(err, s.proxy.Up(ctx)))
		default:
			s.diary.fault("all watches of the host API are cut")
			s.proxy.CutWatches()
		}

		end()
		s.diary.say("the host API is well")
	}
}

// spoilKubeopera injects one fault after the other into the fake of kubeopera-api.
func (p *period) spoilKubeopera(ctx context.Context, r *rand.Rand) {
	for p.pause(ctx, within(r, leastCalm, mostCalm)) {
		s := p.soak
		end := s.kubeoperaCalm.disturb()

		switch n := r.IntN(len(kubeoperaFaults) + 2); {
		case n < len(kubeoperaFaults):
			f := kubeoperaFaults[n]
			s.diary.fault(f.name)
			s.kubeopera.Fail(many, f.fault)
			rig.Sleep(ctx, within(r, leastCalm, mostCalm))
			s.kubeopera.Heal()
		case n == len(kubeoperaFaults):
			s.diary.fault("kubeopera-api is away for a minute")

			err := s.kubeopera.Down()
			rig.Sleep(ctx, away)
			s.tell(errors.Join(err, s.kubeopera.Up(ctx)))
		default:
			s.diary.fault("all tokens of kubeopera-api expire")
			s.kubeopera.ExpireTokens()
		}

		end()
		s.diary.say("kubeopera-api is well")
	}
}

// killProvider again and again. It lives in the end.
func (p *period) killProvider(ctx context.Context, r *rand.Rand) {
	for p.pause(ctx, within(r, leastLife, mostLife)) {
		s := p.soak
		end := s.host.disturb()

		s.diary.fault("the provider is killed")
		s.kills++

		err := s.provider.Kill()
		rig.Sleep(ctx, within(r, 0, mostDead))
		s.tell(errors.Join(err, s.startAgain(ctx)))
		end()
	}
}

// startAgain starts the provider, which may find its host API away and end.
func (s *soak) startAgain(ctx context.Context) error {
	begun := time.Now()

	return until(ctx, func() bool { return time.Since(begun) < settleBound }, func(ctx context.Context) error {
		err := s.provider.Start(ctx)
		if err != nil {
			err = errors.Join(err, s.provider.Kill())
		}

		return err
	})
}

// tell what the soak itself could not do.
func (s *soak) tell(err error) {
	if err != nil {
		s.diary.wrong(fmt.Sprintf("the soak itself failed: %v", err), "")
	}
}
