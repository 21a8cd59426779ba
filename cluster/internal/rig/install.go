// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// Namespace of the provider and of the Tenant in examples/tenant.
	Namespace = "kubeopera-system"
	// NodeAddress is the address of the test bed's node.
	NodeAddress = "10.89.0.1"
	// GitPort is where its Git server answers, which pods may clone from.
	GitPort = 3000
	// ChartRepository of vCluster in the test bed's registry, which speaks plain HTTP.
	ChartRepository = "oci://10.89.0.1:5000/loft-sh/charts/vcluster"
	// ChartVersion that the test bed has.
	ChartVersion = "0.36.1"
	// FluxChartRepository of the flux2 chart there.
	FluxChartRepository = "oci://10.89.0.1:5000/fluxcd-community/charts/flux2"
	// FluxChartVersion that the test bed has.
	FluxChartVersion = "2.19.0"
	// FakeAdvisorImage stands in for the App Advisor: it answers /healthz, and lists
	// what it may read.
	FakeAdvisorImage = "ghcr.io/kubeopera/fake-app-advisor:v1"
	// ProviderUser is the user name of the provider at the API server.
	ProviderUser = "system:serviceaccount:" + Namespace + ":" + providerName

	providerName = "provider-kubeopera"
	fieldManager = "kubeopera-rig"
	tokenLife    = 8 * time.Hour
	pollInterval = 100 * time.Millisecond
	// servedLimit is how long a new kind may take to be served.
	servedLimit = 30 * time.Second
)

// ErrInUse says that the cluster has Tenants already.
var ErrInUse = errors.New("cluster is in use")

// Install brings a new cluster to where a Tenant can be made: the CRDs and the
// provider's rights as they are shipped below root, the namespace, and the
// ClusterProviderConfig "default" for the test bed's registry. It refuses a
// cluster that has Tenants, whose provider would work on ours as well.
func (c *Cluster) Install(ctx context.Context, root string) error {
	if err := c.installCRDs(ctx, filepath.Join(root, "package", "crds")); err != nil {
		return err
	}

	old := &v1alpha1.TenantList{}
	if err := c.Client.List(ctx, old); err != nil {
		return fmt.Errorf("cannot list Tenants: %w", err)
	}

	if len(old.Items) > 0 {
		return fmt.Errorf("%w: it has %d Tenants, such as %q; delete them, or take the test bed down and up again",
			ErrInUse, len(old.Items), client.ObjectKeyFromObject(&old.Items[0]))
	}

	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: Namespace}},
		ProviderConfig("default", v1alpha1.Chart{Repository: ChartRepository, Version: ChartVersion, PlainHTTP: true}),
	} {
		if err := c.ensure(ctx, o); err != nil {
			return err
		}
	}

	for _, f := range []string{"rbac/clusterrole.yaml", "rbac/provider.yaml", "admission/retry.yaml"} {
		if err := c.ApplyFile(ctx, filepath.Join(root, "cluster", filepath.FromSlash(f))); err != nil {
			return err
		}
	}

	return nil
}

// ApplyFile applies each object in a file of YAML documents.
func (c *Cluster) ApplyFile(ctx context.Context, file string) error {
	all, err := ReadManifests(file)
	if err != nil {
		return err
	}

	for _, u := range all {
		if err := c.Apply(ctx, u); err != nil {
			return fmt.Errorf("%q: %w", file, err)
		}
	}

	return nil
}

// Apply applies the object, and reads it back into u. It waits for its kind to be
// served.
func (c *Cluster) Apply(ctx context.Context, u *unstructured.Unstructured) error {
	err := WhenServed(ctx, func() error {
		return c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
	})
	if err != nil {
		return fmt.Errorf("cannot apply %s %q: %w", u.GetKind(), u.GetName(), err)
	}

	return nil
}

// WhenServed calls f until the cluster knows the kind that it is about: that takes
// a moment after its CRD was applied.
func WhenServed(ctx context.Context, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, servedLimit)
	defer cancel()

	var last error

	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(context.Context) (bool, error) {
		last = f()
		if meta.IsNoMatchError(last) || kerrors.IsNotFound(last) {
			return false, nil
		}

		return true, last
	})

	return cmp.Or(last, err)
}

// ReadManifests reads the objects in a file of YAML documents.
func ReadManifests(file string) ([]*unstructured.Unstructured, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot read what is to be applied: %w", err)
	}
	defer func() { _ = f.Close() }()

	var out []*unstructured.Unstructured

	for docs := utilyaml.NewYAMLOrJSONDecoder(f, 4096); ; {
		u := &unstructured.Unstructured{}

		err := docs.Decode(&u.Object)
		if errors.Is(err, io.EOF) {
			return out, nil
		}

		if err != nil {
			return nil, fmt.Errorf("cannot read %q: %w", file, err)
		}

		if len(u.Object) > 0 {
			out = append(out, u)
		}
	}
}

// ensure creates the object unless there is one of its name.
func (c *Cluster) ensure(ctx context.Context, o client.Object) error {
	if err := c.Client.Create(ctx, o); err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create %T %q: %w", o, o.GetName(), err)
	}

	return nil
}

// ProviderConfig is a ClusterProviderConfig for the cluster that the provider
// runs in, with charts from there. Its Tenants may reach the test bed's Git
// server, and no public network, of which the test bed has none.
func ProviderConfig(name string, chart v1alpha1.Chart) *v1alpha1.ClusterProviderConfig {
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity
	pc.Spec.Chart = &v1alpha1.ChartSource{Chart: chart}
	pc.Spec.FluxChart = &v1alpha1.ChartSource{Chart: v1alpha1.Chart{
		Repository: FluxChartRepository, Version: FluxChartVersion, PlainHTTP: true,
	}}
	pc.Spec.Isolation = &v1alpha1.Isolation{Egress: []networkingv1.NetworkPolicyEgressRule{EgressTo(NodeAddress, GitPort)}}

	return pc
}

// EgressTo lets pods reach one address by TCP at the port.
func EgressTo(address string, port int32) networkingv1.NetworkPolicyEgressRule {
	return networkingv1.NetworkPolicyEgressRule{
		To:    []networkingv1.NetworkPolicyPeer{{IPBlock: &networkingv1.IPBlock{CIDR: address + "/32"}}},
		Ports: []networkingv1.NetworkPolicyPort{{Protocol: ptr.To(corev1.ProtocolTCP), Port: ptr.To(intstr.FromInt32(port))}},
	}
}

func (c *Cluster) installCRDs(ctx context.Context, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("cannot find CRDs in %q: %w", folder, errors.Join(err, os.ErrNotExist))
	}

	for _, f := range files {
		if err := c.ApplyFile(ctx, f); err != nil {
			return err
		}
	}

	for _, kind := range []string{"tenants", "advisoragents", "tenantquotas", "providerconfigs", "clusterproviderconfigs", "providerconfigusages"} {
		if err := c.awaitCRD(ctx, kind+"."+v1alpha1.GroupVersion.Group); err != nil {
			return err
		}
	}

	return nil
}

func (c *Cluster) awaitCRD(ctx context.Context, name string) error {
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := c.Client.Get(ctx, client.ObjectKey{Name: name}, crd); err != nil {
			return false, err
		}

		for _, cond := range crd.Status.Conditions {
			if cond.Type == apiextensionsv1.Established && cond.Status == apiextensionsv1.ConditionTrue {
				return true, nil
			}
		}

		return false, nil
	})
	if err != nil {
		return fmt.Errorf("cannot wait for CRD %q to be established: %w", name, err)
	}

	return nil
}

// ProviderKubeconfig is the kubeconfig of the provider's own account, which has
// the rights that are shipped and no others. By its name the audit log tells the
// provider's writes from all others.
func (c *Cluster) ProviderKubeconfig(ctx context.Context) ([]byte, error) {
	return c.KubeconfigOf(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: providerName}})
}

// KubeconfigOf is a kubeconfig by which one acts as the service account, for a
// few hours.
func (c *Cluster) KubeconfigOf(ctx context.Context, sa *corev1.ServiceAccount) ([]byte, error) {
	token := &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: ptr.To(int64(tokenLife / time.Second))},
	}
	if err := c.Client.SubResource("token").Create(ctx, sa, token); err != nil {
		return nil, fmt.Errorf("cannot get a token of service account %q: %w", sa.GetName(), err)
	}

	const name = "test"

	out := clientcmdapi.NewConfig()
	out.Clusters[name] = &clientcmdapi.Cluster{Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}
	out.AuthInfos[name] = &clientcmdapi.AuthInfo{Token: token.Status.Token}
	out.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	out.CurrentContext = name

	raw, err := clientcmd.Write(*out)
	if err != nil {
		return nil, fmt.Errorf("cannot write a kubeconfig: %w", err)
	}

	return raw, nil
}
