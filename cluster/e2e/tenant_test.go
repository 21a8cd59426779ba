// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	gomegatypes "github.com/onsi/gomega/types"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// How long things may take on a busy machine. A quiet one needs a tenth.
const (
	readyLimit    = 2 * time.Minute
	goneLimit     = 90 * time.Second
	phaseLimit    = 30 * time.Second
	collectLimit  = time.Minute
	promptly      = 5 * time.Second
	pollEvery     = 100 * time.Millisecond
	specLimit     = 4 * time.Minute
	cleanupLimit  = 2 * time.Minute
	stableFor     = 4 * time.Second
	secretKey     = "kubeconfig"
	wallName      = "kubeopera-tenant"
	busyboxImage  = "docker.io/library/busybox:1.36"
	labelOwner    = "owner"
	labelStatus   = "status"
	ownerHelm     = "helm"
	statusPending = "pending-install"
)

// newNamespace makes a namespace for the spec.
func newNamespace(ctx context.Context) string {
	GinkgoHelper()

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "e2e-"}}
	Expect(cluster.Client.Create(ctx, ns)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) {
		Expect(client.IgnoreNotFound(cluster.Client.Delete(ctx, ns))).To(Succeed())
	}, NodeTimeout(cleanupLimit))

	return ns.GetName()
}

// create makes the object, which goes with the spec.
func create(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(cluster.Client.Create(ctx, o)).To(Succeed())
	DeferCleanup(func(ctx SpecContext) { removeAndWait(ctx, o) }, NodeTimeout(cleanupLimit))
}

// removeAndWait deletes the object and waits until it is gone.
func removeAndWait(ctx context.Context, o client.Object) {
	GinkgoHelper()
	Expect(client.IgnoreNotFound(cluster.Client.Delete(ctx, o))).To(Succeed())
	eventuallyGone(ctx, o)
}

func eventuallyGone(ctx context.Context, o client.Object) {
	GinkgoHelper()

	key := client.ObjectKeyFromObject(o)
	Eventually(ctx, func(ctx context.Context) error {
		return cluster.Client.Get(ctx, key, o)
	}).WithTimeout(goneLimit).WithPolling(pollEvery).Should(MatchError(kerrors.IsNotFound, "not found"), func() string {
		return fmt.Sprintf("%T %s is still there\n%s", o, key, describe(o))
	})
}

func describe(o client.Object) string {
	if t, ok := o.(*v1alpha1.Tenant); ok {
		return rig.Describe(t)
	}

	return fmt.Sprintf("finalizers %v", o.GetFinalizers())
}

// eventually waits until the Tenant is as wanted; t is then as it was read.
func eventually(ctx context.Context, t *v1alpha1.Tenant, limit time.Duration, want gomegatypes.GomegaMatcher) {
	GinkgoHelper()

	key := client.ObjectKeyFromObject(t)
	Eventually(ctx, func(ctx context.Context) (*v1alpha1.Tenant, error) {
		return t, cluster.Client.Get(ctx, key, t)
	}).WithTimeout(limit).WithPolling(pollEvery).Should(want, func() string { return rig.Describe(t) })
}

// consistently proves that the Tenant stays as wanted for a while.
func consistently(ctx context.Context, t *v1alpha1.Tenant, want gomegatypes.GomegaMatcher) {
	GinkgoHelper()

	key := client.ObjectKeyFromObject(t)
	Consistently(ctx, func(ctx context.Context) (*v1alpha1.Tenant, error) {
		return t, cluster.Client.Get(ctx, key, t)
	}).WithTimeout(stableFor).WithPolling(pollEvery).Should(want, func() string { return rig.Describe(t) })
}

// bePhase matches a Tenant by its phase.
func bePhase(p v1alpha1.TenantPhase) gomegatypes.GomegaMatcher {
	return WithTransform(func(t *v1alpha1.Tenant) v1alpha1.TenantPhase { return t.Status.Phase }, Equal(p))
}

// say matches a Tenant whose message holds all of these words.
func say(words ...string) gomegatypes.GomegaMatcher {
	all := make([]gomegatypes.GomegaMatcher, len(words))
	for i, w := range words {
		all[i] = ContainSubstring(w)
	}

	return WithTransform(func(t *v1alpha1.Tenant) string { return t.Status.Message }, And(all...))
}

// beReady matches a Tenant that is Ready, in its phase and in its conditions,
// for the spec as it is now.
func beReady() gomegatypes.GomegaMatcher {
	return And(
		bePhase(v1alpha1.PhaseReady),
		WithTransform(func(t *v1alpha1.Tenant) corev1.ConditionStatus { return t.GetCondition("Ready").Status }, Equal(corev1.ConditionTrue)),
		WithTransform(func(t *v1alpha1.Tenant) bool { return t.GetCondition("Ready").ObservedGeneration == t.GetGeneration() }, BeTrue()),
	)
}

// haveCondition matches a Tenant by one of its conditions, whose message holds all
// of these words.
func haveCondition(ct xpv2.ConditionType, status corev1.ConditionStatus, reason xpv2.ConditionReason, words ...string) gomegatypes.GomegaMatcher {
	all := []gomegatypes.GomegaMatcher{HaveField("Status", status), HaveField("Reason", reason)}
	for _, w := range words {
		all = append(all, HaveField("Message", ContainSubstring(w)))
	}

	return WithTransform(func(t *v1alpha1.Tenant) xpv2.Condition { return t.GetCondition(ct) }, And(all...))
}

// newReady makes a Tenant and waits until it is Ready.
func newReady(ctx context.Context, namespace, prefix string) *v1alpha1.Tenant {
	GinkgoHelper()

	t := rig.NewTenant(namespace, prefix)
	create(ctx, t)
	By("waiting for Tenant " + t.GetName() + " to be Ready")
	eventually(ctx, t, readyLimit, beReady())

	return t
}

// patch changes the Tenant as a user would.
func patch(ctx context.Context, t *v1alpha1.Tenant, change func(*v1alpha1.Tenant)) {
	GinkgoHelper()

	before := t.DeepCopy()
	change(t)
	Expect(cluster.Client.Patch(ctx, t, client.MergeFrom(before))).To(Succeed())
}

func secretOf(ctx context.Context, t *v1alpha1.Tenant) *corev1.Secret {
	GinkgoHelper()

	s := &corev1.Secret{}
	Expect(cluster.Client.Get(ctx, publishedKey(t), s)).To(Succeed())

	return s
}

func publishedKey(t *v1alpha1.Tenant) client.ObjectKey {
	return client.ObjectKey{Namespace: t.GetNamespace(), Name: vcluster.KubeconfigSecretName(t.Spec.CloudSpaceID)}
}

func releaseOf(t *v1alpha1.Tenant) string   { return vcluster.ReleaseName(t.Spec.TenantName) }
func namespaceOf(t *v1alpha1.Tenant) string { return vcluster.HostNamespace(t.Spec.TenantName) }

// records are the revisions of the Tenant's release, as Helm keeps them.
func records(ctx context.Context, t *v1alpha1.Tenant) []corev1.Secret {
	GinkgoHelper()

	l := &corev1.SecretList{}
	Expect(cluster.Client.List(ctx, l, client.InNamespace(namespaceOf(t)), client.MatchingLabels{labelOwner: ownerHelm})).To(Succeed())

	return l.Items
}

// expectNothingLeft proves that nothing is left of a Tenant that has just gone.
// Only its usage of the provider configuration may go after it: the garbage
// collector takes that, which learns of a new kind within half a minute.
func expectNothingLeft(ctx context.Context, t *v1alpha1.Tenant) {
	GinkgoHelper()

	left, err := cluster.Leftovers(ctx, t)
	Expect(err).NotTo(HaveOccurred())
	Expect(left).To(Or(BeEmpty(), HaveEach(HavePrefix("providerconfigusages "))))
	Eventually(ctx, func(ctx context.Context) ([]string, error) {
		return cluster.Leftovers(ctx, t)
	}).WithTimeout(collectLimit).WithPolling(pollEvery).Should(BeEmpty())
}

// expectNoHostNamespace proves that nothing was made on the host for the Tenant.
func expectNoHostNamespace(ctx context.Context, t *v1alpha1.Tenant) {
	GinkgoHelper()

	err := cluster.Client.Get(ctx, client.ObjectKey{Name: namespaceOf(t)}, &corev1.Namespace{})
	Expect(err).To(MatchError(kerrors.IsNotFound, "not found"))
}
