// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// TestCheckEndedNeverReady holds that of a Tenant that was refused nothing is told.
func TestCheckEndedNeverReady(t *testing.T) {
	t.Parallel()

	if err := checkEnded(nil, false); err != nil {
		t.Errorf("checkEnded(...): %v", err)
	}

	if err := checkEnded([]rig.FakeReport{{Status: v1alpha1.ReportProvisioning}}, false); err == nil {
		t.Error("What was told of needs a last word")
	}
}

func TestCheckEnded(t *testing.T) {
	t.Parallel()

	report := func(second int, status v1alpha1.ReportState, generation int64) rig.FakeReport {
		return rig.FakeReport{Status: status, Generation: generation, ObservedAt: time.Unix(int64(second), 0)}
	}
	cases := map[string]struct {
		reason string
		all    []rig.FakeReport
		wrong  bool
	}{
		"Whole": {"Each state in its turn.", []rig.FakeReport{
			report(1, v1alpha1.ReportProvisioning, 1), report(2, v1alpha1.ReportActive, 1), report(3, v1alpha1.ReportDeleting, 2), report(4, v1alpha1.ReportDeleted, 2),
		}, false},
		"Coalesced":  {"States that did not last may be left out.", []rig.FakeReport{report(1, v1alpha1.ReportActive, 1), report(2, v1alpha1.ReportDeleted, 2)}, false},
		"Again":      {"Another Tenant of the same id begins anew.", []rig.FakeReport{report(1, v1alpha1.ReportDeleting, 2), report(2, v1alpha1.ReportActive, 1), report(3, v1alpha1.ReportDeleted, 2)}, false},
		"Never":      {"None was lost only if there is one.", nil, true},
		"NoLast":     {"The last word is missing.", []rig.FakeReport{report(1, v1alpha1.ReportActive, 1), report(2, v1alpha1.ReportDeleting, 2)}, true},
		"OutOfOrder": {"An older state came later.", []rig.FakeReport{report(2, v1alpha1.ReportActive, 1), report(1, v1alpha1.ReportProvisioning, 1), report(3, v1alpha1.ReportDeleted, 2)}, true},
		"Revived":    {"What is being deleted is not active any more.", []rig.FakeReport{report(1, v1alpha1.ReportDeleting, 2), report(2, v1alpha1.ReportActive, 2), report(3, v1alpha1.ReportDeleted, 2)}, true},
		"Twice":      {"A state is reported once.", []rig.FakeReport{report(1, v1alpha1.ReportActive, 1), report(1, v1alpha1.ReportActive, 1), report(3, v1alpha1.ReportDeleted, 2)}, true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if err := checkEnded(tc.all, true); (err != nil) != tc.wrong {
				t.Errorf("%s\ncheckEnded(...): %v", tc.reason, err)
			}
		})
	}
}
