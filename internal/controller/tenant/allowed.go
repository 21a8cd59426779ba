// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// errNotAllowed says that a provider configuration is not for the Tenant's namespace.
var errNotAllowed = errors.New("not allowed")

// allow errs unless Tenants of the namespace may use the configuration.
func (c config) allow(ctx context.Context, r client.Reader, namespace string) error {
	if c.allowed == nil || slices.Contains(c.allowed.List, namespace) {
		return nil
	}

	if c.allowed.Selector != nil {
		selected, err := selects(ctx, r, c.allowed.Selector, namespace)
		if err != nil {
			return fmt.Errorf("cannot find out whether %s may be used from namespace %q, by its spec.allowedNamespaces.selector: %w", c.name, namespace, err)
		}

		if selected {
			return nil
		}
	}

	return fmt.Errorf("%w: %s may not be used from namespace %q, which its spec.allowedNamespaces neither lists nor selects; "+
		"allow it there, or delete this Tenant and create one that names another provider configuration", errNotAllowed, c.name, namespace)
}

// selects says whether the namespace has the labels that are asked for.
func selects(ctx context.Context, r client.Reader, by *metav1.LabelSelector, namespace string) (bool, error) {
	s, err := metav1.LabelSelectorAsSelector(by)
	if err != nil {
		return false, fmt.Errorf("it is no selector: %w", err)
	}

	ns := &corev1.Namespace{}
	if err := r.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		return false, fmt.Errorf("cannot read namespace %q: %w", namespace, err)
	}

	return s.Matches(labels.Set(ns.GetLabels())), nil
}
