// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// defaultRepository is where the vCluster chart comes from unless the provider
// configuration says otherwise.
const defaultRepository = "oci://ghcr.io/loft-sh/charts/vcluster"

// platformConfig is the ClusterProviderConfig that Tenants use by default.
const platformConfig = "default"

// config is a ProviderConfig or ClusterProviderConfig, in one form: references
// to Secrets carry their namespace.
type config struct {
	name string
	// version is another one whenever it changes.
	version     string
	credentials v1alpha1.Credentials
	chart       chartSource
	fluxChart   chartSource
	host        v1alpha1.HostDefaults
	// allowed are the namespaces whose Tenants may use it; nil are all that can name it.
	allowed *v1alpha1.AllowedNamespaces
	// isolatedBy names the configuration that says how Tenants are isolated, and what
	// they may override.
	isolatedBy string
}

// chartSource is where a chart comes from.
type chartSource struct {
	v1alpha1.ChartSource

	// of names the field of the provider configuration, for messages.
	of string
}

// sourceOf is the source in the field of the configuration, by default that repository.
func sourceOf(s *v1alpha1.ChartSource, repository, field, config string) chartSource {
	out := chartSource{ChartSource: ptr.Deref(s, v1alpha1.ChartSource{}), of: field + " of " + config}
	if out.Repository == "" {
		out.Repository = repository
	}

	return out
}

// readConfig gets the provider configuration that the Tenant names.
func readConfig(ctx context.Context, c client.Reader, t *v1alpha1.Tenant) (config, error) {
	ref := t.GetProviderConfigReference()
	if ref == nil {
		return config{}, errors.New("providerConfigRef is not set: name a ProviderConfig or a ClusterProviderConfig")
	}

	name := fmt.Sprintf("%s %q", ref.Kind, ref.Name)

	switch ref.Kind {
	case v1alpha1.ClusterProviderConfigGroupVersionKind.Kind:
		pc := &v1alpha1.ClusterProviderConfig{}
		if err := c.Get(ctx, client.ObjectKey{Name: ref.Name}, pc); err != nil {
			return config{}, noConfig(t, name, err)
		}

		return config{
			name:        name,
			version:     versionOf(pc),
			credentials: pc.Spec.Credentials,
			chart:       sourceOf(pc.Spec.Chart, defaultRepository, "chart", name),
			fluxChart:   sourceOf(pc.Spec.FluxChart, flux.DefaultRepository, "fluxChart", name),
			host:        pc.Spec.HostDefaults,
			allowed:     pc.Spec.AllowedNamespaces,
			isolatedBy:  name,
		}, nil
	case v1alpha1.ProviderConfigGroupVersionKind.Kind:
		pc := &v1alpha1.ProviderConfig{}
		if err := c.Get(ctx, client.ObjectKey{Namespace: t.GetNamespace(), Name: ref.Name}, pc); err != nil {
			return config{}, noConfig(t, fmt.Sprintf("%s in namespace %q", name, t.GetNamespace()), err)
		}

		return fromLocal(ctx, c, name, pc)
	default:
		return config{}, fmt.Errorf("providerConfigRef.kind %q is not supported: use ProviderConfig or ClusterProviderConfig", ref.Kind)
	}
}

// noConfig says that the provider configuration of that name cannot be read or, since it
// does not exist, what to do.
func noConfig(t *v1alpha1.Tenant, name string, err error) error {
	switch {
	case !kerrors.IsNotFound(err):
		return fmt.Errorf("cannot read %s that providerConfigRef names: %w", name, err)
	case meta.WasDeleted(t):
		return also{error: fmt.Errorf("there is no %s, which providerConfigRef names", name), as: err}
	default:
		return also{error: fmt.Errorf("there is no %s, which providerConfigRef names; create it, or delete this Tenant", name), as: err}
	}
}

func versionOf(pc client.Object) string { return fmt.Sprintf("%s/%d", pc.GetUID(), pc.GetGeneration()) }

// fromLocal gives the references of a namespaced configuration its own
// namespace, the only one that they may point into. What Tenants may do to the cluster that
// the provider runs in is for the platform to say.
func fromLocal(ctx context.Context, c client.Reader, name string, pc *v1alpha1.ProviderConfig) (config, error) {
	out := config{
		name:        name,
		version:     versionOf(pc),
		credentials: v1alpha1.Credentials{Source: pc.Spec.Credentials.Source},
		chart:       sourceOf(local(pc.Spec.Chart, pc.GetNamespace()), defaultRepository, "chart", name),
		fluxChart:   sourceOf(local(pc.Spec.FluxChart, pc.GetNamespace()), flux.DefaultRepository, "fluxChart", name),
		host:        pc.Spec.HostDefaults,
		isolatedBy:  name,
	}

	if r := pc.Spec.Credentials.SecretRef; r != nil {
		out.credentials.SecretRef = r.ToSecretKeySelector(pc.GetNamespace())
	}

	if pc.Spec.Credentials.Source != xpv2.CredentialsSourceInjectedIdentity {
		return out, nil
	}

	out.isolatedBy = fmt.Sprintf("%s %q", v1alpha1.ClusterProviderConfigGroupVersionKind.Kind, platformConfig)
	platform := &v1alpha1.ClusterProviderConfig{}

	switch err := c.Get(ctx, client.ObjectKey{Name: platformConfig}, platform); {
	case kerrors.IsNotFound(err):
		return out, nil
	case err != nil:
		return config{}, fmt.Errorf("cannot read ClusterProviderConfig %q, which says how Tenants are isolated: %w", platformConfig, err)
	}

	out.version += "/" + versionOf(platform)
	out.host.Isolation = platform.Spec.Isolation
	out.host.AllowedValuesOverrides = platform.Spec.AllowedValuesOverrides

	return out, nil
}

// local is the source with its Secret in the namespace.
func local(s *v1alpha1.LocalChartSource, namespace string) *v1alpha1.ChartSource {
	if s == nil {
		return nil
	}

	out := &v1alpha1.ChartSource{Chart: s.Chart}
	if s.PullSecretRef != nil {
		out.PullSecretRef = &xpv2.SecretReference{Namespace: namespace, Name: s.PullSecretRef.Name}
	}

	return out
}

// ref says where that version of the chart is, and with which credentials.
func (s chartSource) ref(ctx context.Context, r client.Reader, version string) (helm.ChartRef, error) {
	ref := helm.ChartRef{
		Repository: s.Repository,
		Version:    version,
		CABundle:   s.CABundle,
		PlainHTTP:  s.PlainHTTP,
	}

	if s.PullSecretRef == nil {
		return ref, nil
	}

	var err error

	ref.Credentials.DockerConfigJSON, err = secretKey(ctx, r, &xpv2.SecretKeySelector{
		SecretReference: *s.PullSecretRef,
		Key:             corev1.DockerConfigJsonKey,
	})
	if err != nil {
		return helm.ChartRef{}, fmt.Errorf("cannot use pullSecretRef of %s: %w", s.of, err)
	}

	return ref, nil
}
