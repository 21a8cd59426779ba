// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func TestDescribeNamespace(t *testing.T) {
	t.Parallel()

	meta := func(name string, finalizers ...string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Namespace: aliceNamespace, Name: name, Finalizers: finalizers}
	}
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: meta("data-x", "kubernetes.io/pvc-protection")}
	elsewhere := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: "other", Finalizers: []string{"x/y"}}}

	var many []client.Object
	for i := range 7 {
		many = append(many, &corev1.Pod{ObjectMeta: meta(fmt.Sprintf("pod-%d", i), "x/y")})
	}

	going := func() namespaceBuilder { return namespaceOf(alice().Obj()).Going(epoch) }

	cases := map[string]struct {
		reason string
		ns     *corev1.Namespace
		host   []client.Object
		want   string
		never  string
	}{
		"NotAsked": {reason: "it was not asked to go yet", ns: namespaceOf(alice().Obj()).Obj(), want: `waiting for namespace "vcluster-alice-default" to be deleted`},
		"Silent":   {reason: "nothing is known", ns: going().Obj(), want: `waiting for namespace "vcluster-alice-default", which is being deleted`},
		"Pods": {
			reason: "pods go first, and the namespace does not say so", host: []client.Object{&corev1.Pod{ObjectMeta: meta("slow")}},
			ns: going().Obj(), want: `waiting for namespace "vcluster-alice-default": Pod slow`,
		},
		"Claim": {
			reason: "the claim and its finalizer", host: []client.Object{claim, elsewhere},
			ns: going().Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: persistentvolumeclaims. has 1 resource instances").
				Condition(corev1.NamespaceFinalizersRemaining, "Some content in the namespace has finalizers remaining: kubernetes.io/pvc-protection in 1 resource instances").Obj(),
			want:  `waiting for namespace "vcluster-alice-default": PersistentVolumeClaim data-x, finalizer kubernetes.io/pvc-protection`,
			never: "Some content",
		},
		"HeldFirst": {
			reason: "what is held comes before what merely goes, and groups are told apart",
			host:   []client.Object{claim, &appsv1.Deployment{ObjectMeta: meta("a-deployment")}},
			ns:     going().Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: deployments.apps has 1 resource instances, persistentvolumeclaims. has 1 resource instances").Obj(),
			want:   "PersistentVolumeClaim data-x, finalizer kubernetes.io/pvc-protection; Deployment a-deployment",
		},
		"UnknownKind": {
			reason: "what cannot be listed stays a count", host: nil,
			ns:   going().Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: widgets.example.org has 3 resource instances").Obj(),
			want: "widgets.example.org has 3 resource instances",
		},
		"Many": {
			reason: "a message stays short", host: many,
			ns:   going().Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: pods. has 7 resource instances").Obj(),
			want: "Pod pod-4, finalizer x/y; and 2 more", never: "pod-5",
		},
		"DeadService": {
			reason: "the text of a failed discovery", host: []client.Object{claim},
			ns: going().Condition(corev1.NamespaceDeletionDiscoveryFailure, "unable to retrieve the complete list of server APIs: metrics.k8s.io/v1beta1").
				Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: persistentvolumeclaims. has 1 resource instances").Obj(),
			want: "metrics.k8s.io/v1beta1; PersistentVolumeClaim data-x",
		},
		"OldCondition": {
			reason: "a condition that is not True says nothing",
			ns: func() *corev1.Namespace {
				ns := going().Condition(corev1.NamespaceDeletionContentFailure, "old trouble").Obj()
				ns.Status.Conditions[0].Status = corev1.ConditionFalse

				return ns
			}(),
			want: "which is being deleted", never: "old trouble",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := newWorld(t, tc.host...).external(alice().Obj()).describeNamespace(t.Context(), tc.ns)
			if !strings.Contains(got, tc.want) || (tc.never != "" && strings.Contains(got, tc.never)) {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// TestDescribeNamespaceOfASilentHost holds that a list that fails is a count and
// no error: it is only words.
func TestDescribeNamespaceOfASilentHost(t *testing.T) {
	t.Parallel()

	w := newWorld(t)
	w.reads.fail(1)

	ns := namespaceOf(alice().Obj()).Going(epoch).Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: pods. has 7 resource instances").Obj()
	if got := w.external(alice().Obj()).describeNamespace(context.Background(), ns); !strings.HasSuffix(got, ": pods. has 7 resource instances") {
		t.Errorf("got %q", got)
	}
}

// TestDeletionNamesWhatBlocksIt holds that the words reach the Tenant.
func TestDeletionNamesWhatBlocksIt(t *testing.T) {
	t.Parallel()

	ns := namespaceOf(alice().Obj()).Going(epoch).
		Condition(corev1.NamespaceContentRemaining, "Some resources are remaining: persistentvolumeclaims. has 1 resource instances").Obj()
	claim := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: ns.Name, Name: "data-vc-alice-default-0", Finalizers: []string{"kubernetes.io/pvc-protection"},
	}}

	w, tn := newWorld(t, ns, claim), alice().Deleted(epoch).Obj()
	w.mustPass(tn)

	if want := "PersistentVolumeClaim data-vc-alice-default-0, finalizer kubernetes.io/pvc-protection"; !strings.Contains(tn.Status.Message, want) {
		t.Errorf("message %q does not say %q", tn.Status.Message, want)
	}
}
