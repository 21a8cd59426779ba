// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package rights

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/kubeopera/provider-kubeopera/cluster/rbac"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// reportsNamespace is the provider's own. RBAC needs none to exist.
const reportsNamespace = metav1.NamespaceDefault

// list is a role as it is shipped, and the rights of it.
type list struct {
	rules     []rbacv1.PolicyRule
	namespace string
}

// TestEachRule reviews, on a real API server, users who lack one thing of a role:
// a whole rule, or one right of one. The review names exactly that, so that nothing
// can be taken out of a role unnoticed, and nothing that is asked for is granted
// by another rule by accident.
func TestEachRule(t *testing.T) {
	rules, err := rbac.Load()
	if err != nil {
		t.Fatalf("Load(): %v", err)
	}
	admin := testenv.RunControlPlane(t)
	admin.QPS = -1
	kube, err := kubernetes.NewForConfig(admin)
	if err != nil {
		t.Fatalf("NewForConfig(...): %v", err)
	}
	for name, l := range map[string]list{
		"provider": {rules: rules.Provider},
		"host":     {rules: rules.Host},
		"reports":  {rules: rules.Reports, namespace: reportsNamespace},
	} {
		t.Run(name, func(t *testing.T) {
			all, err := FromRules(l.rules, l.namespace)
			if err != nil {
				t.Fatalf("FromRules(...): %v", err)
			}
			t.Run("complete", func(t *testing.T) {
				t.Parallel()
				expectMissing(t, admin, kube, l, all, nil)
			})
			for i, rule := range l.rules {
				t.Run(fmt.Sprintf("without rule %d", i), func(t *testing.T) {
					t.Parallel()
					lacks, err := FromRules([]rbacv1.PolicyRule{rule}, l.namespace)
					if err != nil {
						t.Fatalf("FromRules(...): %v", err)
					}
					expectMissing(t, admin, kube, l, all, lacks)
				})
			}
			for _, lacks := range all {
				t.Run("without "+lacks.String(), func(t *testing.T) {
					t.Parallel()
					expectMissing(t, admin, kube, l, all, []Right{lacks})
				})
			}
		})
	}
}

// expectMissing reviews a new user who has all of these rights but some.
func expectMissing(t *testing.T, admin *rest.Config, kube kubernetes.Interface, l list, all, lacks []Right) {
	t.Helper()
	has := slices.DeleteFunc(slices.Clone(all), func(r Right) bool { return slices.Contains(lacks, r) })
	user := newUser(t, kube, l.namespace, has)

	cfg := rest.CopyConfig(admin)
	cfg.Impersonate.UserName = user
	r, err := NewReview(cfg)
	if err != nil {
		t.Fatalf("NewReview(...): %v", err)
	}
	// The API server takes a moment to know of a role; a right that no user lacks
	// shows that it does.
	canary := Right{Verb: "get", Resource: "nodes", Name: user, Namespace: l.namespace}
	err = wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, 30*time.Second, true, func(ctx context.Context) (bool, error) {
		missing, err := r.Missing(ctx, []Right{canary})
		return len(missing) == 0, err
	})
	if err != nil {
		t.Fatalf("The role of %q never came into effect: %v", user, err)
	}
	got, err := r.Missing(t.Context(), all)
	if err != nil {
		t.Fatalf("Missing(...): %v", err)
	}
	if diff := cmp.Diff(lacks, got); diff != "" {
		t.Errorf("The review names exactly what is missing: -want, +got:\n%s", diff)
	}
}

// newUser has these rights and the canary.
func newUser(t *testing.T, kube kubernetes.Interface, namespace string, has []Right) string {
	t.Helper()
	name := "review-" + rand.String(10)
	rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"nodes"}, ResourceNames: []string{name}, Verbs: []string{"get"}}}
	for _, r := range has {
		resource := r.Resource
		if r.Subresource != "" {
			resource += "/" + r.Subresource
		}
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{resource}, Verbs: []string{r.Verb}})
	}
	in := metav1.ObjectMeta{Name: name}
	ref := rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: name}
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: name}}

	_, err := kube.RbacV1().ClusterRoles().Create(t.Context(), &rbacv1.ClusterRole{ObjectMeta: in, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("Create(ClusterRole): %v", err)
	}
	if namespace == "" {
		_, err = kube.RbacV1().ClusterRoleBindings().Create(t.Context(), &rbacv1.ClusterRoleBinding{ObjectMeta: in, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
	} else {
		_, err = kube.RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{ObjectMeta: in, RoleRef: ref, Subjects: subjects}, metav1.CreateOptions{})
	}
	if err != nil {
		t.Fatalf("Create(binding): %v", err)
	}
	return name
}
