// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// GetLastHandledReconcileAt is the value of the annotation
// crossplane.io/reconcile-requested-at that was last acted upon.
func (mg *Tenant) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt records that the request of that value was acted
// upon. The managed reconciler does so, and angryjet does not generate it.
func (mg *Tenant) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}
