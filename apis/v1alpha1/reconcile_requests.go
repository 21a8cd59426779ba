// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// The managed reconciler records which value of the annotation
// crossplane.io/reconcile-requested-at it acted upon last. angryjet does not
// generate the accessors for it.

// GetLastHandledReconcileAt is the value of the annotation
// crossplane.io/reconcile-requested-at that was last acted upon.
func (mg *Tenant) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt records that the request of that value was acted
// upon.
func (mg *Tenant) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetLastHandledReconcileAt is the value of the annotation
// crossplane.io/reconcile-requested-at that was last acted upon.
func (mg *AdvisorAgent) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt records that the request of that value was acted
// upon.
func (mg *AdvisorAgent) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetLastHandledReconcileAt is the value of the annotation
// crossplane.io/reconcile-requested-at that was last acted upon.
func (mg *TenantQuota) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt records that the request of that value was acted
// upon.
func (mg *TenantQuota) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}
