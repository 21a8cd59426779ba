// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// foundRoom is what there is in one namespace.
type foundRoom struct {
	name string
	// namespace is looked at only when something in it is missing.
	namespace inside.Found
	// objects are the limits and the quota, in this order.
	objects []inside.Found
}

// facts are what one pass found out about a quota that is to hold.
type facts struct {
	rooms []foundRoom
	// strays are the owner's in namespaces that left the list.
	strays []*unstructured.Unstructured
}

// gather finds out all that there is to know. An error means that something is
// unknown or, with [inside.ErrConflict], that the TenantQuota must keep its hands off.
func (e *external) gather(ctx context.Context, q *v1alpha1.TenantQuota) (*facts, error) {
	if e.NoWay != nil {
		return nil, e.NoWay
	}

	ctx, cancel := e.Bounded(ctx)
	defer cancel()

	owner := inside.OwnerOf(q, e.Way.Tenant)

	want, err := desire(owner, q)
	if err != nil {
		return nil, err
	}

	f := &facts{rooms: make([]foundRoom, len(want))}
	if err := inside.Each(len(want), func(i int) error {
		var err error
		f.rooms[i], err = e.lookInto(ctx, want[i])

		return err
	}); err != nil {
		return nil, err
	}

	if err := owner.Check(ctx, e.Kube, kind.List(), f.objects()); err != nil {
		return nil, err
	}

	made, err := owner.Made(ctx, e.Way.API.Live, name, "ResourceQuota", "LimitRange")
	if err != nil {
		return nil, err
	}

	f.strays = slices.DeleteFunc(made, func(o *unstructured.Unstructured) bool {
		return slices.Contains(namespacesOf(q), o.GetNamespace())
	})

	return f, nil
}

// lookInto compares one namespace with what is wanted in it.
func (e *external) lookInto(ctx context.Context, r room) (foundRoom, error) {
	out := foundRoom{name: r.namespace.GetName(), namespace: inside.Found{Want: r.namespace}}

	var err error
	if out.objects, err = inside.Look(ctx, e.Way.API.Live, []inside.Wanted{r.limits, r.quota}); err != nil || out.complete() {
		return out, err
	}

	ns, err := inside.Find(ctx, e.Way.API.Live, []inside.Wanted{r.namespace})
	if err == nil {
		out.namespace = ns[0]
	}

	return out, err
}

// complete says that the limits and the quota exist, right or wrong.
func (r foundRoom) complete() bool {
	return !slices.ContainsFunc(r.objects, func(f inside.Found) bool { return f.Live == nil })
}

// inPlace says that the namespace holds what it should.
func (r foundRoom) inPlace() bool {
	return !slices.ContainsFunc(r.objects, func(f inside.Found) bool { return !f.Same })
}

// goingAway says that nothing can be made in the namespace until it is gone.
func (r foundRoom) goingAway() bool { return r.namespace.Going() }

func (f *facts) objects() []inside.Found {
	var out []inside.Found
	for _, r := range f.rooms {
		out = append(out, r.objects...)
	}

	return out
}

// exists says whether anything of it is there.
func (f *facts) exists(o inside.Owner) bool {
	return len(f.strays) > 0 || len(o.Remains(f.objects())) > 0
}

// settled says that there is nothing to do but to wait.
func (f *facts) settled() bool {
	return len(f.strays) == 0 && !slices.ContainsFunc(f.rooms, func(r foundRoom) bool { return !r.inPlace() && !r.goingAway() })
}

// held are the namespaces that hold the quota, sorted.
func (f *facts) held() []string {
	var out []string

	for _, r := range f.rooms {
		if r.inPlace() {
			out = append(out, r.name)
		}
	}

	return out
}
