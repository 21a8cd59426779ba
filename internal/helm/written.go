// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// labelWritten is a label on the record of each revision that this provider
// writes. Its value fits that revision only: Helm hands labels on to the
// revisions that others write over it, and there it is wrong.
const labelWritten = "kubeopera.io/written"

// writtenLabels are the labels of a revision that this provider writes.
func writtenLabels(chartName, chartVersion string, values map[string]any) map[string]string {
	return map[string]string{labelWritten: fingerprint(chartName, chartVersion, values)}
}

// isOurs says whether this provider wrote the revision r.
func isOurs(r *Release) bool {
	written := r.Labels[labelWritten]
	return written != "" && written == fingerprint(r.ChartName, r.ChartVersion, r.Values)
}

// fingerprint of a revision. It must not change from one version of the provider
// to the next, or releases seem to have been taken over. Values are as copyValues
// makes them, so that they can be marshalled and come out the same in each
// direction.
func fingerprint(chartName, chartVersion string, values map[string]any) string {
	const digits = 32

	h := sha256.New()
	e := json.NewEncoder(h)
	for _, part := range []any{chartName, chartVersion, values} {
		if err := e.Encode(part); err != nil {
			return ""
		}
	}
	return hex.EncodeToString(h.Sum(nil))[:digits]
}
