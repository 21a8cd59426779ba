// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// NewTenant is a Tenant whose name begins with the prefix, with ids of its own.
// It has neither Flux nor an App Advisor.
func NewTenant(namespace, prefix string) *v1alpha1.Tenant {
	name := prefix + "-" + rand.String(5)

	return &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: v1alpha1.TenantSpec{
			UserID:       string(uuid.NewUUID()),
			TenantName:   name,
			CloudSpaceID: string(uuid.NewUUID()),
			Flux:         &v1alpha1.FluxSpec{Enabled: ptr.To(false)},
			Advisor:      &v1alpha1.AdvisorSpec{Enabled: ptr.To(false)},
		},
	}
}

// Describe says where a Tenant stands, with all its conditions, for a person.
func Describe(t *v1alpha1.Tenant) string {
	var b strings.Builder

	fmt.Fprintf(&b, "Tenant %s/%s, generation %d: phase %q, message %q\n",
		t.GetNamespace(), t.GetName(), t.GetGeneration(), t.Status.Phase, t.Status.Message)

	for _, c := range t.Status.Conditions {
		fmt.Fprintf(&b, "  %s=%s %s %s %q\n", c.Type, c.Status, c.Reason, c.LastTransitionTime.UTC().Format("15:04:05"), c.Message)
	}

	if d := t.GetDeletionTimestamp(); d != nil {
		fmt.Fprintf(&b, "  being deleted since %s, finalizers %v\n", d.UTC().Format("15:04:05"), t.GetFinalizers())
	}

	return b.String()
}

// DescribeAll says where each Tenant stands, and its pods.
func (c *Cluster) DescribeAll(ctx context.Context) string {
	var b strings.Builder

	all := &v1alpha1.TenantList{}
	if err := c.Client.List(ctx, all); err != nil {
		return err.Error()
	}

	for i := range all.Items {
		t := &all.Items[i]
		b.WriteString(Describe(t))

		pods := &corev1.PodList{}
		if err := c.Client.List(ctx, pods, client.InNamespace(vcluster.HostNamespace(t.Spec.TenantName))); err != nil {
			return b.String() + err.Error()
		}

		for j := range pods.Items {
			p := &pods.Items[j]
			fmt.Fprintf(&b, "  pod %s/%s: %s\n", p.GetNamespace(), p.GetName(), p.Status.Phase)
		}
	}

	return b.String()
}
