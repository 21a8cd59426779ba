// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package insidetest

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/client-go/util/cert"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// Namespace is where the tests' Tenants live.
const Namespace = "kubeopera-system"

// Epoch is when the tests begin.
var Epoch = time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)

// Scheme knows our kinds, and those of Kubernetes' that are inside a Tenant. The fake
// clients go through all that it knows at each write.
var Scheme = sync.OnceValue(func() *runtime.Scheme {
	s := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(s), appsv1.AddToScheme(s), rbacv1.AddToScheme(s), v1alpha1.AddToScheme(s)); err != nil {
		panic(err)
	}

	return s
})

// Tenant of the documentation, which is Ready and has published its kubeconfig.
func Tenant() *v1alpha1.Tenant {
	t := &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: "alice-default", UID: "uid-alice", CreationTimestamp: metav1.NewTime(Epoch)},
		Spec:       v1alpha1.TenantSpec{UserID: "alice", TenantName: "alice-default", CloudSpaceID: "7e9d3a1b"},
		Status:     v1alpha1.TenantStatus{Phase: v1alpha1.PhaseReady, KubeconfigSecret: vcluster.KubeconfigSecretName("7e9d3a1b")},
	}
	t.SetConditions(xpv2.Condition{Type: v1alpha1.TypeAPIReachable, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonDone})

	return t
}

// Agent is an AdvisorAgent of the Tenant.
func Agent(name string) *v1alpha1.AdvisorAgent {
	a := &v1alpha1.AdvisorAgent{ObjectMeta: referring(name)}
	a.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	a.Spec.TenantRef.Name = Tenant().GetName()
	a.Spec.Image = "registry.example.org/app-advisor:v1"

	return a
}

// Quota is a TenantQuota of the Tenant, in the namespace default.
func Quota(name string) *v1alpha1.TenantQuota {
	q := &v1alpha1.TenantQuota{ObjectMeta: referring(name)}
	q.Spec.ManagementPolicies = xpv2.ManagementPolicies{xpv2.ManagementActionAll}
	q.Spec.TenantRef.Name = Tenant().GetName()
	q.Spec.Namespaces = []string{metav1.NamespaceDefault}
	q.Spec.Hard = corev1.ResourceList{
		corev1.ResourceLimitsCPU: resource.MustParse("4"), corev1.ResourceLimitsMemory: resource.MustParse("8Gi"),
	}

	return q
}

func referring(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Namespace: Namespace, Name: name, UID: types.UID("uid-" + name), Generation: 1, CreationTimestamp: metav1.NewTime(Epoch),
		Labels: map[string]string{v1alpha1.LabelTenantUID: string(Tenant().GetUID())},
	}
}

// Deleted marks o as being deleted since then.
func Deleted[T client.Object](o T, since time.Time) T {
	o.SetDeletionTimestamp(&metav1.Time{Time: since})
	o.SetFinalizers([]string{"finalizer.managedresource.crossplane.io"})

	return o
}

// NewKube is the cluster of the Tenants, with one field index on the kinds that
// refer to them.
func NewKube(field string, index client.IndexerFunc, objs ...client.Object) client.WithWatch {
	return fake.NewClientBuilder().WithScheme(Scheme()).WithTypeConverters(converters()...).WithObjects(objs...).
		WithStatusSubresource(&v1alpha1.Tenant{}, &v1alpha1.AdvisorAgent{}, &v1alpha1.TenantQuota{}).
		WithIndex(&v1alpha1.AdvisorAgent{}, field, index).
		WithIndex(&v1alpha1.TenantQuota{}, field, index).
		Build()
}

// Kubeconfig of an API that nobody serves.
var Kubeconfig = sync.OnceValue(func() []byte {
	ca, _, err := cert.GenerateSelfSignedCertKey("vc.example.org", nil, nil)
	if err != nil {
		panic(err)
	}

	return KubeconfigOf(&rest.Config{Host: "https://vc.example.org", BearerToken: "t", TLSClientConfig: rest.TLSClientConfig{CAData: ca}})
})

// KubeconfigOf is one that says the same as cfg.
func KubeconfigOf(cfg *rest.Config) []byte {
	c := clientcmdapi.NewConfig()
	c.CurrentContext = "vc"
	c.Contexts["vc"] = &clientcmdapi.Context{Cluster: "vc", AuthInfo: "vc"}
	c.Clusters["vc"] = &clientcmdapi.Cluster{Server: cfg.Host, CertificateAuthorityData: cfg.CAData}
	c.AuthInfos["vc"] = &clientcmdapi.AuthInfo{ClientCertificateData: cfg.CertData, ClientKeyData: cfg.KeyData, Token: cfg.BearerToken}

	out, err := clientcmd.Write(*c)
	if err != nil {
		panic(err)
	}

	return out
}

// Recorder keeps events.
type Recorder struct {
	mu     sync.Mutex
	events []event.Event
}

// Event keeps e.
func (r *Recorder) Event(_ runtime.Object, e event.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.events = append(r.events, e)
}

// WithAnnotations changes nothing.
func (r *Recorder) WithAnnotations(...string) event.Recorder { return r }

// Take returns the messages of the events of that reason, and forgets all.
func (r *Recorder) Take(reason event.Reason) []string {
	r.mu.Lock()
	defer r.mu.Unlock()

	var out []string

	for _, e := range r.events {
		if e.Reason == reason {
			out = append(out, e.Message)
		}
	}

	r.events = nil

	return out
}

// Secret is what the Tenant has published.
func Secret(t *v1alpha1.Tenant, kubeconfig []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: t.GetNamespace(), Name: vcluster.KubeconfigSecretName(t.Spec.CloudSpaceID),
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha1.TenantGroupVersionKind.GroupVersion().String(), Kind: "Tenant",
				Name: t.GetName(), UID: t.GetUID(), Controller: ptr.To(true),
			}},
		},
		Data: map[string][]byte{"kubeconfig": kubeconfig},
	}
}

func kindOf(o runtime.Object) string {
	if k := o.GetObjectKind().GroupVersionKind().Kind; k != "" {
		return k
	}

	gvk, _, err := Scheme().ObjectKinds(o)
	if err != nil {
		return fmt.Sprintf("%T", o)
	}

	return gvk[0].Kind
}

func conflict(u *unstructured.Unstructured) error {
	return kerrors.NewConflict(schema.GroupResource{Resource: u.GetKind()}, u.GetName(), errors.New("it has changed"))
}
