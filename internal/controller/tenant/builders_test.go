// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"maps"
	"math/big"
	"sync"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/isolation"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// tenantNamespace is where the tests' Tenants live.
const tenantNamespace = "kubeopera-system"

// aliceNamespace is alice's on the host.
const aliceNamespace = "vcluster-alice-default"

// tenantBuilder builds Tenants.
type tenantBuilder struct{ *v1alpha1.Tenant }

// alice is the Tenant of the documentation, without Flux.
func alice() tenantBuilder {
	cpu, memory := resource.MustParse("4"), resource.MustParse("8Gi")

	return tenantBuilder{&v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: tenantNamespace, Name: "alice-default", UID: "uid-alice", Generation: 1,
			CreationTimestamp: metav1.NewTime(epoch),
		},
		Spec: v1alpha1.TenantSpec{
			ManagedResourceSpec: xpv2.ManagedResourceSpec{
				ManagementPolicies:               xpv2.ManagementPolicies{xpv2.ManagementActionAll},
				ProviderConfigReference:          &xpv2.ProviderConfigReference{Kind: "ClusterProviderConfig", Name: "default"},
				WriteConnectionSecretToReference: &xpv2.LocalSecretReference{Name: "alice-default-connection"},
			},
			UserID:       "3f1a2b4c-0000-4000-8000-000000000001",
			TenantName:   "alice-default",
			CloudSpaceID: "7e9d3a1b-0000-4000-8000-000000000002",
			Quota:        v1alpha1.QuotaSpec{CPU: &cpu, Memory: &memory},
			Flux:         &v1alpha1.FluxSpec{Enabled: ptr.To(false)},
		},
		Status: v1alpha1.TenantStatus{Phase: v1alpha1.PhasePending},
	}}
}

// bob has another name, id and UID than alice, and the same age.
func bob() tenantBuilder {
	b := alice().Named("bob").ID("bob-id")
	b.SetUID("uid-bob")
	b.Spec.TenantName = "bob"

	return b
}

func (b tenantBuilder) Named(name string) tenantBuilder {
	b.SetName(name)
	b.Spec.WriteConnectionSecretToReference = &xpv2.LocalSecretReference{Name: name + "-connection"}

	return b
}

func (b tenantBuilder) ID(id string) tenantBuilder {
	b.Spec.CloudSpaceID = id
	return b
}

func (b tenantBuilder) UID(uid string) tenantBuilder {
	b.SetUID(types.UID(uid))
	return b
}

func (b tenantBuilder) Born(at time.Time) tenantBuilder {
	b.SetCreationTimestamp(metav1.NewTime(at))
	return b
}

func (b tenantBuilder) Config(kind, name string) tenantBuilder {
	b.Spec.ProviderConfigReference = &xpv2.ProviderConfigReference{Kind: kind, Name: name}
	return b
}

func (b tenantBuilder) Chart(version string) tenantBuilder {
	b.vcluster().ChartVersion = ptr.To(version)
	return b
}

func (b tenantBuilder) Overrides(json string) tenantBuilder {
	b.vcluster().ValuesOverrides = &apiextensionsv1.JSON{Raw: []byte(json)}
	return b
}

// WithFlux has Flux installed, with these overrides of its values.
func (b tenantBuilder) WithFlux(overrides string) tenantBuilder {
	b.Spec.Flux = &v1alpha1.FluxSpec{}
	if overrides != "" {
		b.Spec.Flux.ValuesOverrides = &apiextensionsv1.JSON{Raw: []byte(overrides)}
	}

	return b
}

// Advisor has an App Advisor of that image.
func (b tenantBuilder) Advisor(image string) tenantBuilder {
	b.Spec.Advisor = &v1alpha1.AdvisorSpec{AdvisorSettings: v1alpha1.AdvisorSettings{Image: image}}
	return b
}

func (b tenantBuilder) vcluster() *v1alpha1.VClusterSpec {
	if b.Spec.VCluster == nil {
		b.Spec.VCluster = &v1alpha1.VClusterSpec{}
	}

	return b.Spec.VCluster
}

func (b tenantBuilder) Phase(p v1alpha1.TenantPhase) tenantBuilder {
	b.Status.Phase = p
	return b
}

// Ready was Ready when it was last seen.
func (b tenantBuilder) Ready() tenantBuilder {
	b.SetConditions(xpv2.Available())
	return b.Phase(v1alpha1.PhaseReady)
}

// Says has this message in its status.
func (b tenantBuilder) Says(message string) tenantBuilder {
	b.Status.Message = message
	return b
}

func (b tenantBuilder) Deleted(at time.Time) tenantBuilder {
	b.SetDeletionTimestamp(&metav1.Time{Time: at})
	b.SetFinalizers([]string{"finalizer.managedresource.crossplane.io"})

	return b
}

func (b tenantBuilder) Obj() *v1alpha1.Tenant { return b.Tenant }

// namespaceBuilder builds host namespaces.
type namespaceBuilder struct{ *corev1.Namespace }

// namespaceOf is the host namespace that t makes.
func namespaceOf(t *v1alpha1.Tenant) namespaceBuilder {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: namesOf(t).namespace, UID: types.UID("uid-ns-" + t.GetName()), CreationTimestamp: metav1.NewTime(epoch),
	}}
	(&external{defaults: defaults{environment: "test"}}).stamp(t, ns)
	maps.Copy(ns.Labels, isolation.PodSecurity(nil))

	return namespaceBuilder{ns}
}

// bareNamespace is one that nobody marked.
func bareNamespace(name string) namespaceBuilder {
	return namespaceBuilder{&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, UID: "uid-bare", CreationTimestamp: metav1.NewTime(epoch)}}}
}

func (b namespaceBuilder) Born(at time.Time) namespaceBuilder {
	b.SetCreationTimestamp(metav1.NewTime(at))
	return b
}

func (b namespaceBuilder) Held(by string) namespaceBuilder {
	b.SetFinalizers([]string{by})
	return b
}

func (b namespaceBuilder) Going(at time.Time) namespaceBuilder {
	b.SetDeletionTimestamp(&metav1.Time{Time: at})
	return b.Held("kubernetes")
}

func (b namespaceBuilder) Condition(t corev1.NamespaceConditionType, message string) namespaceBuilder {
	b.Status.Conditions = append(b.Status.Conditions, corev1.NamespaceCondition{Type: t, Status: corev1.ConditionTrue, Message: message})
	return b
}

func (b namespaceBuilder) Obj() *corev1.Namespace { return b.Namespace }

// kubeSystem is the namespace by whose UID a cluster is known.
func kubeSystem(uid types.UID) *corev1.Namespace {
	return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: metav1.NamespaceSystem, UID: uid}}
}

// hostAPI says at which addresses the host's own API is.
func hostAPI(addresses ...string) *discoveryv1.EndpointSlice {
	return &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: isolation.APINamespace, Name: "kubernetes", UID: "uid-api", Labels: map[string]string{discoveryv1.LabelServiceName: isolation.APIService},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints:   []discoveryv1.Endpoint{{Addresses: addresses}},
		Ports:       []discoveryv1.EndpointPort{{Port: ptr.To[int32](6443)}},
	}
}

// controlPlaneBuilder builds the StatefulSet of a control plane.
type controlPlaneBuilder struct{ *appsv1.StatefulSet }

func controlPlane(n names) controlPlaneBuilder {
	return controlPlaneBuilder{&appsv1.StatefulSet{ObjectMeta: metav1.ObjectMeta{
		Namespace: n.namespace, Name: n.release, UID: "uid-workload", Labels: vcluster.ControlPlaneLabels(n.release),
	}}}
}

func (b controlPlaneBuilder) Ready() controlPlaneBuilder {
	b.Status.ReadyReplicas = 1
	return b
}

func (b controlPlaneBuilder) Obj() *appsv1.StatefulSet { return b.StatefulSet }

// service of a control plane.
func service(n names) *corev1.Service {
	return &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: n.release, UID: "uid-service", Labels: vcluster.ControlPlaneLabels(n.release)},
		Spec:       corev1.ServiceSpec{ClusterIP: "10.96.0.10", Ports: []corev1.ServicePort{{Port: 443}}},
	}
}

// exported is the Secret that vCluster writes.
func exported(n names, config []byte) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: n.namespace, Name: n.exported, UID: "uid-exported"},
		Data:       map[string][]byte{vcluster.KeyConfig: config},
	}
}

// manifest of alice's release. One of its kinds is not served by the host.
const manifest = `
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: vc-alice-default}
---
apiVersion: v1
kind: Service
metadata: {name: vc-alice-default, namespace: vcluster-alice-default}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: w}
`

// releaseBuilder builds Helm releases.
type releaseBuilder struct{ *helm.Release }

// releaseOf is what t wants, deployed.
func releaseOf(t *v1alpha1.Tenant) releaseBuilder {
	d, err := desire(t, defaults{
		chartVersion: "0.36.1", environment: "test",
		HostDefaults: v1alpha1.HostDefaults{AllowedValuesOverrides: []string{vcluster.AllowAll}},
	})
	if err != nil {
		panic(err)
	}

	return releaseBuilder{&helm.Release{
		Name: namesOf(t).release, Revision: 1, Status: helm.StatusDeployed, Updated: epoch,
		ChartName: "vcluster", ChartVersion: d.chartVersion, Values: d.values, Manifest: manifest, Ours: true,
	}}
}

func (b releaseBuilder) Status(s helm.Status) releaseBuilder {
	b.Release.Status = s
	return b
}

func (b releaseBuilder) Updated(at time.Time) releaseBuilder {
	b.Release.Updated = at
	return b
}

func (b releaseBuilder) Obj() *helm.Release { return b.Release }

// fluxManifest is that of the release of Flux, which needs what knownFlux says.
const fluxManifest = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: kustomize-controller}
spec:
  strategy: {type: Recreate}
  template: {spec: {containers: [{name: manager, image: "flux/kustomize-controller:v1", resources: {
    requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: "1", memory: 1Gi}}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: source-controller}
spec:
  strategy: {type: Recreate}
  template: {spec: {containers: [{name: manager, image: "flux/source-controller:v1", resources: {
    requests: {cpu: 500m, memory: 512Mi}, limits: {cpu: "1", memory: 1Gi}}}]}}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: gitrepositories.source.toolkit.fluxcd.io}
spec: {group: source.toolkit.fluxcd.io, names: {plural: gitrepositories}}
`

const fluxCRD = "gitrepositories.source.toolkit.fluxcd.io"

// fluxBuilder builds Deployments inside a vCluster, such as those of Flux as Helm makes them.
type fluxBuilder struct{ *appsv1.Deployment }

func fluxController(name string) fluxBuilder {
	pod := map[string]string{"app": name}

	return fluxBuilder{&appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: flux.Namespace, Name: name, UID: types.UID("uid-" + name), Labels: map[string]string{"app.kubernetes.io/part-of": "flux"},
			Annotations: map[string]string{"meta.helm.sh/release-name": flux.ReleaseName},
		},
		Spec: appsv1.DeploymentSpec{
			Replicas: ptr.To[int32](1), Selector: &metav1.LabelSelector{MatchLabels: pod},
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "manager", Image: "flux/" + name + ":v1"}}}},
		},
	}}
}

func (b fluxBuilder) Ready() fluxBuilder {
	b.Status = appsv1.DeploymentStatus{
		Replicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}

	return b
}

func (b fluxBuilder) Obj() *appsv1.Deployment { return b.Deployment }

// coreDNS is the Deployment that vCluster makes inside of itself.
func coreDNS() fluxBuilder {
	b := fluxController(vcluster.DNSDeployment)
	b.SetNamespace(vcluster.DNSNamespace)
	b.SetAnnotations(nil)
	b.SetLabels(vcluster.DNSLabels())
	b.Spec.Selector.MatchLabels = vcluster.DNSLabels()

	return b
}

// fluxDefinition is the CRD of Flux as Helm makes it.
func fluxDefinition(established bool) *apiextensionsv1.CustomResourceDefinition {
	crd := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{
		Name: fluxCRD, UID: "uid-crd", Labels: map[string]string{"app.kubernetes.io/managed-by": "Helm"},
	}}
	if established {
		crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
			{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue},
			{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
		}
	}

	return crd
}

// agent is an AdvisorAgent that a person made for the Tenant of that name.
func agent(name, tenant string) *v1alpha1.AdvisorAgent {
	a := &v1alpha1.AdvisorAgent{ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: name, UID: types.UID("uid-agent-" + name), Generation: 1}}
	a.Spec.TenantRef.Name = tenant

	return a
}

// tenantQuota is a TenantQuota that a person made for the Tenant of that name.
func tenantQuota(name, tenant string) *v1alpha1.TenantQuota {
	q := &v1alpha1.TenantQuota{ObjectMeta: metav1.ObjectMeta{Namespace: tenantNamespace, Name: name, UID: types.UID("uid-quota-" + name), Generation: 1}}
	q.Spec.TenantRef.Name = tenant

	return q
}

// pair is a certificate and its key, PEM.
type pair struct{ cert, key []byte }

var (
	pairsLock sync.Mutex
	pairs     = map[string]pair{}
)

// pairOf is a self-signed certificate, the same for the same name.
func pairOf(name string) pair {
	pairsLock.Lock()
	defer pairsLock.Unlock()

	if p, ok := pairs[name]; ok {
		return p
	}

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}

	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name},
		NotBefore: epoch.AddDate(-10, 0, 0), NotAfter: epoch.AddDate(50, 0, 0), IsCA: true, BasicConstraintsValid: true,
	}

	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		panic(err)
	}

	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		panic(err)
	}

	pairs[name] = pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}

	return pairs[name]
}

// kubeconfig as vCluster exports it, with the user of that name.
func kubeconfig(user string) []byte {
	return kubeconfigFor("https://localhost:8443", pairOf("ca").cert, pairOf(user))
}

func kubeconfigFor(server string, ca []byte, user pair) []byte {
	c := clientcmdapi.NewConfig()
	c.CurrentContext = "my-vcluster"
	c.Contexts["my-vcluster"] = &clientcmdapi.Context{Cluster: "my-vcluster", AuthInfo: "my-vcluster"}
	c.Clusters["my-vcluster"] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	c.AuthInfos["my-vcluster"] = &clientcmdapi.AuthInfo{ClientCertificateData: user.cert, ClientKeyData: user.key}

	out, err := clientcmd.Write(*c)
	if err != nil {
		panic(err)
	}

	return out
}
