// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package insidetest

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Story is something that happens to an object, from a world to the state that is to
// follow from it.
type Story struct {
	VCluster *VCluster
	// Pass does one pass, and then what the vCluster does by itself. It says whether
	// the state is reached.
	Pass func() bool
}

// mostPasses is enough for each story, with a failure in it.
const mostPasses = 12

// FailEachCall fails each call into the vCluster of a story in turn: it comes to the
// same end, and nothing else is made or removed on the way.
func FailEachCall(t *testing.T, least int, begin func(t *testing.T) Story) {
	t.Helper()

	kinds := []error{
		kerrors.NewInternalError(ErrInjected), kerrors.NewForbidden(schema.GroupResource{Resource: "things"}, "x", ErrInjected),
		kerrors.NewConflict(schema.GroupResource{Resource: "things"}, "x", ErrInjected), context.DeadlineExceeded,
	}

	want, all, _ := tell(t, begin(t), 0, nil)
	if all < least {
		t.Fatalf("only %d calls, want %d at least", all, least)
	}

	for n := 1; n <= all; n++ {
		err := kinds[n%len(kinds)] // One way each: a story takes its time.

		got, _, failed := tell(t, begin(t), n, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("call %d, %s, fails with %v: something else is done: -want, +got:\n%s", n, failed, err, diff)
		}
	}

	t.Logf("%d calls failed", all)
}

// tell a story, of which the nth call fails. It returns what was made and removed,
// each once, how many calls there were, and which one failed.
func tell(t *testing.T, s Story, n int, err error) (did []string, calls int, failed string) {
	t.Helper()

	s.VCluster.Writes()
	s.VCluster.Fail(func(action string) error {
		if calls++; calls != n {
			return nil
		}

		failed = action

		return err
	})

	for range mostPasses {
		if !s.Pass() {
			continue
		}

		did = slices.DeleteFunc(s.VCluster.Writes(), func(a string) bool { return !strings.HasPrefix(a, "create ") && !strings.HasPrefix(a, "delete ") })
		slices.Sort(did)

		return slices.Compact(did), calls, failed
	}

	t.Errorf("call %d, %s, fails with %v: it does not come to its end", n, failed, err)

	return nil, calls, failed
}
