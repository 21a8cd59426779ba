// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package inside

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

func newKube(objs ...client.Object) client.WithWatch {
	return insidetest.NewKube(IndexTenant, TenantNameOf, objs...)
}

// controllerOf has clients for an API that is not asked anything.
func controllerOf(kube client.Client) Controller {
	return Controller{Kube: kube, Live: kube, Clock: clocktesting.NewFakePassiveClock(insidetest.Epoch), Open: func(types.UID, *vcluster.Kubeconfig) (*tenantapi.API, error) { return &tenantapi.API{}, nil }}
}

// wantQuota wants a ResourceQuota of that name in a namespace.
func wantQuota(t *testing.T, namespace, name string, lock bool) Wanted {
	t.Helper()

	q := &corev1.ResourceQuota{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ResourceQuota"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
	}
	OwnerOf(insidetest.Agent("a"), insidetest.Tenant()).Stamp(q)

	w, err := Want(q, lock)
	if err != nil {
		t.Fatal(err)
	}

	return w
}

func wantNamespace(t *testing.T, name string) Wanted {
	t.Helper()

	ns := &corev1.Namespace{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}, ObjectMeta: metav1.ObjectMeta{Name: name}}
	OwnerOf(insidetest.Agent("a"), insidetest.Tenant()).Stamp(ns)

	w, err := Want(ns, true)
	if err != nil {
		t.Fatal(err)
	}

	return w
}

// live is what is wanted as it is there, with other labels if there are any.
func live(w Wanted, labels map[string]string) *unstructured.Unstructured {
	out := w.DeepCopy()
	if labels != nil {
		out.SetLabels(labels)
	}

	return out
}

// targetOf is what a pass of the controller finds for mg.
func targetOf(t *testing.T, c Controller, mg resource.Managed) (Target, error) {
	t.Helper()

	p := c.begin(t.Context(), mg)

	return p.Target, p.unavailable
}
