// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"golang.org/x/sync/singleflight"
	"k8s.io/utils/lru"
)

// maxKept bounds a memo. Most virtual clusters have the same Flux.
const maxKept = 128

// memo keeps the last used results of a function of its key alone. Callers that
// come while a result is being made wait for it. Failures are not kept.
type memo[T any] struct {
	kept    *lru.Cache
	flights singleflight.Group
}

func newMemo[T any]() *memo[T] { return &memo[T]{kept: lru.New(maxKept)} }

func (m *memo[T]) get(key string, fn func() (T, error)) (T, error) {
	if v, ok := m.kept.Get(key); ok {
		out, _ := v.(T)
		return out, nil
	}

	v, err, _ := m.flights.Do(key, func() (any, error) {
		out, err := fn()
		if err == nil {
			m.kept.Add(key, out)
		}

		return out, err
	})
	out, _ := v.(T)

	return out, err
}
