// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// errUnusable says that there will be no way in until a person changes something.
var errUnusable = errors.New("unusable")

// errNotExported says that vCluster has not exported a kubeconfig.
var errNotExported = errors.New("not exported yet")

// access is the way into a tenant's API.
type access struct {
	// kubeconfig that was checked against the live API; nil when err is set.
	kubeconfig *vcluster.Kubeconfig
	// in is the way into the vCluster by that kubeconfig.
	in *wayIn
	// err says why there is no way in.
	err error
	// secret is the Secret beside the Tenant; nil when there is none.
	secret *corev1.Secret
	// published says that it holds what vCluster exports.
	published bool
	// begins and ends say when the client certificate is valid, whether it opens the
	// API or not; zero without one.
	begins, ends time.Time
}

// readAccess gets the kubeconfig that vCluster exports, gives it an address that
// works from outside the pod, and asks the tenant's API with it. The second
// error says that something could not be found out.
func (e *external) readAccess(ctx context.Context, t *v1alpha1.Tenant, w controlPlaneFacts) (access, error) {
	if !w.found {
		return access{}, nil
	}

	k, err := e.readKubeconfig(ctx, t)

	switch {
	case errors.Is(err, errUnknown):
		return access{}, err
	case err != nil && w.ready:
		return access{err: err}, nil
	case err != nil:
		return access{err: errNotReady}, nil
	}

	var a access

	a.begins, a.ends = k.ClientCertValidity()
	if a.secret, err = e.publishedSecret(ctx, t); err != nil {
		return access{}, err
	}

	if a.published, err = e.isPublished(t, a.secret, k); err != nil {
		return access{}, err
	}

	if !w.ready {
		a.err = errNotReady
		return a, nil
	}

	in, err := e.open(k)
	if err == nil {
		err = in.probe(ctx)
	}

	if err != nil {
		a.err = fmt.Errorf("the tenant's API at %s cannot be used: %w", k.Endpoint(), namingBoth(err))
		return a, nil
	}

	a.kubeconfig, a.in = k, in

	return a, nil
}

// namingBoth says of a name that the server's certificate does not hold which it holds.
// Of an address, and a certificate that holds none, the error itself does not.
func namingBoth(err error) error {
	var name x509.HostnameError
	if !errors.As(err, &name) || name.Certificate == nil {
		return err
	}

	has := slices.Clone(name.Certificate.DNSNames)
	for _, ip := range name.Certificate.IPAddresses {
		has = append(has, ip.String())
	}

	if len(has) == 0 {
		has = []string{"no name at all"}
	}

	return fmt.Errorf("%w: its certificate is for %s and not for %s; add that to controlPlane.proxy.extraSANs in vcluster.valuesOverrides, "+
		"or, if allowedValuesOverrides of the provider configuration allow it, set exportKubeConfig.server to an address that it is for", errUnusable, strings.Join(has, ", "), name.Host)
}

// readKubeconfig is what vCluster exports or, since it does so only when it
// starts, what was published of an export that is gone.
func (e *external) readKubeconfig(ctx context.Context, t *v1alpha1.Tenant) (*vcluster.Kubeconfig, error) {
	k, err := e.exportedKubeconfig(ctx)
	if !errors.Is(err, errNotExported) {
		return k, err
	}

	s, failed := e.publishedSecret(ctx, t)
	if failed != nil {
		return nil, unknown(failed)
	}

	if s == nil || !metav1.IsControlledBy(s, t) {
		return nil, err
	}

	k, failed = vcluster.ParseKubeconfig(s.Data[xpv2.CredentialsSecretKubeconfigKey])
	if failed != nil {
		return nil, err
	}

	// An address that values asked for is none of the Service's.
	if net.ParseIP(hostOf(k.Endpoint())) == nil {
		return k, nil
	}

	return e.addressed(ctx, k)
}

// exportedKubeconfig is what vCluster exports, addressed from outside the pod.
func (e *external) exportedKubeconfig(ctx context.Context) (*vcluster.Kubeconfig, error) {
	s := &corev1.Secret{}

	err := e.live.Get(ctx, types.NamespacedName{Namespace: e.names.namespace, Name: e.names.exported}, s)
	if kerrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: vCluster has not exported Secret %q (it does when it starts: if this stays, delete its pod)",
			errNotExported, e.names.exported)
	}

	if err != nil {
		return nil, unknown(fmt.Errorf("cannot read Secret %q on the host cluster: %w", e.names.exported, err))
	}

	k, err := vcluster.ExportedKubeconfig(s.Data)
	if errors.Is(err, vcluster.ErrNoKubeconfig) {
		return nil, fmt.Errorf("%w: vCluster has not filled Secret %q: %w", errNotExported, e.names.exported, err)
	}

	if err != nil {
		return nil, fmt.Errorf("%w: cannot use Secret %q on the host cluster: %w", errUnusable, e.names.exported, err)
	}

	k = k.WithName(e.names.release)

	if !isLoopback(k.Endpoint()) {
		return k, nil
	}

	return e.addressed(ctx, k)
}

// addressed gives the kubeconfig the address of the control plane's Service.
func (e *external) addressed(ctx context.Context, k *vcluster.Kubeconfig) (*vcluster.Kubeconfig, error) {
	svc := &corev1.Service{}
	if ok, err := e.find(ctx, types.NamespacedName{Namespace: e.names.namespace, Name: e.names.release}, svc); err != nil {
		return nil, unknown(err)
	} else if !ok {
		return nil, fmt.Errorf("the control plane has no Service %q", e.names.release)
	}

	address, err := addressOf(svc)
	if err != nil {
		return nil, err
	}

	return k.WithServer(address, "")
}

func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}

	return u.Hostname()
}

func isLoopback(endpoint string) bool {
	host := hostOf(endpoint)
	ip := net.ParseIP(host)

	return host == "localhost" || (ip != nil && ip.IsLoopback())
}

// addressOf is where a control plane's Service is reached: at its load balancer
// if it has one, or else at its cluster IP, which pods and nodes reach and which
// vCluster puts into its certificate.
func addressOf(svc *corev1.Service) (string, error) {
	host := svc.Spec.ClusterIP

	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		if len(svc.Status.LoadBalancer.Ingress) == 0 {
			return "", fmt.Errorf("the load balancer of Service %q has no address yet", svc.GetName())
		}

		i := svc.Status.LoadBalancer.Ingress[0]
		if host = i.IP; host == "" {
			host = i.Hostname
		}
	}

	if host == "" || host == corev1.ClusterIPNone {
		return "", fmt.Errorf("%w: Service %q of the control plane has no cluster IP; "+
			"unset controlPlane.service.spec.clusterIP in vcluster.valuesOverrides, or set exportKubeConfig.server", errUnusable, svc.GetName())
	}

	port := int32(vcluster.ServicePort)
	if len(svc.Spec.Ports) > 0 {
		port = svc.Spec.Ports[0].Port
	}

	return "https://" + net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}
