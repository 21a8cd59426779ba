// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package figures is what the programs that measure do with what they have measured.
package figures

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// number is what a figure is made of. Durations are among them.
type number interface{ ~int | ~int64 | ~float64 }

// Median of the values, which need not be sorted: of an even number of them the mean of
// the two in the middle, of none 0.
func Median[T number](of []T) T {
	if len(of) == 0 {
		return 0
	}

	s := slices.Sorted(slices.Values(of))

	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Sum of the values of all keys.
func Sum[K comparable, T number](of map[K]T) T {
	var sum T
	for _, n := range of {
		sum += n
	}

	return sum
}

// Write the figures as JSON into the file, whose folder need not exist. Everyone may read
// it.
func Write(file string, figures any) error {
	raw, err := json.MarshalIndent(figures, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the figures: %w", err)
	}

	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // They are for everyone.
		return fmt.Errorf("cannot write the figures: %w", err)
	}

	if err := os.WriteFile(file, append(raw, '\n'), 0o644); err != nil { //nolint:gosec // They are for everyone.
		return fmt.Errorf("cannot write the figures: %w", err)
	}

	return nil
}
