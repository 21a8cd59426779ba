// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	ocitypes "github.com/google/go-containerregistry/pkg/v1/types"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster/vclustertest"
)

const (
	pullUser     = "puller"
	pullPassword = "pull-s3cret"
)

// privateRegistry is an OCI registry with the vCluster chart 0.36.1: with TLS, or with
// basic auth, or with neither.
func privateRegistry(t *testing.T, tls, auth bool) *httptest.Server {
	t.Helper()

	raw, err := packChart("vcluster", "0.36.1", nil)
	if err != nil {
		t.Fatal(err)
	}

	h := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	open := httptest.NewServer(h)
	t.Cleanup(open.Close)

	ref, err := name.ParseReference(open.Listener.Addr().String() + "/charts/vcluster:0.36.1")
	if err != nil {
		t.Fatal(err)
	}

	img, err := mutate.AppendLayers(mutate.MediaType(empty.Image, ocitypes.OCIManifestSchema1),
		static.NewLayer(raw, "application/vnd.cncf.helm.chart.content.v1.tar+gzip"))
	if err != nil {
		t.Fatal(err)
	}

	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}

	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); auth && (u != pullUser || p != pullPassword) {
			w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
			w.WriteHeader(http.StatusUnauthorized)

			return
		}

		h.ServeHTTP(w, r)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)

	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}

	t.Cleanup(s.Close)

	return s
}

// dockerConfig logs in to that server.
func dockerConfig(s *httptest.Server, password string) string {
	return fmt.Sprintf(`{"auths": {%q: {"auth": %q}}}`, s.Listener.Addr(), base64.StdEncoding.EncodeToString([]byte(pullUser+":"+password)))
}

// TestC2FromProviderConfig holds that each kind of registry works from each kind of
// provider configuration, and that an error says which layer failed.
func TestC2FromProviderConfig(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	plain, private, secret := privateRegistry(t, false, false), privateRegistry(t, true, false), privateRegistry(t, false, true)
	both := privateRegistry(t, true, true)
	ca := func(s *httptest.Server) []byte {
		return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	}

	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()

	cases := map[string]struct {
		server *httptest.Server
		plain  bool
		ca     []byte
		pull   string
		want   error
		says   string
	}{
		"C2: plain HTTP":                       {server: plain, plain: true},
		"C2: a private CA":                     {server: private, ca: ca(private)},
		"C2: basic auth":                       {server: secret, plain: true, pull: dockerConfig(secret, pullPassword)},
		"C2: basic auth and a private CA":      {server: both, ca: ca(both), pull: dockerConfig(both, pullPassword)},
		"C2: nobody listens":                   {server: closed, plain: true, want: helm.ErrRegistryUnreachable, says: ": connect: "},
		"C2: no such name":                     {plain: true, want: helm.ErrRegistryUnreachable, says: ": DNS: "},
		"C2: an unknown CA":                    {server: private, want: helm.ErrRegistryUnreachable, says: ": TLS, the certificate is signed by an unknown authority"},
		"C2: plain HTTP that was not asked":    {server: plain, want: helm.ErrRegistryUnreachable, says: ": TLS, the registry speaks plain HTTP"},
		"C2: no password":                      {server: secret, plain: true, want: helm.ErrRegistryUnauthorized, says: "without credentials"},
		"C2: a wrong password":                 {server: secret, plain: true, pull: dockerConfig(secret, "wrong"), want: helm.ErrRegistryUnauthorized, says: "with the configured credentials"},
		"C2: credentials that are no Secret's": {server: secret, plain: true, pull: "rubbish", says: "dockerconfigjson"},
	}
	for what, tc := range cases {
		for _, kind := range []string{"ClusterProviderConfig", "ProviderConfig"} {
			t.Run(what+", by a "+kind, func(t *testing.T) {
				t.Parallel()

				host := "no-such-host.invalid"
				if tc.server != nil {
					host = tc.server.Listener.Addr().String()
				}

				chart := v1alpha1.Chart{Repository: "oci://" + host + "/charts/vcluster", Version: "0.36.1", PlainHTTP: tc.plain, CABundle: tc.ca}

				w := newWorld(t, secretIn(tenantNamespace, "pull", corev1.DockerConfigJsonKey, tc.pull), configWithChart(kind, chart, tc.pull != ""))
				tn := alice().Config(kind, "default").Obj()

				e := connectWithCharts(t, w, own.URL, tn)

				got, err := e.chart(t.Context(), "0.36.1")
				if tc.says == "" && (err != nil || got.Name() != "vcluster") {
					t.Fatalf("got %v", err)
				}

				if tc.says != "" && (err == nil || (tc.want != nil && !errors.Is(err, tc.want)) || !strings.Contains(err.Error(), tc.says)) {
					t.Errorf("got %v", err)
				}

				if err != nil && strings.Contains(err.Error(), pullPassword) {
					t.Errorf("%v shows a secret", err)
				}
			})
		}
	}
}

// configWithChart is the configuration "default" of that kind.
func configWithChart(kind string, chart v1alpha1.Chart, pull bool) client.Object {
	if kind == "ProviderConfig" {
		return localConfig(tenantNamespace, func(s *v1alpha1.ProviderConfigSpec) {
			s.Chart = &v1alpha1.LocalChartSource{Chart: chart}
			if pull {
				s.Chart.PullSecretRef = &xpv2.LocalSecretReference{Name: "pull"}
			}
		})
	}

	return clusterConfig(func(s *v1alpha1.ClusterProviderConfigSpec) {
		s.Chart = &v1alpha1.ChartSource{Chart: chart}
		if pull {
			s.Chart.PullSecretRef = &xpv2.SecretReference{Namespace: tenantNamespace, Name: "pull"}
		}
	})
}

// connectWithCharts connects with a chart cache that is empty.
func connectWithCharts(t *testing.T, w *world, host string, tn *v1alpha1.Tenant) *external {
	t.Helper()

	charts, err := helm.NewChartCache(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}

	c := connectTo(w, host)
	c.charts = charts

	e, err := c.Connect(t.Context(), tn)
	if err != nil {
		t.Fatal(err)
	}

	return e.(*external)
}

// TestC3RegistryDown holds that a Tenant stays Ready while the registry is down, that a
// change which needs it waits and says why, and is made when it is up again, while one
// that needs it not is made at once.
func TestC3RegistryDown(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	charts := chartRepository(t, "vcluster", "0.36.1", nil)
	address := charts.Listener.Addr().String()
	chart := v1alpha1.Chart{Repository: charts.URL + "/charts/vcluster", Version: "0.36.1"}
	w, b := newWorld(t, configWithChart("ClusterProviderConfig", chart, false)), alice()
	w.chart = connectWithCharts(t, w, own.URL, b.Obj()).chart
	w.arrive(b.Obj())

	charts.Close()
	w.mustPass(b.Obj())

	running := *w.helm.release

	b.Chart("0.36.2")
	b.SetGeneration(2)

	for range 3 {
		if _, err := w.pass(b.Obj()); !errors.Is(err, helm.ErrRegistryUnreachable) {
			t.Fatalf("got %v", err)
		}

		says := fmt.Sprintf("a change waits: registry unreachable: cannot fetch %q: connect: ", chart.Repository+":0.36.2")
		if b.Status.Phase != v1alpha1.PhaseReady || b.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue || !strings.Contains(b.Status.Message, says) {
			t.Errorf("%s: %s", b.Status.Phase, b.Status.Message)
		}

		w.clock.SetTime(w.clock.Now().Add(time.Hour))
	}

	if diff := cmp.Diff(running, *w.helm.release); diff != "" {
		t.Errorf("the release was touched: %s", diff)
	}

	w.journal.clear()
	chartRepositoryAt(t, address, "vcluster", "0.36.2")
	w.mustPass(b.Obj())

	if w.helm.release.ChartVersion != "0.36.2" || b.Status.Phase != v1alpha1.PhaseReady || strings.Contains(b.Status.Message, "waits") {
		t.Errorf("the registry is back: chart %s, %s: %s", w.helm.release.ChartVersion, b.Status.Phase, b.Status.Message)
	}
}

// TestC3NeedsNoRegistry holds that a change of values is made while the registry is down
// that has the chart.
func TestC3NeedsNoRegistry(t *testing.T) {
	t.Parallel()

	own, _ := fakeHost(t)
	charts := chartRepository(t, "vcluster", "0.36.1", nil)
	chart := v1alpha1.Chart{Repository: charts.URL + "/charts/vcluster", Version: "0.36.1"}
	w, b := newWorld(t, configWithChart("ClusterProviderConfig", chart, false)), alice()
	w.chart = connectWithCharts(t, w, own.URL, b.Obj()).chart
	w.arrive(b.Obj())
	charts.Close()

	b.Overrides(`{"a": 1}`)
	b.SetGeneration(2)
	w.mustPass(b.Obj())

	if w.helm.release.Revision != 2 || b.Status.Phase != v1alpha1.PhaseReady {
		t.Errorf("revision %d, %s: %s", w.helm.release.Revision, b.Status.Phase, b.Status.Message)
	}
}

// chartRepositoryAt serves one chart under /charts at that address.
func chartRepositoryAt(t *testing.T, address, name, version string) {
	t.Helper()

	from := chartRepository(t, name, version, nil)

	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}

	s := &httptest.Server{Listener: l, Config: &http.Server{Handler: from.Config.Handler, ReadHeaderTimeout: time.Minute}}
	s.Start()
	t.Cleanup(s.Close)
}

// TestC4CannotBeInstalled holds that a Tenant that asks for what no chart gives is Failed
// with the path of the value and the supported range, and that nothing is made for it.
func TestC4CannotBeInstalled(t *testing.T) {
	t.Parallel()

	schema, err := os.ReadFile(filepath.Join(vclustertest.ModuleDir(t, "0.36.1"), "chart", "values.schema.json"))
	if err != nil {
		t.Fatal(err)
	}

	published, err := packChart("vcluster", "0.36.1", map[string]string{"values.schema.json": string(schema)})
	if err != nil {
		t.Fatal(err)
	}

	const supported = "0.20.0 to 0.36.x"

	cases := map[string]struct {
		tenant tenantBuilder
		is     error
		says   []string
	}{
		"C4: a chart version that the registry has not": {
			alice().Chart("0.36.9"), helm.ErrChartNotFound, []string{"cannot use vcluster.chartVersion: ", `"0.36.9"`, supported},
		},
		"C4: chart 0.19.0": {
			alice().Chart("0.19.0"), vcluster.ErrUnsupportedChartVersion, []string{"cannot use vcluster.chartVersion: ", `"0.19.0"`, supported},
		},
		"C4: chart 0.37.0": {
			alice().Chart("0.37.0"), vcluster.ErrUnsupportedChartVersion, []string{"cannot use vcluster.chartVersion: ", `"0.37.0"`, supported},
		},
		"C4: values of 0.19": {
			alice().Overrides(`{"syncer": {"extraArgs": ["--v=2"]}, "storage": {"size": "10Gi"}}`), helm.ErrValuesRefused,
			[]string{"cannot use vcluster.valuesOverrides ", "syncer: unknown to this version of the chart", "storage: unknown", "0.36.1", supported},
		},
		"C4: a value that the schema refuses": {
			alice().Overrides(`{"sync": {"toHost": {"pods": {"enabled": "often"}}}}`), helm.ErrValuesRefused,
			[]string{"cannot use vcluster.valuesOverrides ", "sync.toHost.pods.enabled: got string, want boolean", supported},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			chart, err := helm.LoadChart(published)
			if err != nil {
				t.Fatal(err)
			}

			w, tn := newWorld(t), tc.tenant.Obj()
			from := w.chart
			w.chart = func(ctx context.Context, version string) (*helm.Chart, error) {
				if version == "0.36.1" {
					return chart, nil
				}

				return from(ctx, version)
			}

			if _, err := w.pass(tn); !errors.Is(err, tc.is) {
				t.Errorf("got %v", err)
			}

			for _, s := range tc.says {
				if tn.Status.Phase != v1alpha1.PhaseFailed || !strings.Contains(tn.Status.Message, s) {
					t.Errorf("%s: %s, want %q", tn.Status.Phase, tn.Status.Message, s)
				}
			}

			if done := w.journal.take(); len(done) > 0 {
				t.Errorf("done: %v", done)
			}
		})
	}
}

// TestC5DistroSwitch holds that a chart without the running distro is not upgraded to,
// and that the running tenant is not touched.
func TestC5DistroSwitch(t *testing.T) {
	t.Parallel()

	for from, to := range map[string]string{"0.32.1": "0.36.1", "0.21.2": "0.33.0"} {
		t.Run(fmt.Sprintf("C5: k3s of chart %s to %s", from, to), func(t *testing.T) {
			t.Parallel()

			w, b := newWorld(t), alice().Chart(from)
			w.arrive(b.Obj())
			running := *w.helm.release

			b.Chart(to)
			b.SetGeneration(2)

			_, err := w.pass(b.Obj())
			says := `cannot change controlPlane.distro from "k3s" to "k8s"`

			if !errors.Is(err, vcluster.ErrImmutableValue) || b.Status.Phase != v1alpha1.PhaseReady || !strings.Contains(b.Status.Message, says) {
				t.Errorf("got %v, %s: %s", err, b.Status.Phase, b.Status.Message)
			}

			if diff := cmp.Diff(running, *w.helm.release); diff != "" || len(w.doneOnHost()) > 0 {
				t.Errorf("the release was touched: %s", diff)
			}
		})
	}
}
