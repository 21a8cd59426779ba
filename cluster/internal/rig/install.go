// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// Namespace of the provider and of the Tenant in examples/tenant.
	Namespace = "kubeopera-system"
	// ChartRepository of vCluster in the test bed's registry, which speaks plain HTTP.
	ChartRepository = "oci://10.89.0.1:5000/loft-sh/charts/vcluster"
	// ChartVersion that the test bed has.
	ChartVersion = "0.36.1"
	// ProviderUser is the user name of the provider at the API server.
	ProviderUser = "system:serviceaccount:" + Namespace + ":" + providerName

	providerName = "provider-kubeopera"
	fieldManager = "kubeopera-rig"
	tokenLife    = 8 * time.Hour
	pollInterval = 100 * time.Millisecond
)

// ErrInUse says that the cluster has Tenants already.
var ErrInUse = errors.New("cluster is in use")

// Install brings a new cluster to where a Tenant can be made: CRDs from the
// folder, the namespace, and the ClusterProviderConfig "default" for the test
// bed's registry. It refuses a cluster that has Tenants, whose provider would
// work on ours as well.
func (c *Cluster) Install(ctx context.Context, crds string) error {
	if err := c.installCRDs(ctx, crds); err != nil {
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

	return nil
}

// ensure creates the object unless there is one of its name.
func (c *Cluster) ensure(ctx context.Context, o client.Object) error {
	if err := c.Client.Create(ctx, o); err != nil && !kerrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create %T %q: %w", o, o.GetName(), err)
	}

	return nil
}

// ProviderConfig is a ClusterProviderConfig for the cluster that the provider
// runs in, with charts from there.
func ProviderConfig(name string, chart v1alpha1.Chart) *v1alpha1.ClusterProviderConfig {
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: name}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity
	pc.Spec.Chart = &v1alpha1.ChartSource{Chart: chart}

	return pc
}

func (c *Cluster) installCRDs(ctx context.Context, folder string) error {
	files, err := filepath.Glob(filepath.Join(folder, "*.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("cannot find CRDs in %q: %w", folder, errors.Join(err, os.ErrNotExist))
	}

	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			return fmt.Errorf("cannot read a CRD: %w", err)
		}

		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(raw, &u.Object); err != nil {
			return fmt.Errorf("cannot read the CRD in %q: %w", f, err)
		}

		err = c.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(u), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err != nil {
			return fmt.Errorf("cannot apply %q: %w", f, err)
		}

		if err := c.awaitCRD(ctx, u.GetName()); err != nil {
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

// ProviderKubeconfig gives the provider an identity of its own, so that the
// audit log tells its writes from all others, and returns its kubeconfig.
func (c *Cluster) ProviderKubeconfig(ctx context.Context) ([]byte, error) {
	sa := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: providerName}}
	all := &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: providerName},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "cluster-admin"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: providerName}},
	}

	for _, o := range []client.Object{sa, all} {
		if err := c.ensure(ctx, o); err != nil {
			return nil, err
		}
	}

	return c.KubeconfigOf(ctx, sa)
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
