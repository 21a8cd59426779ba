// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package helm

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"helm.sh/helm/v3/pkg/release"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	crclient "sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

// These tests run against a real API server: go test -tags envtest, with
// KUBEBUILDER_ASSETS naming the folder of kube-apiserver, etcd and kubectl.

// testRelease is the release that most tests make.
const testRelease = "vc-a"

var controlPlane *envtest.Environment

func TestMain(m *testing.M) { os.Exit(runAll(m)) }

func runAll(m *testing.M) int {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		fmt.Fprintln(os.Stderr, "KUBEBUILDER_ASSETS must name a folder with kube-apiserver, etcd and kubectl")
		return 1
	}
	controlPlane = &envtest.Environment{}
	if _, err := controlPlane.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "cannot start the API server:", err)
		return 1
	}
	defer func() { _ = controlPlane.Stop() }()
	return m.Run()
}

// bed is one test's own namespace on the API server.
type bed struct {
	*testing.T
	host *Host
	*client
	kube     crclient.Client
	requests *requestLog
}

// requestLog counts requests by what they are for.
type requestLog struct{ discovery, writes atomic.Int32 }

func (l *requestLog) wrap(rt http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		p := r.URL.Path
		if p == "/api" || p == "/apis" || (strings.HasPrefix(p, "/apis/") && strings.Count(p, "/") == 3) {
			l.discovery.Add(1)
		}
		if r.Method != http.MethodGet && !strings.Contains(p, "selfsubjectaccessreviews") {
			l.writes.Add(1)
		}
		return rt.RoundTrip(r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func newBed(t *testing.T) *bed {
	t.Helper()
	b := &bed{T: t, requests: &requestLog{}}
	cfg := rest.CopyConfig(controlPlane.Config)
	cfg.Wrap(b.requests.wrap)
	var err error
	if b.host, err = NewHost(cfg); err != nil {
		t.Fatal(err)
	}
	if b.kube, err = crclient.New(controlPlane.Config, crclient.Options{}); err != nil {
		t.Fatal(err)
	}
	b.client = b.host.client(b.newNamespace())
	return b
}

func (b *bed) newNamespace() string {
	b.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "vcluster-"}}
	if err := b.kube.Create(b.Context(), ns); err != nil {
		b.Fatal(err)
	}
	return ns.Name
}

// must fails the test on an error.
func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// uid returns the UID of an object, or "" if it is absent.
func (b *bed) uid(apiVersion, kind, name string) types.UID {
	b.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	key := types.NamespacedName{Name: name, Namespace: b.namespace}
	if kind == "ClusterRole" {
		key.Namespace = ""
	}
	err := b.kube.Get(b.Context(), key, u)
	if err != nil && !apierrors.IsNotFound(err) {
		b.Fatal(err)
	}
	return u.GetUID()
}

// state gets the newest revision.
func (b *bed) state() *Release {
	b.Helper()
	r, err := b.Get(b.Context(), testRelease)
	b.must(err)
	return r
}

// rewrite changes the newest record behind everyone's back.
func (b *bed) rewrite(fn func(*release.Release)) {
	b.Helper()
	m, err := b.newest(b.Context(), testRelease)
	b.must(err)
	r, err := b.read(b.Context(), testRelease, m)
	b.must(err)
	fn(r)
	b.must(b.store(b.Context()).Update(r))
}

func (b *bed) setStatus(s release.Status) {
	b.Helper()
	b.rewrite(func(r *release.Release) { r.SetStatus(s, "set by the test") })
}

func (b *bed) recordCount() int {
	b.Helper()
	l, err := b.records(context.WithoutCancel(b.Context()), testRelease)
	b.must(err)
	return len(l)
}

func (b *bed) delete(apiVersion, kind string) {
	b.Helper()
	u := &unstructured.Unstructured{}
	u.SetAPIVersion(apiVersion)
	u.SetKind(kind)
	u.SetName(testRelease)
	u.SetNamespace(b.namespace)
	b.must(b.kube.Delete(b.Context(), u))
}

// The templates of the test charts. Objects are named for the release, the
// cluster-scoped one for its namespace as well.
const (
	deploymentYAML = `
apiVersion: apps/v1
kind: Deployment
metadata: {name: "{{ .Release.Name }}"}
spec:
  selector: {matchLabels: {app: x}}
  template:
    metadata: {labels: {app: x}}
    spec: {containers: [{name: c, image: "example.com/never:1"}]}
`
	claimYAML = `
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: "{{ .Release.Name }}"}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 5Gi}}
`
	configMapYAML = `
apiVersion: v1
kind: ConfigMap
metadata: {name: "{{ .Release.Name }}"}
data: {revision: "{{ .Release.Revision }}", text: {{ .Values.text | default "" | quote }}}
`
	clusterRoleYAML = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: "{{ .Release.Name }}-{{ .Release.Namespace }}"}
`
	// brokenYAML is refused by the API server while .Values.broken is set. It
	// is created after the others of these templates.
	brokenYAML = `
{{- if .Values.broken }}
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: "{{ .Release.Name }}"}
spec: {defaultBackend: {service: {name: "x", port: {number: 99999999}}}}
{{- end }}
`
	hookYAML = `
apiVersion: batch/v1
kind: Job
metadata:
  name: "{{ .Release.Name }}-hook"
  annotations: {"helm.sh/hook": "%s"}
spec:
  template:
    spec: {restartPolicy: Never, containers: [{name: c, image: "example.com/never:1"}]}
`
	widgetCRDYAML = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.test.kubeopera.io}
spec:
  group: test.kubeopera.io
  scope: Namespaced
  names: {kind: %[2]s, plural: %[1]ss, singular: %[1]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object}}
`
	widgetYAML = `
apiVersion: test.kubeopera.io/v1
kind: %s
metadata: {name: "{{ .Release.Name }}"}
`
)

// app is a chart with a workload that never gets ready.
func (b *bed) app(version string, opts ...chartOption) *Chart {
	b.Helper()
	return newChart(b.T, version, append([]chartOption{
		withTemplate("a.yaml", configMapYAML),
		withTemplate("b.yaml", clusterRoleYAML),
		withTemplate("c.yaml", deploymentYAML),
		withTemplate("d.yaml", brokenYAML),
	}, opts...)...)
}
