// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// serving is a provider that serves these metrics, each once, and then none.
func serving(t *testing.T, all ...string) *Provider {
	t.Helper()

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if len(all) == 0 {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}

		_, _ = w.Write([]byte(all[0])) // The client sees what is missing.
		all = all[1:]
	}))
	t.Cleanup(s.Close)

	return &Provider{metrics: s.URL}
}

func footprint(goroutines, descriptors, heap, resident, collected int) string {
	return gauge("go_goroutines", goroutines) + gauge("process_open_fds", descriptors) + gauge("go_memstats_heap_alloc_bytes", heap) +
		gauge("process_resident_memory_bytes", resident) + gauge("go_memstats_last_gc_time_seconds", collected)
}

func gauge(name string, value int) string {
	return fmt.Sprintf("# TYPE %s gauge\n%s %d\n", name, name, value)
}

func TestLeastFootprint(t *testing.T) {
	t.Parallel()

	got, err := serving(t,
		footprint(9, 4, 5, 8, 1), footprint(2, 9, 6, 7, 1), footprint(3, 3, 9, 9, 2), footprint(3, 4, 9, 9, 3), footprint(4, 4, 4, 9, 4), footprint(1, 1, 1, 1, 5),
	).LeastFootprint(t.Context())

	want := Footprint{Goroutines: 2, Descriptors: 3, Heap: 4, Resident: 7, collected: 4}
	if err != nil || got != want {
		t.Errorf("LeastFootprint(...): want what was least until the third collection, %+v, got %+v, %v", want, got, err)
	}
}

func TestLeastFootprintErrs(t *testing.T) {
	t.Parallel()

	for name, p := range map[string]*Provider{
		"Absent":  serving(t, gauge("go_goroutines", 1)),
		"Untyped": serving(t, strings.ReplaceAll(footprint(1, 1, 1, 1, 1), "# TYPE", "# HELP")),
		"Goes":    serving(t, footprint(1, 1, 1, 1, 1), "rubbish {"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got, err := p.LeastFootprint(t.Context()); err == nil {
				t.Errorf("LeastFootprint(...): want an error, got %+v", got)
			}
		})
	}
}
