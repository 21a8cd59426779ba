// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// How much calm time the provider gets. It holds the 90 s for which a release that
// someone may still be writing is left alone, and a start on a busy machine.
const (
	settleBound = 8 * time.Minute
	goneBound   = 5 * time.Minute
	// leftBound is for what goes after the Tenant: its usage, by the garbage
	// collector, and its last report, after the longest pause between two tries.
	leftBound = 2 * time.Minute
)

// Wrong values of a Tenant, and the words by which it must say so.
var mistakes = []struct {
	vcluster *v1alpha1.VClusterSpec
	word     string
}{
	{&v1alpha1.VClusterSpec{ChartVersion: ptr.To("0.36.99")}, "0.36.99"},
	{&v1alpha1.VClusterSpec{ValuesOverrides: overrides(`{"controlPlane":{"coredns":{"enabled":"perhaps"}}}`)}, "coredns"},
}

func overrides(json string) *apiextensionsv1.JSON { return &apiextensionsv1.JSON{Raw: []byte(json)} }

// live makes one Tenant after the other until the period is over.
func (p *period) live(ctx context.Context, r *rand.Rand) {
	var last *v1alpha1.Tenant

	deck := &deck{rand: r}

	for !p.over(ctx) {
		l := &life{soak: p.soak, rand: r, tenant: newTenant(r, r.IntN(5) == 0), deck: deck}
		if last != nil && r.IntN(3) == 0 {
			l.tenant = again(r, last)
		}

		// What a life does to its Tenant is not for the next.
		last = l.tenant.DeepCopy()

		switch n := r.IntN(16); {
		case n < 10:
			l.full(ctx, p)
		case n < 13:
			l.hasty(ctx)
		case n < 15:
			l.mistaken(ctx)
		default:
			l.foreign(ctx)
		}
	}
}

// life is that of one Tenant.
type life struct {
	soak   *soak
	rand   *rand.Rand
	tenant *v1alpha1.Tenant
	deck   *deck
}

// full is a life of being changed and broken.
func (l *life) full(ctx context.Context, p *period) {
	if !l.create(ctx) {
		return
	}

	right := l.settle(ctx, "create", nil)

	for range 2 + l.rand.IntN(4) {
		if !right || p.over(ctx) {
			break
		}

		d := l.deck.next()
		// Now and then it is deleted while it is broken.
		await := l.rand.IntN(8) > 0

		right = l.disturb(ctx, d, await) && await
		if right {
			right = p.pause(ctx, within(l.rand, time.Second, 10*time.Second))
		}
	}

	l.remove(ctx)
}

// plain is a life in which nothing happens.
func (l *life) plain(ctx context.Context) {
	if l.create(ctx) {
		l.settle(ctx, "create", nil)
		l.remove(ctx)
	}
}

// hasty is a life that ends while the Tenant is being made.
func (l *life) hasty(ctx context.Context) {
	if !l.create(ctx) {
		return
	}

	rig.Sleep(ctx, within(l.rand, 0, 25*time.Second))
	l.remove(ctx)
}

// mistaken is a life that begins with a wrong value. It is mended, or deleted while it
// fails.
func (l *life) mistaken(ctx context.Context) {
	m := mistakes[l.rand.IntN(len(mistakes))]
	l.tenant.Spec.VCluster = m.vcluster.DeepCopy()
	mend := l.rand.IntN(2) == 0

	if !l.create(ctx) {
		return
	}

	if l.await(ctx, "a wrong value", settleBound, l.failed(m.word)) && mend {
		l.soak.diary.operation("mend a wrong value", l.tenant.Name)

		if l.patch(ctx, func(t *v1alpha1.Tenant) { t.Spec.VCluster = nil }) == nil {
			l.settle(ctx, "mend a wrong value", nil)
		}
	}

	l.remove(ctx)
}

// foreign is a life of a Tenant that claims the bystander's namespace.
func (l *life) foreign(ctx context.Context) {
	l.tenant.Spec.TenantName = bystanderName

	if !l.create(ctx) {
		return
	}

	l.await(ctx, "claim a foreign namespace", settleBound, l.failed(bystanderName))
	l.remove(ctx)
}

// create makes the Tenant.
func (l *life) create(ctx context.Context) bool {
	l.soak.diary.operation("create", l.tenant.Name)

	if err := l.soak.cluster.Client.Create(ctx, l.tenant); err != nil {
		l.wrong(ctx, "a Tenant cannot be created", err)

		return false
	}

	l.soak.lives.began(l.tenant)

	return true
}

// settle waits until the Tenant is Ready, answers, and is mended, and counts how long
// it took.
func (l *life) settle(ctx context.Context, after string, mended func(context.Context) error) bool {
	return l.await(ctx, after, settleBound, func(ctx context.Context) error {
		if err := l.ready(ctx); err != nil {
			return err
		}

		if mended != nil {
			return mended(ctx)
		}

		return nil
	})
}

// await what must come true after an operation.
func (l *life) await(ctx context.Context, after string, bound time.Duration, right func(context.Context) error) bool {
	start := time.Now()

	err := until(ctx, func() bool { return l.soak.host.since(start) < bound }, right)

	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		l.wrong(ctx, fmt.Sprintf("not right within %s of calm after %q", bound, after), err)

		return false
	}

	l.soak.diary.recovered(after, l.tenant.Name, time.Since(start))

	return true
}

// ready errs unless the Tenant is Ready for its spec, and answers.
func (l *life) ready(ctx context.Context) error {
	t := l.tenant
	if err := l.soak.cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), t); err != nil {
		return err
	}

	if c := t.GetCondition("Ready"); t.Status.Phase != v1alpha1.PhaseReady || c.Status != corev1.ConditionTrue || c.ObservedGeneration != t.GetGeneration() {
		return fmt.Errorf("it is %s: %s", t.Status.Phase, t.Status.Message)
	}

	if err := l.soak.answers(ctx, t); err != nil {
		return err
	}

	l.soak.lives.becameReady(t)

	return nil
}

// failed errs unless the Tenant is Failed with that word.
func (l *life) failed(word string) func(context.Context) error {
	return func(ctx context.Context) error {
		t := l.tenant
		if err := l.soak.cluster.Client.Get(ctx, client.ObjectKeyFromObject(t), t); err != nil {
			return err
		}

		if t.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(t.Status.Message, word) {
			return fmt.Errorf("it is %s, not Failed for %q: %s", t.Status.Phase, word, t.Status.Message)
		}

		return nil
	}
}

// patch changes the Tenant as a user would.
func (l *life) patch(ctx context.Context, change func(*v1alpha1.Tenant)) error {
	before := l.tenant.DeepCopy()
	change(l.tenant)

	if err := l.soak.cluster.Client.Patch(ctx, l.tenant, client.MergeFrom(before)); err != nil {
		l.wrong(ctx, "a Tenant cannot be changed", err)

		return err
	}

	return nil
}

// remove deletes the Tenant, and waits until it and all that was made for it is gone.
func (l *life) remove(ctx context.Context) {
	const deletion = "delete"

	l.soak.diary.operation(deletion, l.tenant.Name)

	was := l.tenant.DeepCopy()
	if err := l.soak.cluster.Client.Delete(ctx, l.tenant); err != nil {
		l.wrong(ctx, "a Tenant cannot be deleted", err)

		return
	}

	gone := l.await(ctx, deletion, goneBound, func(ctx context.Context) error {
		err := l.soak.cluster.Client.Get(ctx, client.ObjectKeyFromObject(was), l.tenant)
		if kerrors.IsNotFound(err) {
			return nil
		}

		return errors.Join(err, errors.New("it is still there"))
	})
	if !gone {
		return
	}

	l.soak.lives.ended(was)

	if was.Spec.TenantName != bystanderName {
		l.checkNothingLeft(ctx, was)
	}
}

func (l *life) checkNothingLeft(ctx context.Context, was *v1alpha1.Tenant) {
	start := time.Now()
	patient := func() bool {
		return min(l.soak.host.since(start), l.soak.kubeoperaCalm.since(start)) < leftBound
	}

	err := until(ctx, patient, func(ctx context.Context) error {
		left, err := l.soak.cluster.Leftovers(ctx, was)
		if err == nil && len(left) > 0 {
			err = fmt.Errorf("left: %s", strings.Join(left, ", "))
		}

		// Only these may outlive a Tenant, for a while.
		if later := slices.DeleteFunc(left, func(s string) bool {
			return strings.HasPrefix(s, "providerconfigusages ") || strings.HasPrefix(s, "configmaps "+rig.Namespace+"/")
		}); len(later) > 0 {
			l.soak.diary.wrong(fmt.Sprintf("Tenant %s is gone before %s", was.Name, strings.Join(later, ", ")), "")

			return nil
		}

		return err
	})
	if err != nil && ctx.Err() == nil {
		l.wrong(ctx, "something is left of a Tenant", err)
	}
}

// wrong writes down what must not be, with all that may say why.
func (l *life) wrong(ctx context.Context, what string, err error) {
	if ctx.Err() != nil {
		return // Whoever ends the run breaks off what is being done.
	}

	l.soak.diary.wrong(fmt.Sprintf("Tenant %s: %s: %v", l.tenant.Name, what, err),
		rig.Describe(l.tenant)+l.soak.cluster.DescribeAll(ctx)+l.soak.provider.TailOf(l.tenant.Name, 30))
}
