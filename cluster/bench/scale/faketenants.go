// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/http/httputil"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// fakeTenants plays the APIs of all vClusters by one API server. Each tenant has a path
// of its own, below which it sees namespaces of its own under their usual names:
// "default" of tenant x is namespace "x-default" of the API server. What has no namespace
// is shared by all.
type fakeTenants struct {
	client  client.Client
	server  *rig.Server
	id      rig.Identity
	forward *httputil.ReverseProxy

	mu     sync.Mutex
	counts counts
}

func newFakeTenants(ctx context.Context, cfg *rest.Config) (*fakeTenants, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1

	c, err := client.New(cfg, client.Options{})
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for the API server of all tenants: %w", err)
	}

	f := &fakeTenants{client: c, counts: counts{}}

	if f.id, err = rig.NewIdentity(); err != nil {
		return nil, err
	}

	if f.forward, err = rig.Forward(cfg); err != nil {
		return nil, err
	}

	f.forward.ModifyResponse = answer
	f.server, err = f.id.ServeTLS(ctx, f)

	return f, err
}

func (f *fakeTenants) close() error { return f.server.Close() }

// kubeconfig of a tenant, as its vCluster exports it: with a certificate of a year.
func (f *fakeTenants) kubeconfig(tenant string) ([]byte, error) {
	return rig.Kubeconfig(f.server.URL+"/"+tenant, f.id.Cert, f.id.Cert, f.id.Key)
}

// add makes what a vCluster makes inside of itself when it starts, unless it is there.
func (f *fakeTenants) add(ctx context.Context, tenant string) error {
	for _, name := range []string{metav1.NamespaceDefault, vcluster.DNSNamespace} {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: inShared(tenant, name)}}
		if err := f.client.Create(ctx, ns); err != nil && !kerrors.IsAlreadyExists(err) {
			return fmt.Errorf("cannot make a namespace of a fake vCluster: %w", err)
		}
	}

	d := rig.FakeDNS(inShared(tenant, vcluster.DNSNamespace))
	if err := f.client.Create(ctx, d); kerrors.IsAlreadyExists(err) {
		return nil
	} else if err != nil {
		return fmt.Errorf("cannot make CoreDNS of a fake vCluster: %w", err)
	}

	d.Status = appsv1.DeploymentStatus{
		ObservedGeneration: d.GetGeneration(), Replicas: 1, ReadyReplicas: 1, AvailableReplicas: 1, UpdatedReplicas: 1,
		Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue, Reason: "Fake"}},
	}
	if err := f.client.Status().Update(ctx, d); err != nil {
		return fmt.Errorf("cannot have CoreDNS run in a fake vCluster: %w", err)
	}

	return nil
}

// counted are the requests so far.
func (f *fakeTenants) counted() counts {
	f.mu.Lock()
	defer f.mu.Unlock()

	return maps.Clone(f.counts)
}

// ServeHTTP passes a tenant's request on to the API server of all.
func (f *fakeTenants) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	tenant, path, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")

	f.mu.Lock()
	f.counts[requestOf(r, "/"+path)]++
	f.mu.Unlock()

	r = r.WithContext(context.WithValue(r.Context(), tenantKey{}, tenant))
	r.URL.Path, r.URL.RawPath = sharedPath(tenant, "/"+path), ""
	r.Header.Del("Accept-Encoding") // The transport's own is undone before the answer is changed.

	if r.Body != nil && r.Method != http.MethodGet {
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			panic(http.ErrAbortHandler) // Its caller is gone.
		}

		setBody(r.Header, &r.Body, &r.ContentLength, toShared(tenant, raw))
	}

	f.forward.ServeHTTP(w, r)
}

type tenantKey struct{}

// answer gives the namespaces in a JSON document their usual names.
func answer(resp *http.Response) error {
	tenant, _ := resp.Request.Context().Value(tenantKey{}).(string)

	if t, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type")); err != nil || t != "application/json" || resp.Request.URL.Query().Has("watch") {
		return nil //nolint:nilerr // It is in no form in which it is changed.
	}

	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}

	_ = resp.Body.Close()

	setBody(resp.Header, &resp.Body, &resp.ContentLength, fromShared(tenant, raw))

	return nil
}

func setBody(h http.Header, body *io.ReadCloser, length *int64, raw []byte) {
	*body, *length = io.NopCloser(bytes.NewReader(raw)), int64(len(raw))
	h.Set("Content-Length", strconv.Itoa(len(raw)))
}

// inShared is the name of a tenant's namespace at the API server of all.
func inShared(tenant, namespace string) string { return tenant + "-" + namespace }

// sharedPath is the path of a tenant's request at the API server of all. What is asked
// for in all namespaces of a core kind is asked for in the tenant's "default", where all is.
func sharedPath(tenant, path string) string {
	const core, namespaces = "/api/v1/", "namespaces/"

	before, after, ok := strings.Cut(path, "/"+namespaces)
	if ok {
		name, rest, _ := strings.Cut(after, "/")
		return strings.TrimSuffix(before+"/"+namespaces+inShared(tenant, name)+"/"+rest, "/")
	}

	kind, ok := strings.CutPrefix(path, core)
	if ok && kind != "" && kind+"/" != namespaces && !strings.Contains(kind, "/") {
		return core + namespaces + inShared(tenant, metav1.NamespaceDefault) + "/" + kind
	}

	return path
}

// toShared and fromShared change the namespaces in a JSON document that the API server
// or its client wrote.
func toShared(tenant string, raw []byte) []byte {
	return bytes.ReplaceAll(raw, []byte(`"namespace":"`), []byte(`"namespace":"`+inShared(tenant, "")))
}

func fromShared(tenant string, raw []byte) []byte {
	return bytes.ReplaceAll(raw, []byte(`"namespace":"`+inShared(tenant, "")), []byte(`"namespace":"`))
}
