// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package figures

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestMedian(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		of   []time.Duration
		want time.Duration
	}{
		"None": {nil, 0},
		"One":  {[]time.Duration{3}, 3},
		"Odd":  {[]time.Duration{5, 1, 3}, 3},
		"Even": {[]time.Duration{9, 4, 1, 2}, 3},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := Median(tc.of); got != tc.want {
				t.Errorf("Median(%v): got %v, want %v", tc.of, got, tc.want)
			}
		})
	}
}

func TestSum(t *testing.T) {
	t.Parallel()

	if got := Sum(map[string]float64{"a": 1, "b": 0.5}); got != 1.5 {
		t.Errorf("Sum(...): got %v, want 1.5", got)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()

	want := map[string]float64{"seconds": 1.5}

	file := filepath.Join(t.TempDir(), "new", "figures.json")
	if err := Write(file, want); err != nil {
		t.Fatal(err)
	}

	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	var got map[string]float64
	if err := json.Unmarshal(raw, &got); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("what is read back, -want, +got:\n%s", diff)
	}
}
