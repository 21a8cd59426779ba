// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"reflect"
	"strconv"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// probeTimeout bounds the question to a tenant's API.
const probeTimeout = 5 * time.Second

// errNotYet says that something is not there yet that needs no help to come.
var errNotYet = errors.New("not yet")

// access is the way into a tenant's API.
type access struct {
	// kubeconfig that was checked against the live API; nil when err is set.
	kubeconfig *vcluster.Kubeconfig
	// err says why there is no way in; errNotYet when that is no fault.
	err error
	// published says that the Secret beside the Tenant holds kubeconfig.
	published bool
}

// readAccess gets the exported kubeconfig, gives it an address that works from
// outside the pod, and asks the tenant's API with it. The second error says
// that something could not be found out.
func (e *external) readAccess(ctx context.Context, t *v1alpha1.Tenant) (access, error) {
	exported, err := e.exportedKubeconfig(ctx)
	if errors.Is(err, errUnknown) {
		return access{}, err
	}

	if err != nil {
		return access{err: err}, nil
	}

	if err := e.probe(ctx, exported.RESTConfig()); err != nil {
		return access{err: fmt.Errorf("the tenant's API at %s does not answer: %w", exported.Endpoint(), err)}, nil
	}

	a := access{kubeconfig: exported}
	a.published, err = e.isPublished(ctx, t, exported)

	return a, err
}

// exportedKubeconfig is what vCluster exports, addressed from outside the pod.
func (e *external) exportedKubeconfig(ctx context.Context) (*vcluster.Kubeconfig, error) {
	s := &corev1.Secret{}

	err := e.live.Get(ctx, types.NamespacedName{Namespace: e.names.namespace, Name: e.names.exported}, s)
	if kerrors.IsNotFound(err) {
		return nil, fmt.Errorf("%w: vCluster has not exported Secret %q", errNotYet, e.names.exported)
	}

	if err != nil {
		return nil, fmt.Errorf("%w: cannot read Secret %q on the host cluster: %w", errUnknown, e.names.exported, err)
	}

	k, err := vcluster.ExportedKubeconfig(s.Data)
	if err != nil {
		return nil, fmt.Errorf("%w: cannot use Secret %q on the host cluster: %w", errNotYet, e.names.exported, err)
	}

	k = k.WithName(e.names.release)

	if !isLoopback(k.Endpoint()) {
		return k, nil
	}

	svc := &corev1.Service{}
	if ok, err := e.find(ctx, types.NamespacedName{Namespace: e.names.namespace, Name: e.names.release}, svc); err != nil {
		return nil, fmt.Errorf("%w: %w", errUnknown, err)
	} else if !ok {
		return nil, fmt.Errorf("%w: the control plane has no Service %q", errNotYet, e.names.release)
	}

	address, err := addressOf(svc)
	if err != nil {
		return nil, err
	}

	return k.WithServer(address, "")
}

func isLoopback(endpoint string) bool {
	u, err := url.Parse(endpoint)
	if err != nil {
		return false
	}

	ip := net.ParseIP(u.Hostname())

	return u.Hostname() == "localhost" || (ip != nil && ip.IsLoopback())
}

// addressOf is where a control plane's Service is reached: at its load balancer
// if it has one, or else at its cluster IP, which pods and nodes reach and which
// vCluster puts into its certificate.
func addressOf(svc *corev1.Service) (string, error) {
	host := svc.Spec.ClusterIP

	if svc.Spec.Type == corev1.ServiceTypeLoadBalancer {
		if len(svc.Status.LoadBalancer.Ingress) == 0 {
			return "", fmt.Errorf("%w: Service %q has no load balancer address", errNotYet, svc.GetName())
		}

		i := svc.Status.LoadBalancer.Ingress[0]
		if host = i.IP; host == "" {
			host = i.Hostname
		}
	}

	if host == "" || host == corev1.ClusterIPNone {
		return "", fmt.Errorf("cannot reach the control plane from outside: Service %q has no cluster IP; "+
			"unset controlPlane.service.spec.clusterIP in vcluster.valuesOverrides, or set exportKubeConfig.server", svc.GetName())
	}

	port := int32(vcluster.ServicePort)
	if len(svc.Spec.Ports) > 0 {
		port = svc.Spec.Ports[0].Port
	}

	return "https://" + net.JoinHostPort(host, strconv.Itoa(int(port))), nil
}

// probeAPI asks a tenant's API for something that only its credentials may read.
func probeAPI(ctx context.Context, cfg *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()

	cfg = rest.CopyConfig(cfg)
	// client-go keeps transports for ever unless they have a function of their own.
	cfg.Proxy = http.ProxyFromEnvironment

	h, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}
	defer h.CloseIdleConnections()

	c, err := kubernetes.NewForConfigAndClient(cfg, h)
	if err != nil {
		return err
	}

	_, err = c.CoreV1().Namespaces().Get(ctx, metav1.NamespaceDefault, metav1.GetOptions{})

	return err
}

// publishedData is what the Secret beside the Tenant holds.
func publishedData(k *vcluster.Kubeconfig) (map[string][]byte, error) {
	raw, err := k.Bytes()
	if err != nil {
		return nil, fmt.Errorf("cannot write the kubeconfig: %w", err)
	}

	return map[string][]byte{xpv2.CredentialsSecretKubeconfigKey: raw}, nil
}

// connectionDetails are what a connection Secret holds.
func connectionDetails(k *vcluster.Kubeconfig) (managed.ConnectionDetails, error) {
	if k == nil {
		return nil, nil
	}

	raw, err := k.Bytes()
	if err != nil {
		return nil, fmt.Errorf("cannot write the kubeconfig: %w", err)
	}

	return managed.ConnectionDetails{
		xpv2.CredentialsSecretKubeconfigKey: raw,
		xpv2.CredentialsSecretEndpointKey:   []byte(k.Endpoint()),
		xpv2.CredentialsSecretCAKey:         k.CA(),
		xpv2.CredentialsSecretClientCertKey: k.ClientCert(),
		xpv2.CredentialsSecretClientKeyKey:  k.ClientKey(),
	}, nil
}

// publishedSecret reads the Secret beside the Tenant; nil when there is none.
func (e *external) publishedSecret(ctx context.Context, t *v1alpha1.Tenant) (*corev1.Secret, error) {
	s := &corev1.Secret{}

	err := e.kube.Get(ctx, types.NamespacedName{Namespace: t.GetNamespace(), Name: e.names.secret}, s)
	if kerrors.IsNotFound(err) {
		return nil, nil
	}

	if err != nil {
		return nil, fmt.Errorf("cannot read Secret %q in namespace %q: %w", e.names.secret, t.GetNamespace(), err)
	}

	return s, nil
}

func (e *external) isPublished(ctx context.Context, t *v1alpha1.Tenant, k *vcluster.Kubeconfig) (bool, error) {
	s, err := e.publishedSecret(ctx, t)
	if err != nil || s == nil {
		return false, err
	}

	data, err := publishedData(k)
	if err != nil {
		return false, err
	}

	return metav1.IsControlledBy(s, t) && e.stamped(t, s) && reflect.DeepEqual(s.Data, data), nil
}

// publish writes the Secret beside the Tenant, and refuses one that is not the Tenant's.
func (e *external) publish(ctx context.Context, t *v1alpha1.Tenant, k *vcluster.Kubeconfig) error {
	data, err := publishedData(k)
	if err != nil {
		return err
	}

	s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: t.GetNamespace(), Name: e.names.secret}}

	_, err = controllerutil.CreateOrUpdate(ctx, e.kube, s, func() error {
		if s.GetUID() != "" && !metav1.IsControlledBy(s, t) {
			return foreignSecret(t, s)
		}

		e.stamp(t, s)
		s.SetOwnerReferences([]metav1.OwnerReference{meta.AsController(meta.TypedReferenceTo(t, v1alpha1.TenantGroupVersionKind))})
		s.Data = data

		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot publish the kubeconfig as Secret %q: %w", e.names.secret, err)
	}

	return nil
}

func foreignSecret(t *v1alpha1.Tenant, s *corev1.Secret) error {
	owner := "has no owner"
	if o := metav1.GetControllerOf(s); o != nil {
		owner = fmt.Sprintf("belongs to %s %q", o.Kind, o.Name)
	}

	return fmt.Errorf("%w: Secret %q in namespace %q %s; delete it, or give the Tenant another cloudSpaceID",
		errConflict, s.GetName(), t.GetNamespace(), owner)
}
