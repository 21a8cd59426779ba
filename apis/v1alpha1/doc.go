// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1alpha1 is the API of provider-kubeopera: the Tenant, which is one
// CloudSpace, and the configurations that say on which host cluster it lives.
//
// +kubebuilder:object:generate=true
// +groupName=kubeopera.io
// +versionName=v1alpha1
package v1alpha1
