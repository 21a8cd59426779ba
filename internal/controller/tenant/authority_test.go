// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// authority signs the certificates of one control plane.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	t.Helper()

	a := &authority{t: t}
	a.cert = &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "kubernetes"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageCertSign,
	}
	a.key = newKey(t)
	a.pem = a.sign(a.cert, a.key).cert

	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}

	return key
}

// sign a certificate for that key.
func (a *authority) sign(c *x509.Certificate, key *ecdsa.PrivateKey) pair {
	a.t.Helper()

	der, err := x509.CreateCertificate(rand.Reader, c, a.cert, key.Public(), a.key)
	if err != nil {
		a.t.Fatal(err)
	}

	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		a.t.Fatal(err)
	}

	return pair{
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}),
	}
}

// admin is the client certificate of the tenant's admin, valid in that time.
func (a *authority) admin(from, to time.Time) pair {
	a.t.Helper()

	return a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kubernetes-admin"}, NotBefore: from, NotAfter: to,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, newKey(a.t))
}

// export is the kubeconfig that a control plane of that authority exports.
func (a *authority) export() []byte {
	a.t.Helper()

	return kubeconfigFor("https://localhost:8443", a.pem, a.admin(time.Now().Add(-time.Hour), time.Now().Add(time.Hour)))
}

// serve an API whose certificate is for these names and addresses, and that takes the
// authority's clients only.
func (a *authority) serve(names []string, addresses ...net.IP) *httptest.Server {
	a.t.Helper()

	p := a.sign(&x509.Certificate{
		SerialNumber: big.NewInt(3), Subject: pkix.Name{CommonName: "kube-apiserver"}, DNSNames: names, IPAddresses: addresses,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, newKey(a.t))

	cert, err := tls.X509KeyPair(p.cert, p.key)
	if err != nil {
		a.t.Fatal(err)
	}

	clients := x509.NewCertPool()
	clients.AddCert(a.parsed())

	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) }))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // A refused handshake is what is tested.
	s.TLS = &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequireAndVerifyClientCert, ClientCAs: clients}
	s.StartTLS()
	a.t.Cleanup(s.Close)

	return s
}

// parsed is the authority's own certificate as others read it.
func (a *authority) parsed() *x509.Certificate {
	a.t.Helper()

	block, _ := pem.Decode(a.pem)

	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		a.t.Fatal(err)
	}

	return c
}

// serveBy has the control plane's Service lead to that server, and its API really be
// asked.
func (w *world) serveBy(n names, s *httptest.Server) {
	w.t.Helper()

	host, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		w.t.Fatal(err)
	}

	number, err := strconv.ParseInt(port, 10, 32)
	if err != nil {
		w.t.Fatal(err)
	}

	change(w, w.host, n.namespace, n.release, func(svc *corev1.Service) {
		svc.Spec.ClusterIP, svc.Spec.Ports = host, []corev1.ServicePort{{Port: int32(number)}}
	})

	w.probe = askOverTLS
}

// askOverTLS asks the API for anything.
func askOverTLS(ctx context.Context, cfg *rest.Config) error {
	c, err := rest.HTTPClientFor(cfg)
	if err != nil {
		return err
	}

	r, err := http.NewRequestWithContext(ctx, http.MethodGet, cfg.Host+"/version", nil)
	if err != nil {
		return err
	}

	res, err := c.Do(r)
	if err != nil {
		return err
	}

	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("answered %s", res.Status)
	}

	return errors.Join(err, res.Body.Close())
}
