// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package advisoragent

import (
	"context"

	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// Create makes the App Advisor.
func (e *external) Create(ctx context.Context, a *v1alpha1.AdvisorAgent) (managed.ExternalCreation, error) {
	return managed.ExternalCreation{}, e.act(ctx, a)
}

// Update brings what is there to what is wanted.
func (e *external) Update(ctx context.Context, a *v1alpha1.AdvisorAgent) (managed.ExternalUpdate, error) {
	return managed.ExternalUpdate{}, e.act(ctx, a)
}

// act writes what Observe saw missing or different, looks again and writes what
// came of it into the status. It waits for nothing.
func (e *external) act(ctx context.Context, a *v1alpha1.AdvisorAgent) error {
	if err := e.Write(ctx, a, e.seen.objects); err != nil {
		e.report(a, err)
		return err
	}

	f, err := e.gather(ctx, a)
	if err != nil {
		e.reportUnknown(a, err)
		return err
	}

	e.seen = f
	e.report(a, nil)

	return nil
}
