// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
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
