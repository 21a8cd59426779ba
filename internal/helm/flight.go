// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/singleflight"
)

// share runs fn once for all concurrent callers with the same key. The work
// belongs to all of them: it outlives the context of the caller that happened
// to come first, and ends after limit at the latest. Each caller stops waiting
// when its own context ends, with an error that begins with goesOn: words for
// the work that goes on without it.
func share[T any](ctx context.Context, g *singleflight.Group, key string, limit time.Duration, goesOn string,
	fn func(context.Context) (T, error),
) (T, error) {
	done := g.DoChan(key, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), limit)
		defer cancel()
		return safely(func() (T, error) { return fn(ctx) })
	})

	select {
	case <-ctx.Done():
		var zero T
		return zero, fmt.Errorf("%s: %w", goesOn, ctx.Err())
	case r := <-done:
		out, _ := r.Val.(T) // the zero value with an error
		return out, r.Err
	}
}
