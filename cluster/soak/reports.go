// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// checkOrder errs when reports of a CloudSpace have arrived in another order than
// that in which it came into their states, or one of them again.
func checkOrder(all []rig.FakeReport) error {
	for i := 1; i < len(all); i++ {
		was, is := all[i-1], all[i]

		switch {
		case is.ObservedAt.Before(was.ObservedAt):
			return fmt.Errorf("report %d, %s of %s, comes after %s of %s", i+1, is.Status, stamp(is), was.Status, stamp(was))
		case was.Status == v1alpha1.ReportDeleting && is.Status != v1alpha1.ReportDeleted && is.Generation >= was.Generation:
			// Only another Tenant with the same id begins anew.
			return fmt.Errorf("report %d, %s, comes after %s", i+1, is.Status, was.Status)
		case is.ObservedAt.Equal(was.ObservedAt) && is.Status == was.Status:
			return fmt.Errorf("report %d, %s of %s, was made before", i+1, is.Status, stamp(is))
		}
	}

	return nil
}

// checkEnded errs unless the reports are in order, and the last says that nothing is
// left of the CloudSpace. Nothing need be said of one that was never Ready: it may have
// gone before there was anything to say, or its id may be another's.
func checkEnded(all []rig.FakeReport, wasReady bool) error {
	switch {
	case len(all) == 0 && wasReady:
		return errors.New("it was never reported")
	case len(all) == 0:
		return nil
	}

	if last := all[len(all)-1]; last.Status != v1alpha1.ReportDeleted {
		return fmt.Errorf("its last report is %s of %s, not %s", last.Status, stamp(last), v1alpha1.ReportDeleted)
	}

	return checkOrder(all)
}

func stamp(r rig.FakeReport) string { return r.ObservedAt.UTC().Format("15:04:05.000000") }
