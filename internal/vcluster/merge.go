// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

// Merge lays over upon base and returns the result, which shares nothing with either of them. Maps are
// merged key by key; anything else in over, lists included, replaces what base holds.
//
// A null takes one layer back. For a key of base it deletes that key, so that the chart's own default
// applies again. For a key that base does not hold it is kept, and Helm then removes the chart's default.
func Merge(base, over map[string]any) map[string]any {
	out := copyMap(base)

	for key, value := range over {
		current, held := out[key]

		switch value := value.(type) {
		case nil:
			if held {
				delete(out, key)
			} else {
				out[key] = nil
			}
		case map[string]any:
			below, _ := current.(map[string]any)
			out[key] = Merge(below, value)
		default:
			out[key] = copyValue(value)
		}
	}

	return out
}

func copyMap(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for key, value := range in {
		out[key] = copyValue(value)
	}

	return out
}

func copyValue(in any) any {
	switch in := in.(type) {
	case map[string]any:
		return copyMap(in)
	case []any:
		out := make([]any, len(in))
		for i, value := range in {
			out[i] = copyValue(value)
		}

		return out
	default:
		return in
	}
}

// at returns what lies under a path of keys, or nil.
func at(values map[string]any, path ...string) any {
	var node any = values

	for _, key := range path {
		m, ok := node.(map[string]any)
		if !ok {
			return nil
		}

		node = m[key]
	}

	return node
}
