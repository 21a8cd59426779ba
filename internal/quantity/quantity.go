// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package quantity keeps quantities out that cannot be computed with. Kubernetes' own parser takes any exponent
// and any number of digits, and then works for minutes, or for ever, on what a few characters have asked for.
// The schemas of the provider's kinds have the same rule; this is for values that have no schema.
package quantity

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"
)

// maxLength is how many characters a quantity may have.
const maxLength = 64

// number is what the parser takes for one, also without a digit before the exponent. It refuses at once what has
// anything before, behind or within.
var number = regexp.MustCompile(`^[+-]?[0-9.]*(?:[A-Za-z]{0,2}|[eE][+-]?([0-9]+))$`)

// maxExponent is how many digits an exponent may have.
const maxExponent = 2

// Parse reads a quantity such as 500m or 8Gi. It refuses what Check refuses.
func Parse(s string) (resource.Quantity, error) {
	if err := Check(s); err != nil {
		return resource.Quantity{}, err
	}

	return resource.ParseQuantity(s)
}

// Check errs when a text in v, which is made of what JSON is made of, would be read as a quantity for too long.
// What is no number is passed over. The error names where it stands.
func Check(v any) error {
	switch v := v.(type) {
	case string:
		text := strings.TrimSpace(v)
		if m := number.FindStringSubmatch(text); m != nil && (len(text) > maxLength || len(m[1]) > maxExponent) {
			return fmt.Errorf("%.20q has more digits than a quantity may have: write it with at most %d characters, and %d in the exponent",
				text, maxLength, maxExponent)
		}
	case []any:
		for i, below := range v {
			if err := Check(below); err != nil {
				return fmt.Errorf("[%d]: %w", i, err)
			}
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := Check(v[key]); err != nil {
				return fmt.Errorf("%.100s: %w", key, err)
			}
		}
	}

	return nil
}
