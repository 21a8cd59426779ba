// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
)

// maxValuesBytes is how much JSON the values of a release may be. A release is
// stored in one Secret, which holds 1 MiB. Values that do not compress are in
// it twice, as values and rendered into the manifest, and both are stored as
// base64 of gzip: a quarter of the Secret leaves room for that and the chart.
const maxValuesBytes = 256 << 10

// ValuesEqual says whether a and b mean the same to Helm: numbers compare by
// value and not by Go type, keys have no order, and a nil map at the top is an
// empty one. Below the top null is not the same as absent or {}: it deletes a
// default of the chart.
func ValuesEqual(a, b map[string]any) bool {
	ca, errA := copyValues(a)
	cb, errB := copyValues(b)
	return errA == nil && errB == nil && reflect.DeepEqual(ca, cb)
}

// deepCopyMap returns a copy that shares nothing with in. It is never nil.
func deepCopyMap(in map[string]any) map[string]any {
	out := make(map[string]any, len(in))
	for k, v := range in {
		out[k] = deepCopy(v)
	}
	return out
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		return deepCopyMap(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = deepCopy(v[i])
		}
		return out
	default:
		return v
	}
}

// copyValues returns values as they come back from a release record, and as
// Helm reads them from a file: through JSON, with every number a float64. It
// refuses what is not JSON or too large.
func copyValues(values map[string]any) (map[string]any, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return nil, fmt.Errorf("%w: they are not JSON: %w", ErrValuesRefused, err)
	}
	if len(raw) > maxValuesBytes {
		return nil, fmt.Errorf("%w: they are %s of JSON, the limit is %s so that the release fits into a Secret: shorten valuesOverrides",
			ErrValuesRefused, kib(len(raw)), kib(maxValuesBytes))
	}
	out := map[string]any{}
	if err := json.Unmarshal(raw, &out); err != nil {
		return nil, fmt.Errorf("%w: they are not JSON: %w", ErrValuesRefused, err)
	}
	if out == nil { // JSON null
		out = map[string]any{}
	}
	return out, nil
}

func kib(n int) string {
	return fmt.Sprintf("%d KiB", int(math.Ceil(float64(n)/1024)))
}
