// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconcilertest

import (
	"context"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// Start runs a manager or a controller until the test ends, which fails if it errs. The
// context ends with it.
func Start(t *testing.T, r manager.Runnable) context.Context {
	t.Helper()

	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)

	go func() { done <- r.Start(ctx) }()

	t.Cleanup(func() {
		stop()

		if err := <-done; err != nil {
			t.Errorf("cannot run a %T: %v", r, err)
		}
	})

	return ctx
}
