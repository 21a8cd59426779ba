// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// reasonDamaged is the event of a ConfigMap in the outbox that holds no report.
const reasonDamaged event.Reason = "DamagedReport"

// reconciler delivers the reports of one CloudSpace a request.
type reconciler struct {
	kube    client.Client
	live    client.Reader
	put     func(ctx context.Context, r report.Report) error
	outbox  *report.Outbox
	index   string
	record  event.Recorder
	log     logging.Logger
	clock   clock.PassiveClock
	backoff workqueue.TypedRateLimiter[string]
	memory  *memory
}

// Reconcile delivers what is to be reported of the CloudSpace whose id is the
// request's name.
func (r *reconciler) Reconcile(ctx context.Context, req reconcile.Request) (reconcile.Result, error) {
	id := req.Name
	log := r.log.WithValues("cloudSpaceID", id)
	s := r.memory.of(id)

	if d := s.quietUntil.Sub(r.clock.Now()); d > 0 {
		return reconcile.Result{RequeueAfter: d}, nil
	}

	tenants := &v1alpha1.TenantList{}
	if err := r.kube.List(ctx, tenants, client.MatchingFields{r.index: id}); err != nil {
		return reconcile.Result{}, fmt.Errorf("cannot list the Tenants of cloudSpaceID %q: %w", id, err)
	}

	entries, damaged, err := r.outbox.Entries(ctx, id)
	if err != nil {
		return reconcile.Result{}, err
	}

	for _, d := range damaged {
		if s.isNews(d) {
			log.Info("Cannot read a report in the outbox", "error", d.Err)
			r.record.Event(d.ConfigMap, event.Warning(reasonDamaged, d.Err))
		}
	}

	err = r.deliver(ctx, s, entries, tenants.Items)
	if refused := (*report.Error)(nil); errors.As(err, &refused) {
		wait := max(r.backoff.When(id), refused.RetryAfter)
		s.quietUntil = r.clock.Now().Add(refused.RetryAfter)

		log.Debug("Cannot deliver a report", "error", err, "retry-after", wait)

		if err := r.fail(ctx, s, tenants.Items, err); err != nil {
			return reconcile.Result{}, err
		}

		return reconcile.Result{RequeueAfter: wait}, nil
	}

	if err != nil {
		return reconcile.Result{}, err
	}

	r.backoff.Forget(id)
	r.memory.forget(id, tenants.Items, damaged)

	return reconcile.Result{}, nil
}

// deliver everything in order, up to the first that is not accepted. Those that
// are deleted come first: what else is of the same id came after them.
func (r *reconciler) deliver(ctx context.Context, s *cloudSpace, entries []report.Entry, tenants []v1alpha1.Tenant) error {
	for _, e := range entries {
		if err := r.send(ctx, s, e.Report); err != nil {
			return fmt.Errorf("the outbox comes first: %w", err)
		}

		if err := r.outbox.Remove(ctx, e); err != nil {
			return err
		}
	}

	for _, d := range dueOfAll(tenants) {
		if s.superseded(d.Report) {
			continue
		}

		if err := r.send(ctx, s, d.Report); err != nil {
			return err
		}

		if err := r.accept(ctx, d); err != nil {
			return err
		}
	}

	return nil
}

// send a report unless it was accepted before.
func (r *reconciler) send(ctx context.Context, s *cloudSpace, rep report.Report) error {
	if s.knows(rep) {
		return nil
	}

	if err := r.put(ctx, rep); err != nil {
		return err
	}

	s.accept(rep)
	r.log.Debug("Delivered a report", "cloudSpaceID", rep.CloudSpaceID, "status", rep.Status, "key", rep.Key())

	return nil
}

// due is a report that a Tenant carries and that is to be delivered.
type due struct {
	report.Report

	tenant *v1alpha1.Tenant
}

// dueOfAll are the reports of the Tenants, the oldest first.
func dueOfAll(tenants []v1alpha1.Tenant) []due {
	var out []due

	for i := range tenants {
		if rep, ok := dueOf(&tenants[i]); ok {
			out = append(out, due{Report: rep, tenant: &tenants[i]})
		}
	}

	slices.SortFunc(out, func(a, b due) int { return report.Older(a.Report, b.Report) })

	return out
}
