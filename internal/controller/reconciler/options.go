// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package reconciler is what the managed reconcilers of all kinds have in common.
package reconciler

import (
	"context"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// unreadyPoll is the poll of what is not Ready. What it waits for is watched;
	// this is the safety net.
	unreadyPoll = 15 * time.Second
	// minPoll is the shortest poll that an annotation may ask for.
	minPoll = 5 * time.Second
	// pollJitter spreads the polls of many by so much of their interval.
	pollJitter = 0.1
)

// Options of every managed reconciler. Names are known beforehand, so that what a
// crash has left is found again without a mark of the Create that made it (ADR 29), and
// absence is read from the API server, so that it needs no second look.
func Options(o controller.Options) []managed.ReconcilerOption {
	out := []managed.ReconcilerOption{
		managed.WithDeterministicExternalName(true),
		managed.WithCriticalAnnotationUpdater(managed.CriticalAnnotationUpdateFn(withoutMark)),
		managed.WithCreationGracePeriod(0),
		managed.WithPollInterval(o.PollInterval),
		managed.WithMinPollInterval(minPoll),
		managed.WithPollIntervalHook(pollInterval),
	}

	if o.Features.Enabled(feature.EnableBetaManagementPolicies) {
		out = append(out, managed.WithManagementPolicies())
	}

	if o.Features.Enabled(feature.EnableAlphaChangeLogs) {
		out = append(out, managed.WithChangeLogger(o.ChangeLogOptions.ChangeLogger))
	}

	if m := o.MetricOptions; m != nil {
		out = append(out, managed.WithMetricRecorder(m.MRMetrics))
	}

	return out
}

// withoutMark writes nothing: the only annotations that the runtime would have written
// after a Create say when it ended, and how.
func withoutMark(context.Context, client.Object) error { return nil }

// pollInterval is short while an object is not Ready. One that the object asks for
// itself by its annotation is as it says, but never below the shortest.
func pollInterval(mg resource.Managed, d time.Duration) time.Duration {
	_, asked := meta.GetPollInterval(mg)
	if !asked && mg.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		d = min(d, unreadyPoll)
	}

	return wait.Jitter(d, pollJitter)
}
