// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"fmt"
	"strings"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// recordVerbs are what release records need besides the list that every action
// begins with. Helm finds out about a missing update only when all objects
// exist, and then keeps it to itself.
var recordVerbs = []string{"get", "create", "update", "delete"}

// allNamespaces asks for a right on objects in any namespace.
const allNamespaces = ""

// forbidden returns those of recordVerbs that the host does not allow on Secrets
// in namespace. That it allows all of them in every namespace is remembered.
func (h *Host) forbidden(ctx context.Context, namespace string) ([]string, error) {
	h.mu.Lock()
	at := h.allowedAt
	h.mu.Unlock()
	if time.Since(at) < allowedAge {
		return nil, nil
	}

	missing, err := h.missing(ctx, allNamespaces)
	if err != nil {
		return nil, err
	}
	if len(missing) > 0 {
		return h.missing(ctx, namespace)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.allowedAt = time.Now()
	return nil, nil
}

// missing are those of recordVerbs that the host does not allow on Secrets in namespace.
func (h *Host) missing(ctx context.Context, namespace string) ([]string, error) {
	var out []string
	for _, verb := range recordVerbs {
		r, err := h.access.SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
			Spec: authorizationv1.SelfSubjectAccessReviewSpec{
				ResourceAttributes: &authorizationv1.ResourceAttributes{Namespace: namespace, Verb: verb, Resource: "secrets"},
			},
		}, metav1.CreateOptions{})
		if err != nil {
			return nil, fmt.Errorf("cannot ask the host what it allows: %w", err)
		}
		if !r.Status.Allowed {
			out = append(out, verb)
		}
	}
	return out, nil
}

// checkAccess fails before anything is written if the records could not be kept.
func (c *client) checkAccess(ctx context.Context) error {
	missing, err := c.forbidden(ctx)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: releases are kept in Secrets, and in namespace %q the verbs %s on secrets are missing: grant them to the provider",
			ErrHostForbids, c.namespace, strings.Join(missing, ", "))
	}
	return nil
}
