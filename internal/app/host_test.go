// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/testenv"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// controlPlaneTemplate is all that a vCluster chart needs here.
const controlPlaneTemplate = `
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: {{ .Release.Name }}
  labels: {app: vcluster, release: {{ .Release.Name }}}
spec:
  serviceName: {{ .Release.Name }}
  selector: {matchLabels: {app: vcluster, release: {{ .Release.Name }}}}
  template:
    metadata: {labels: {app: vcluster, release: {{ .Release.Name }}}}
    spec: {containers: [{name: syncer, image: vcluster}]}
`

// hostCluster is a real API server that is the host, and the API of its one vCluster
// too. Its nodes are played.
type hostCluster struct {
	t *testing.T
	client.Client
	config     *rest.Config
	kubeconfig string
	// charts is the repository of its vCluster chart.
	charts string
}

// newHostCluster has the kinds, and a vCluster chart with this template beside the
// control plane.
func newHostCluster(t *testing.T, template string) *hostCluster {
	t.Helper()
	h := &hostCluster{t: t, config: testenv.RunControlPlane(t, "package/crds"), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	h.Client = newClient(t, h.config)
	h.charts = chartRepository(t, controlPlaneTemplate+template)
	if err := clientcmd.WriteToFile(h.access(h.config.Host), h.kubeconfig); err != nil {
		t.Fatalf("WriteToFile(...): %v", err)
	}
	h.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: ownNamespace}})
	h.makeDNS()
	return h
}

// access is an administrator's kubeconfig for the cluster at that address.
func (h *hostCluster) access(server string) clientcmdapi.Config {
	c := &clientcmdapi.Cluster{Server: server}
	if server == h.config.Host {
		c.CertificateAuthorityData = h.config.CAData
	}
	return clientcmdapi.Config{
		CurrentContext: "test",
		Contexts:       map[string]*clientcmdapi.Context{"test": {Cluster: "test", AuthInfo: "test"}},
		Clusters:       map[string]*clientcmdapi.Cluster{"test": c},
		AuthInfos:      map[string]*clientcmdapi.AuthInfo{"test": {ClientCertificateData: h.config.CertData, ClientKeyData: h.config.KeyData}},
	}
}

// configure makes the default configuration. An empty kubeconfig is the cluster itself.
func (h *hostCluster) configure(kubeconfig []byte) {
	h.t.Helper()
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default"}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity
	pc.Spec.Chart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{Repository: h.charts}}
	if kubeconfig != nil {
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: "host"}, Data: map[string][]byte{"kubeconfig": kubeconfig}}
		h.create(s)
		pc.Spec.Credentials.Source = xpv2.CredentialsSourceSecret
		pc.Spec.Credentials.SecretRef = &xpv2.SecretKeySelector{SecretReference: xpv2.SecretReference{Namespace: s.Namespace, Name: s.Name}, Key: "kubeconfig"}
	}
	h.create(pc)
}

func (h *hostCluster) create(objs ...client.Object) {
	h.t.Helper()
	for _, o := range objs {
		if err := h.Create(h.t.Context(), o); err != nil {
			h.t.Fatalf("Create(%T %s): %v", o, o.GetName(), err)
		}
	}
}

// makeDNS makes the CoreDNS of the vCluster, which is available.
func (h *hostCluster) makeDNS() {
	h.t.Helper()
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: vcluster.DNSNamespace, Name: vcluster.DNSDeployment}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: vcluster.DNSLabels()}
	d.Spec.Template.Labels = vcluster.DNSLabels()
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "coredns", Image: "coredns"}}
	h.create(d)
	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1, ReadyReplicas: 1, AvailableReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}},
	}
	if err := h.Status().Update(h.t.Context(), d); err != nil {
		h.t.Fatalf("Update(%s): %v", d.Name, err)
	}
}

// tenant without Flux, and the quota inside its vCluster, which has a namespace of its
// own: all vClusters here have one API.
func (h *hostCluster) tenant(name string) *v1alpha1.Tenant {
	h.t.Helper()
	q := &v1alpha1.TenantQuota{ObjectMeta: metav1.ObjectMeta{Namespace: ownNamespace, Name: name}}
	q.Spec.TenantRef.Name, q.Spec.Namespaces = name, []string{"inside-" + name}
	q.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("10")}
	t := &v1alpha1.Tenant{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: ownNamespace},
		Spec:       v1alpha1.TenantSpec{UserID: name, TenantName: name, CloudSpaceID: name, Flux: &v1alpha1.FluxSpec{Enabled: ptr.To(false)}},
	}
	// A namespace that the provider made would be a Tenant's on the host, too.
	h.create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: q.Spec.Namespaces[0]}}, q, t)
	return t
}

// await until the Tenant is as wanted.
func (h *hostCluster) await(name, what string, within time.Duration, ok func(*v1alpha1.Tenant) bool) {
	h.t.Helper()
	t := &v1alpha1.Tenant{}
	end := time.Now().Add(within)
	for h.Get(h.t.Context(), client.ObjectKey{Namespace: ownNamespace, Name: name}, t) != nil || !ok(t) {
		if h.t.Context().Err() != nil || time.Now().After(end) {
			h.t.Fatalf("%s: %s within %s: it is %s: %s", name, what, within, t.Status.Phase, t.Status.Message)
		}
		select {
		case <-h.t.Context().Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func ready(t *v1alpha1.Tenant) bool { return t.Status.Phase == v1alpha1.PhaseReady }

// comeUp has the control plane of the Tenant run, once there is one, and export its
// kubeconfig.
func (h *hostCluster) comeUp(name string) {
	h.t.Helper()
	release, namespace := vcluster.ReleaseName(name), vcluster.HostNamespace(name)
	s := &appsv1.StatefulSet{}
	eventually(h.t, "there is a control plane of "+name, 2*time.Minute, func(ctx context.Context) bool {
		return h.Get(ctx, client.ObjectKey{Namespace: namespace, Name: release}, s) == nil
	})
	u, _, err := rest.DefaultServerUrlFor(h.config)
	if err != nil {
		h.t.Fatalf("the address of the API server is %q: %v", h.config.Host, err)
	}
	// A loopback address would mean the vCluster's own pod.
	access := h.access(h.config.Host)
	access.Clusters["test"].Server, access.Clusters["test"].TLSServerName = "https://0.0.0.0:"+u.Port(), "localhost"
	raw, err := clientcmd.Write(access)
	if err != nil {
		h.t.Fatalf("clientcmd.Write(...): %v", err)
	}
	h.create(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: vcluster.ExportedSecretName(release)},
		Data:       map[string][]byte{vcluster.KeyConfig: raw},
	})
	s.Status = appsv1.StatefulSetStatus{ObservedGeneration: s.Generation, Replicas: 1, ReadyReplicas: 1, UpdatedReplicas: 1, AvailableReplicas: 1}
	if err := h.Status().Update(h.t.Context(), s); err != nil {
		h.t.Fatalf("Update(%s): %v", s.Name, err)
	}
}
