// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"context"
	"sync"

	toolscache "k8s.io/client-go/tools/cache"
)

// trouble keeps why a host's objects could not be listed or watched last.
type trouble struct {
	mu  sync.Mutex
	err error
	// first is closed with the first error.
	first chan struct{}
}

func newTrouble() *trouble { return &trouble{first: make(chan struct{})} }

// handle is a reflector's error handler. The reflector tries again by itself.
func (t *trouble) handle(_ context.Context, _ *toolscache.Reflector, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()

	if t.err == nil {
		close(t.first)
	}

	t.err = err
}

func (t *trouble) last() error {
	t.mu.Lock()
	defer t.mu.Unlock()

	return t.err
}
