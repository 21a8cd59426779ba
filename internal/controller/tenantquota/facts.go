// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantquota

import (
	"context"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside"
)

// foundNamespace is what there is in one namespace.
type foundNamespace struct {
	name string
	// namespace is looked at only when something in it is missing.
	namespace inside.Found
	// objects are the limits and the quota, in this order.
	objects []inside.Found
}

// facts are what one pass found out about a quota that is to hold.
type facts struct {
	namespaces []foundNamespace
	// stale are the owner's in namespaces that left the list.
	stale []*unstructured.Unstructured
}

// Gather finds out all that there is to know of the quota.
func (h handler) Gather(ctx context.Context, p inside.Pass, q *v1alpha1.TenantQuota) (*facts, error) {
	owner, err := p.Owner(q)
	if err != nil {
		return nil, err
	}

	want, err := desire(owner, q)
	if err != nil {
		return nil, err
	}

	made, err := h.Remains(ctx, p, q)
	if err != nil {
		return nil, err
	}

	f := &facts{namespaces: make([]foundNamespace, len(want))}
	if err := inside.Each(len(want), func(i int) error {
		var err error
		f.namespaces[i], err = look(ctx, p.Inside, want[i], made)

		return err
	}); err != nil {
		return nil, err
	}

	if err := owner.Check(ctx, p.Live, kind.List(), f.objects()); err != nil {
		return nil, err
	}

	f.stale = slices.DeleteFunc(made, func(o *unstructured.Unstructured) bool {
		return slices.Contains(namespacesOf(q), o.GetNamespace())
	})

	return f, nil
}

// Remains finds everything that is the TenantQuota's, whatever namespaces its spec
// names now: quotas first.
func (h handler) Remains(ctx context.Context, p inside.Pass, q *v1alpha1.TenantQuota) ([]*unstructured.Unstructured, error) {
	owner, err := p.Owner(q)
	if err != nil {
		return nil, err
	}

	return owner.Made(ctx, p.Inside, name, "ResourceQuota", "LimitRange")
}

// MayBeLeft names the namespaces where something was made, and may have been.
func (h handler) MayBeLeft(q *v1alpha1.TenantQuota) []string {
	namespaces := slices.Concat(namespacesOf(q), q.Status.Namespaces)
	slices.Sort(namespaces)

	return []string{"ResourceQuota and LimitRange " + name + " in " + strings.Join(slices.Compact(namespaces), ", ")}
}

// look compares one namespace with what is wanted in it. Made is what the owner has made
// in all of them.
func look(ctx context.Context, c client.Client, want namespaceQuota, made []*unstructured.Unstructured) (foundNamespace, error) {
	out := foundNamespace{name: want.namespace.GetName(), namespace: inside.Found{Want: want.namespace}}

	var err error
	if out.objects, err = inside.Look(ctx, c, []inside.Wanted{want.limits, want.quota}, made...); err != nil || out.complete() {
		return out, err
	}

	ns, err := inside.Find(ctx, c, []inside.Wanted{want.namespace})
	if err == nil {
		out.namespace = ns[0]
	}

	return out, err
}

// complete says that the limits and the quota exist, right or wrong.
func (n foundNamespace) complete() bool {
	return !slices.ContainsFunc(n.objects, func(f inside.Found) bool { return f.Live == nil })
}

// inPlace says that the namespace holds what it should.
func (n foundNamespace) inPlace() bool {
	return !slices.ContainsFunc(n.objects, func(f inside.Found) bool { return !f.Same })
}

// goingAway says that nothing can be made in the namespace until it is gone.
func (n foundNamespace) goingAway() bool { return n.namespace.Going() }

func (f *facts) objects() []inside.Found {
	var out []inside.Found
	for _, n := range f.namespaces {
		out = append(out, n.objects...)
	}

	return out
}

// Exists says whether anything of it is there.
func (f *facts) Exists(o inside.Owner) bool {
	return len(f.stale) > 0 || len(o.Remains(f.objects())) > 0
}

// Complete says that each namespace has it, right or wrong.
func (f *facts) Complete() bool {
	return !slices.ContainsFunc(f.namespaces, func(n foundNamespace) bool { return !n.complete() })
}

// Settled says that there is nothing to do but to wait.
func (f *facts) Settled() bool {
	return len(f.stale) == 0 && !slices.ContainsFunc(f.namespaces, func(n foundNamespace) bool { return !n.inPlace() && !n.goingAway() })
}

// held are the namespaces that hold the quota, sorted.
func (f *facts) held() []string {
	var out []string

	for _, n := range f.namespaces {
		if n.inPlace() {
			out = append(out, n.name)
		}
	}

	return out
}
