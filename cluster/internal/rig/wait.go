// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"cmp"
	"context"
	"errors"
	"time"
)

var errWatchEnded = errors.New("the API server ended the watch")

// WatchEnded is why a watch has ended: because ctx has, or else by itself.
func WatchEnded(ctx context.Context) error { return cmp.Or(ctx.Err(), errWatchEnded) }

// Sleep for d, or until ctx ends.
func Sleep(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
