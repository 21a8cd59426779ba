// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"strings"
	"testing"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// clusterConfig is the ClusterProviderConfig "default".
func clusterConfig(change func(*v1alpha1.ClusterProviderConfigSpec)) *v1alpha1.ClusterProviderConfig {
	pc := &v1alpha1.ClusterProviderConfig{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "uid-config"}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity

	if change != nil {
		change(&pc.Spec)
	}

	return pc
}

// localConfig is the ProviderConfig "default" of a namespace.
func localConfig(namespace string, change func(*v1alpha1.ProviderConfigSpec)) *v1alpha1.ProviderConfig {
	pc := &v1alpha1.ProviderConfig{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "default", UID: "uid-local"}}
	pc.Spec.Credentials.Source = xpv2.CredentialsSourceInjectedIdentity

	if change != nil {
		change(&pc.Spec)
	}

	return pc
}

func secretIn(namespace, name, key, value string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: map[string][]byte{key: []byte(value)}}
}

// sourceIn is the source in a field of a configuration "default" of that kind.
func sourceIn(kind, field string, c v1alpha1.Chart, pullNamespace string) chartSource {
	out := chartSource{ChartSource: v1alpha1.ChartSource{Chart: c}, of: field + " of " + kind + ` "default"`}
	if pullNamespace != "" {
		out.PullSecretRef = &xpv2.SecretReference{Namespace: pullNamespace, Name: "pull"}
	}

	return out
}

// bareConfig is what becomes of a configuration that says nothing but the source
// of its credentials.
func bareConfig(kind string) config {
	uid := map[string]string{"ProviderConfig": "uid-local", "ClusterProviderConfig": "uid-config"}[kind]

	return config{
		name:        kind + ` "default"`,
		version:     uid + "/0",
		credentials: v1alpha1.Credentials{Source: xpv2.CredentialsSourceInjectedIdentity},
		chart:       sourceIn(kind, "chart", v1alpha1.Chart{Repository: "oci://ghcr.io/loft-sh/charts/vcluster"}, ""),
		fluxChart:   sourceIn(kind, "fluxChart", v1alpha1.Chart{Repository: "oci://ghcr.io/fluxcd-community/charts/flux2"}, ""),
		isolatedBy:  kind + ` "default"`,
	}
}

func TestReadConfig(t *testing.T) {
	t.Parallel()

	chart := v1alpha1.Chart{Repository: "oci://r.example.org/vcluster", Version: "0.30.4", PlainHTTP: true, CABundle: []byte("ca")}
	fluxChart := v1alpha1.Chart{Repository: "oci://f.example.org/flux2", Version: "2.17.0"}

	cases := map[string]struct {
		reason string
		tenant tenantBuilder
		kube   []client.Object
		want   config
		errs   []string
	}{
		"Cluster": {
			reason: "a Secret of any namespace", tenant: alice(),
			kube: []client.Object{clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
				s.Credentials = v1alpha1.Credentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.SecretKeySelector{
					SecretReference: xpv2.SecretReference{Namespace: "anywhere", Name: "host"}, Key: "kubeconfig",
				}}
				s.Chart = &v1alpha1.ChartSource{Chart: chart, PullSecretRef: &xpv2.SecretReference{Namespace: "pulls", Name: "pull"}}
				s.FluxChart = &v1alpha1.ChartSource{Chart: fluxChart, PullSecretRef: &xpv2.SecretReference{Namespace: "pulls", Name: "pull"}}
				s.ImageRegistry = "i.example.org"
			})},
			want: config{
				name: `ClusterProviderConfig "default"`, version: "uid-config/0",
				credentials: v1alpha1.Credentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.SecretKeySelector{
					SecretReference: xpv2.SecretReference{Namespace: "anywhere", Name: "host"}, Key: "kubeconfig",
				}},
				chart:     sourceIn("ClusterProviderConfig", "chart", chart, "pulls"),
				fluxChart: sourceIn("ClusterProviderConfig", "fluxChart", fluxChart, "pulls"),
				host:      v1alpha1.HostDefaults{ImageRegistry: "i.example.org"}, isolatedBy: `ClusterProviderConfig "default"`,
			},
		},
		"ClusterBare": {
			reason: "nothing but the source", tenant: alice(), kube: []client.Object{clusterConfig(nil)},
			want: bareConfig("ClusterProviderConfig"),
		},
		"Local": {
			reason: "Secrets of its own namespace only", tenant: alice().Config("ProviderConfig", "default"),
			kube: []client.Object{
				localConfig(tenantNamespace, func(s *v1alpha1.ProviderConfigSpec) {
					s.Credentials = v1alpha1.LocalCredentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.LocalSecretKeySelector{
						LocalSecretReference: xpv2.LocalSecretReference{Name: "host"}, Key: "kubeconfig",
					}}
					s.Chart = &v1alpha1.LocalChartSource{Chart: chart, PullSecretRef: &xpv2.LocalSecretReference{Name: "pull"}}
					s.FluxChart = &v1alpha1.LocalChartSource{Chart: fluxChart, PullSecretRef: &xpv2.LocalSecretReference{Name: "pull"}}
					s.ImageRegistry = "i.example.org"
				}),
			},
			want: config{
				name: `ProviderConfig "default"`, version: "uid-local/0",
				credentials: v1alpha1.Credentials{Source: xpv2.CredentialsSourceSecret, SecretRef: &xpv2.SecretKeySelector{
					SecretReference: xpv2.SecretReference{Namespace: tenantNamespace, Name: "host"}, Key: "kubeconfig",
				}},
				chart:     sourceIn("ProviderConfig", "chart", chart, tenantNamespace),
				fluxChart: sourceIn("ProviderConfig", "fluxChart", fluxChart, tenantNamespace),
				host:      v1alpha1.HostDefaults{ImageRegistry: "i.example.org"}, isolatedBy: `ProviderConfig "default"`,
			},
		},
		"LocalBare": {
			reason: "nothing but the source", tenant: alice().Config("ProviderConfig", "default"), kube: []client.Object{localConfig(tenantNamespace, nil)},
			want: func() config {
				c := bareConfig("ProviderConfig")
				c.isolatedBy = `ClusterProviderConfig "default"`

				return c
			}(),
		},
		"LocalInjected": {
			reason: "the platform says how Tenants are isolated on the provider's own cluster", tenant: alice().Config("ProviderConfig", "default"),
			kube: []client.Object{localConfig(tenantNamespace, nil), clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
				s.Isolation = &v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityRestricted}
				s.AllowedValuesOverrides = []string{}
				s.ImageRegistry = "i.example.org"
			})},
			want: func() config {
				c := bareConfig("ProviderConfig")
				c.version, c.isolatedBy = "uid-local/0/uid-config/0", `ClusterProviderConfig "default"`
				c.host.Isolation = &v1alpha1.Isolation{PodSecurity: v1alpha1.PodSecurityRestricted}
				c.host.AllowedValuesOverrides = []string{}

				return c
			}(),
		},
		"Missing":      {reason: "the config is named", tenant: alice(), errs: []string{`ClusterProviderConfig "default"`, "providerConfigRef", "there is no "}},
		"LocalMissing": {reason: "one of another namespace is none", tenant: alice().Config("ProviderConfig", "default"), kube: []client.Object{localConfig("other", nil)}, errs: []string{`ProviderConfig "default"`, "there is no "}},
		"Kind":         {reason: "another kind", tenant: alice().Config("Widget", "default"), errs: []string{`providerConfigRef.kind "Widget"`, "ClusterProviderConfig"}},
		"Unset": {reason: "no reference", tenant: func() tenantBuilder {
			b := alice()
			b.Spec.ProviderConfigReference = nil

			return b
		}(), errs: []string{"providerConfigRef is not set"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := readConfig(t.Context(), newWorld(t, tc.kube...).kube, tc.tenant.Obj())
			checkErrors(t, tc.reason, err, tc.errs)

			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(config{}, chartSource{})); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}

// checkErrors holds that err says all of it, or is nil when there is nothing to say.
func checkErrors(t *testing.T, reason string, err error, says []string) {
	t.Helper()

	if (err == nil) != (len(says) == 0) {
		t.Fatalf("%s: got error %v, want %q", reason, err, says)
	}

	for _, s := range says {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("%s: %q does not say %q", reason, err, s)
		}
	}
}

func TestSourceRef(t *testing.T) {
	t.Parallel()

	own := v1alpha1.Chart{Repository: "oci://r.example.org/vcluster", PlainHTTP: true, CABundle: []byte("ca"), Version: "0.20.0"}
	bare := v1alpha1.Chart{Repository: "oci://r.example.org/x"}

	cases := map[string]struct {
		reason string
		source chartSource
		kube   []client.Object
		want   helm.ChartRef
		errs   []string
	}{
		"Own": {
			reason: "the version is the one that is asked for", source: sourceIn("ProviderConfig", "chart", own, ""),
			want: helm.ChartRef{Repository: "oci://r.example.org/vcluster", Version: "0.36.1", PlainHTTP: true, CABundle: []byte("ca")},
		},
		"PullSecret": {
			reason: "its credentials", source: sourceIn("ProviderConfig", "chart", bare, tenantNamespace),
			kube: []client.Object{secretIn(tenantNamespace, "pull", ".dockerconfigjson", "{}")},
			want: helm.ChartRef{
				Repository: "oci://r.example.org/x", Version: "0.36.1", Credentials: helm.Credentials{DockerConfigJSON: []byte("{}")},
			},
		},
		"NoSecret": {
			reason: "a pull Secret that is missing is named, and so is the field", source: sourceIn("ProviderConfig", "fluxChart", bare, tenantNamespace),
			errs: []string{`pullSecretRef of fluxChart of ProviderConfig "default"`, `Secret "pull"`, tenantNamespace},
		},
		"NoKey": {
			reason: "and so is its key", source: sourceIn("ClusterProviderConfig", "chart", bare, tenantNamespace),
			kube: []client.Object{secretIn(tenantNamespace, "pull", "password", "hush")},
			errs: []string{"pullSecretRef of chart", `".dockerconfigjson"`},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got, err := tc.source.ref(t.Context(), newWorld(t, tc.kube...).kube, "0.36.1")
			checkErrors(t, tc.reason, err, tc.errs)

			if err != nil && strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: the error quotes the Secret: %v", tc.reason, err)
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
