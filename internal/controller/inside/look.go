// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/api/equality"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
)

// parallel is how many objects of one vCluster are looked at at once.
const parallel = 8

// Found is what there is of an object that is wanted.
type Found struct {
	Want Wanted
	// Live is the object as it is; nil when it is absent.
	Live *unstructured.Unstructured
	// Same says that to write Want would change nothing.
	Same bool
}

// Going says that the object is being deleted.
func (f Found) Going() bool { return f.Live != nil && f.Live.GetDeletionTimestamp() != nil }

// Find reads what there is of what is wanted, in the same order, and compares nothing.
func Find(ctx context.Context, c client.Client, want []Wanted) ([]Found, error) {
	out := make([]Found, len(want))

	return out, Each(len(want), func(i int) error {
		var err error
		out[i], err = find(ctx, c, want[i])

		return err
	})
}

// Look compares what is wanted with what is there, in the same order. It has the
// API server itself compare them, by a dry run, and changes nothing. What was read
// already is not read again.
func Look(ctx context.Context, c client.Client, want []Wanted, read ...*unstructured.Unstructured) ([]Found, error) {
	out := make([]Found, len(want))

	return out, Each(len(want), func(i int) error {
		isThat := func(o *unstructured.Unstructured) bool {
			return o.GroupVersionKind() == want[i].GroupVersionKind() && client.ObjectKeyFromObject(o) == client.ObjectKeyFromObject(want[i])
		}

		var err error
		if at := slices.IndexFunc(read, isThat); at >= 0 {
			out[i] = Found{Want: want[i], Live: read[at]}
		} else if out[i], err = find(ctx, c, want[i]); err != nil {
			return err
		}

		return compare(ctx, c, &out[i])
	})
}

// Each does fn for 0 to n-1, several at once. The error is that of the smallest
// number, so that it is the same each time.
func Each(n int, fn func(i int) error) error {
	errs := make([]error, n)

	var g errgroup.Group

	g.SetLimit(parallel)

	for i := range n {
		g.Go(func() error {
			errs[i] = fn(i)
			return nil
		})
	}

	_ = g.Wait() // The errors are kept one by one.

	for _, err := range errs {
		if err != nil {
			return err
		}
	}

	return nil
}

// find reads what there is of one object that is wanted.
func find(ctx context.Context, c client.Client, w Wanted) (Found, error) {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(w.GroupVersionKind())

	err := c.Get(ctx, client.ObjectKeyFromObject(w), live)

	switch {
	case isAbsent(err):
		return Found{Want: w}, nil
	case err != nil:
		return Found{}, Explained(fmt.Errorf("cannot read %s: %w", w, err))
	default:
		return Found{Want: w, Live: live}, nil
	}
}

// compare asks the API server whether a write would change what was found.
func compare(ctx context.Context, c client.Client, f *Found) error {
	if f.Live == nil || f.Going() {
		return nil
	}

	would := f.Want.DeepCopy()

	switch err := apply(ctx, c, would, client.DryRunAll); {
	case isRefusal(err):
		return nil // It is not as it is wanted. To write it says why it cannot be.
	case err != nil:
		return Explained(fmt.Errorf("cannot compare %s: %w", f.Want, err))
	default:
		f.Same = equality.Semantic.DeepEqual(content(f.Live), content(would))
	}

	return nil
}

// isAbsent says that the object does not exist. What some proxy, or an API server
// that only starts, answers to any path is no such word.
func isAbsent(err error) bool {
	return kerrors.IsNotFound(err) && !kerrors.HasStatusCause(err, metav1.CauseTypeUnexpectedServerResponse)
}

// isRefusal says that the API server, or a webhook of it, will not take the object
// as it is: to try again does not help.
func isRefusal(err error) bool {
	var s kerrors.APIStatus
	if !errors.As(err, &s) {
		return false
	}

	switch s.Status().Code {
	case http.StatusBadRequest, http.StatusForbidden, http.StatusUnprocessableEntity:
		return true
	default:
		return false
	}
}

// content is what of an object is wanted by someone.
func content(o *unstructured.Unstructured) map[string]any {
	out := o.DeepCopy()
	out.SetManagedFields(nil)
	out.SetResourceVersion("")
	out.SetGeneration(0)
	unstructured.RemoveNestedField(out.Object, "status")

	return out.Object
}

// Explained puts an error of the network into words that stay the same.
func Explained(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the tenant's API does not answer in time: %w", err)
	}

	return tenantapi.Steady(err)
}
