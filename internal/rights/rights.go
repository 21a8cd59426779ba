// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package rights finds out which rights the provider lacks on a cluster, by
// asking its API server.
package rights

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
)

// Right is one verb on one kind of resource.
type Right struct {
	Verb        string
	Group       string
	Resource    string
	Subresource string
	// Name of the one object that it is about. Empty means all.
	Name string
	// Namespace that it is about. Empty means all of the cluster.
	Namespace string
}

// String is the right in words, with the resource as kubectl takes it:
// create deployments.apps/scale.
func (r Right) String() string {
	out := r.Verb + " " + r.Resource
	if r.Group != "" {
		out += "." + r.Group
	}
	if r.Subresource != "" {
		out += "/" + r.Subresource
	}
	if r.Name != "" {
		out += fmt.Sprintf(" %q", r.Name)
	}
	if r.Namespace != "" {
		out += fmt.Sprintf(" in namespace %q", r.Namespace)
	}
	return out
}

func (r Right) attributes() *authorizationv1.ResourceAttributes {
	return &authorizationv1.ResourceAttributes{
		Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Name: r.Name, Namespace: r.Namespace,
	}
}

// FromRules returns all rights that the rules give in the namespace, or in all of
// the cluster if that is empty: each once, in the order of the rules. It errs on
// rules about URLs, which are not supported.
func FromRules(rules []rbacv1.PolicyRule, namespace string) ([]Right, error) {
	var out []Right
	seen := map[Right]bool{}
	for _, rule := range rules {
		if len(rule.NonResourceURLs) > 0 {
			return nil, errors.New("cannot review a rule with nonResourceURLs")
		}
		for _, r := range fromRule(rule, namespace) {
			if !seen[r] {
				seen[r] = true
				out = append(out, r)
			}
		}
	}
	return out, nil
}

func fromRule(rule rbacv1.PolicyRule, namespace string) []Right {
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	var out []Right
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			resource, sub, _ := strings.Cut(resource, "/")
			for _, name := range names {
				for _, verb := range rule.Verbs {
					out = append(out, Right{Verb: verb, Group: group, Resource: resource, Subresource: sub, Name: name, Namespace: namespace})
				}
			}
		}
	}
	return out
}

// MissingError says which rights are missing.
type MissingError struct{ Rights []Right }

// Error names them.
func (e *MissingError) Error() string { return "missing rights: " + strings.Join(e.Words(), ", ") }

// Words are the rights in words, sorted.
func (e *MissingError) Words() []string {
	out := make([]string, len(e.Rights))
	for i, r := range e.Rights {
		out[i] = r.String()
	}
	slices.Sort(out)
	return out
}
