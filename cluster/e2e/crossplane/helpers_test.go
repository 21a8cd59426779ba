// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package crossplane

import (
	"context"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// labelComposite is on all that Crossplane composes, with the name of the composite.
const labelComposite = "crossplane.io/composite"

// newNamespace is a namespace of the spec's own, which goes with it.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "team-"}}
	Expect(cluster.Client.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(cluster.Client.Delete(ctx, ns))).To(Succeed())
		eventuallyGone(ctx, ns)
	}, NodeTimeout(specLimit))

	return ns.GetName()
}

// applied is the only object of a file below examples, applied to the namespace.
// It is gone when the spec is over.
func applied(ctx context.Context, namespace string, path ...string) *unstructured.Unstructured {
	GinkgoHelper()

	all, err := rig.ReadManifests(filepath.Join(append([]string{root, "examples"}, path...)...))
	Expect(err).NotTo(HaveOccurred())
	Expect(all).To(HaveLen(1))

	o := all[0]
	o.SetNamespace(namespace)
	apply(ctx, o)

	return o
}

func apply(ctx context.Context, o *unstructured.Unstructured) {
	GinkgoHelper()
	Expect(cluster.Apply(ctx, o.DeepCopy())).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(cluster.Client.Delete(ctx, o))).To(Succeed())
		eventuallyGone(ctx, o)
	}, NodeTimeout(specLimit))
}

// eventuallyReady waits until the object is.
func eventuallyReady(ctx context.Context, o *unstructured.Unstructured) {
	GinkgoHelper()
	By("waiting for " + o.GetKind() + " " + o.GetName() + " to be Ready")

	Eventually(ctx, func(ctx context.Context) (any, error) {
		err := cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
		return rig.ConditionOf(o, "Ready")["status"], err
	}).WithTimeout(readyLimit).WithPolling(pollEvery).Should(BeEquivalentTo(metav1.ConditionTrue), func() string {
		return rig.DescribeConditions(o) + cluster.DescribeAll(ctx)
	})
}

func eventuallyGone(ctx context.Context, o client.Object) {
	GinkgoHelper()

	Eventually(ctx, func(ctx context.Context) error {
		return cluster.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
	}).WithTimeout(goneLimit).WithPolling(pollEvery).Should(MatchError(kerrors.IsNotFound, "not found"), func() string {
		return o.GetName() + " is still there\n" + cluster.DescribeAll(ctx)
	})
}

// tenantOf is the Tenant of a composite.
func tenantOf(ctx context.Context, xr *unstructured.Unstructured) *v1alpha1.Tenant {
	GinkgoHelper()

	l := &v1alpha1.TenantList{}
	Expect(cluster.Client.List(ctx, l, client.MatchingLabels{labelComposite: xr.GetName()})).To(Succeed())

	for i := range l.Items {
		if metav1.IsControlledBy(&l.Items[i], xr) {
			return &l.Items[i]
		}
	}

	Fail("no Tenant of " + xr.GetName())

	return nil
}

// tenantsOf are the Tenants in the namespace, whoever made them.
func tenantsOf(ctx context.Context, namespace string) []v1alpha1.Tenant {
	GinkgoHelper()

	l := &v1alpha1.TenantList{}
	Expect(cluster.Client.List(ctx, l, client.InNamespace(namespace))).To(Succeed())

	return l.Items
}

// theTenant waits for the only Tenant in the namespace.
func theTenant(ctx context.Context, namespace string) *v1alpha1.Tenant {
	GinkgoHelper()

	var all []v1alpha1.Tenant

	Eventually(ctx, func(ctx context.Context) []v1alpha1.Tenant {
		all = tenantsOf(ctx, namespace)
		return all
	}).WithTimeout(promptly).WithPolling(pollEvery).Should(HaveLen(1))

	return &all[0]
}

// secretData is what a Secret holds.
func secretData(ctx context.Context, namespace, name string) map[string][]byte {
	GinkgoHelper()

	s := &corev1.Secret{}
	Expect(cluster.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, s)).To(Succeed())

	return s.Data
}

// field is a string of the object, empty if it is not there.
func field(o *unstructured.Unstructured, path ...string) string {
	GinkgoHelper()

	s, _, err := unstructured.NestedString(o.Object, path...)
	Expect(err).NotTo(HaveOccurred())

	return s
}

// expectNothingLeft proves that nothing is left of a Tenant. Only its usage of the
// provider configuration may go after it, by the garbage collector.
func expectNothingLeft(ctx context.Context, t *v1alpha1.Tenant) {
	GinkgoHelper()

	left, err := cluster.Leftovers(ctx, t)
	Expect(err).NotTo(HaveOccurred())
	Expect(left).To(Or(BeEmpty(), HaveEach(HavePrefix("providerconfigusages "))))
	eventuallyNothingLeft(ctx, t)
}

// eventuallyNothingLeft waits until nothing is left of a Tenant.
func eventuallyNothingLeft(ctx context.Context, t *v1alpha1.Tenant) {
	GinkgoHelper()

	Eventually(ctx, func(ctx context.Context) ([]string, error) {
		return cluster.Leftovers(ctx, t)
	}).WithTimeout(collectLimit).WithPolling(pollEvery).Should(BeEmpty())
}
