// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"errors"
	"slices"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/rights"
)

var errBoom = errors.New("boom")

func clusterConfig(source xpv2.CredentialsSource) client.Object {
	c := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	c.Spec.Credentials.Source = source
	return c
}

func localConfig(source xpv2.CredentialsSource) client.Object {
	c := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", Namespace: "team"}}
	c.Spec.Credentials.Source = source
	return c
}

// reader has these objects, or fails.
func reader(t *testing.T, fail error, objs ...client.Object) client.Reader {
	t.Helper()
	scheme, err := newScheme()
	if err != nil {
		t.Fatal(err)
	}
	b := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objs...)
	if fail != nil {
		b = b.WithInterceptorFuncs(interceptor.Funcs{List: func(context.Context, client.WithWatch, client.ObjectList, ...client.ListOption) error { return fail }})
	}
	return b.Build()
}

func TestHostsAreElsewhere(t *testing.T) {
	t.Parallel()
	const here, secret = xpv2.CredentialsSourceInjectedIdentity, xpv2.CredentialsSourceSecret
	kind := schema.GroupResource{Group: "kubeopera.io", Resource: "clusterproviderconfigs"}

	cases := map[string]struct {
		reason string
		objs   []client.Object
		fail   error
		want   bool
		err    error
	}{
		"None":       {reason: "Without a configuration the cluster itself may become a host."},
		"Here":       {reason: "One names this cluster.", objs: []client.Object{clusterConfig(here)}},
		"Elsewhere":  {reason: "One names another.", objs: []client.Object{clusterConfig(secret)}, want: true},
		"LocalOnly":  {reason: "Those of a namespace count.", objs: []client.Object{localConfig(secret)}, want: true},
		"LocalHere":  {reason: "Those of a namespace may name this cluster.", objs: []client.Object{clusterConfig(secret), localConfig(here)}},
		"Both":       {reason: "All name others.", objs: []client.Object{clusterConfig(secret), localConfig(secret)}, want: true},
		"Forbidden":  {reason: "What may not be read is no proof.", fail: kerrors.NewForbidden(kind, "", nil)},
		"NoKind":     {reason: "Kinds that come later have no objects.", fail: &meta.NoKindMatchError{}},
		"NotFound":   {reason: "So do those that the API server has just lost.", fail: kerrors.NewNotFound(kind, "")},
		"NoAnswer":   {reason: "An API server that does not answer has said nothing.", fail: errBoom, err: errBoom},
		"OtherValue": {reason: "What is none of the two may be anything.", objs: []client.Object{clusterConfig("None")}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := hostsAreElsewhere(t.Context(), reader(t, tc.fail, tc.objs...))
			if got != tc.want || !errors.Is(err, tc.err) {
				t.Errorf("%s\nhostsAreElsewhere(...): want %t, %v; got %t, %v", tc.reason, tc.want, tc.err, got, err)
			}
		})
	}
}

func TestRequirement(t *testing.T) {
	t.Parallel()
	var (
		own     = rights.Right{Verb: "update", Group: "kubeopera.io", Resource: "tenants", Subresource: "status"}
		crds    = rights.Right{Verb: "watch", Group: "apiextensions.k8s.io", Resource: "customresourcedefinitions"}
		secrets = rights.Right{Verb: "get", Resource: "secrets"}
		host    = rights.Right{Verb: "create", Resource: "namespaces"}
		report  = rights.Right{Verb: "create", Resource: "configmaps", Namespace: "kubeopera-system"}
	)
	cases := map[string]struct {
		reason   string
		outbox   string
		config   client.Object
		has, not []rights.Right
	}{
		"Host":      {"This cluster is a host.", "", clusterConfig(xpv2.CredentialsSourceInjectedIdentity), []rights.Right{own, crds, secrets, host}, []rights.Right{report}},
		"Elsewhere": {"No host's rights are needed when all hosts are elsewhere.", "", clusterConfig(xpv2.CredentialsSourceSecret), []rights.Right{own, crds, secrets}, []rights.Right{host, report}},
		"Reports":   {"Reports wait in the provider's namespace.", "kubeopera-system", clusterConfig(xpv2.CredentialsSourceSecret), []rights.Right{own, report}, []rights.Right{host}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, err := newRequirement(reader(t, nil, tc.config), tc.outbox)
			if err != nil {
				t.Fatalf("newRequirement(...): %v", err)
			}
			got, err := r.rights(t.Context())
			if err != nil {
				t.Fatalf("rights(...): %v", err)
			}
			seen := map[rights.Right]int{}
			for _, one := range got {
				if seen[one]++; seen[one] > 1 {
					t.Errorf("%s is asked for twice", one)
				}
			}
			for _, want := range tc.has {
				if seen[want] == 0 {
					t.Errorf("%s\nwant %s", tc.reason, want)
				}
			}
			for _, no := range tc.not {
				if slices.Contains(got, no) {
					t.Errorf("%s\n%s is not needed", tc.reason, no)
				}
			}
		})
	}

	r, err := newRequirement(reader(t, errBoom), "")
	if err != nil {
		t.Fatalf("newRequirement(...): %v", err)
	}
	if _, err := r.rights(t.Context()); !errors.Is(err, errBoom) {
		t.Errorf("What is not known is no answer: want %v, got %v", errBoom, err)
	}
}
