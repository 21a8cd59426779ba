// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

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
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	ggcr "github.com/google/go-containerregistry/pkg/registry"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/registry"
)

const (
	testUser     = "alice"
	testPassword = "s3cret"
)

// testRegistry is a real OCI registry. Charts are pushed to it by Helm itself.
type testRegistry struct {
	*httptest.Server
	// blobs counts what was fetched: a manifest and two blobs make a chart.
	blobs atomic.Int32
	// before runs ahead of each request that is not a push.
	before func(http.ResponseWriter, *http.Request) bool

	plain *httptest.Server
}

type registryOption func(*testRegistry)

// authenticated asks for basic credentials.
func authenticated(r *testRegistry) {
	r.before = func(w http.ResponseWriter, req *http.Request) bool {
		u, p, _ := req.BasicAuth()
		if u == testUser && p == testPassword {
			return true
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return false
	}
}

// newRegistry starts a registry; with TLS if tls is set.
func newRegistry(t *testing.T, tls bool, opts ...registryOption) *testRegistry {
	t.Helper()
	r := &testRegistry{}
	for _, o := range opts {
		o(r)
	}
	h := ggcr.New(ggcr.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if r.before != nil && !r.before(w, req) {
			return
		}
		if req.Method == http.MethodGet && strings.Contains(req.URL.Path, "/blobs/") {
			r.blobs.Add(1)
		}
		h.ServeHTTP(w, req)
	}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	if tls {
		s.StartTLS()
	} else {
		s.Start()
	}
	r.Server = s
	t.Cleanup(s.Close)
	// Pushing needs neither credentials nor TLS.
	r.plain = httptest.NewServer(h)
	t.Cleanup(r.plain.Close)
	return r
}

func (r *testRegistry) host() string { return r.Listener.Addr().String() }

func (r *testRegistry) push(t *testing.T, c *chart.Chart) {
	t.Helper()
	rc, err := registry.NewClient(
		registry.ClientOptPlainHTTP(),
		registry.ClientOptWriter(io.Discard),
		registry.ClientOptCredentialsFile(filepath.Join(t.TempDir(), "config.json")),
	)
	if err != nil {
		t.Fatal(err)
	}
	ref := fmt.Sprintf("%s/charts/%s:%s", r.plain.Listener.Addr(), c.Metadata.Name, c.Metadata.Version)
	if _, err := rc.Push(archive(t, c), ref, registry.PushOptStrictMode(false)); err != nil {
		t.Fatalf("cannot push %s: %v", ref, err)
	}
}

func (r *testRegistry) ref(name, version string) ChartRef {
	return ChartRef{
		Repository: "oci://" + r.host() + "/charts/" + name,
		Version:    version,
		PlainHTTP:  r.TLS == nil,
	}
}

func (r *testRegistry) ca() []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: r.Certificate().Raw})
}

// dockerConfig holds testUser's password for host, and another one for another
// host.
func dockerConfig(host, password string) []byte {
	b64 := base64.StdEncoding.EncodeToString([]byte(testUser + ":" + password))
	return fmt.Appendf(nil, `{"auths": {"https://%s": {"auth": %q}, "other.example.com": {"username": "x", "password": "y"}}}`, host, b64)
}

func TestC2GetFromRegistry(t *testing.T) {
	t.Parallel()
	plain := newRegistry(t, false)
	secure := newRegistry(t, true)
	private := newRegistry(t, true, authenticated)
	for _, r := range []*testRegistry{plain, secure, private} {
		r.push(t, helmChart("app", "1.2.3"))
		r.push(t, helmChart("app", "1.2.3+build.5"))
	}

	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	_ = closed.Close()

	busy := newRegistry(t, false)
	busy.before = func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return false
	}

	with := func(r ChartRef, fns ...func(*ChartRef)) ChartRef {
		for _, fn := range fns {
			fn(&r)
		}
		return r
	}
	ca := func(reg *testRegistry) func(*ChartRef) { return func(r *ChartRef) { r.CABundle = reg.ca() } }
	login := func(password string) func(*ChartRef) {
		return func(r *ChartRef) { r.Credentials.DockerConfigJSON = dockerConfig(private.host(), password) }
	}

	cases := map[string]struct {
		reason string
		ref    ChartRef
		want   error
		says   []string
	}{
		"PlainHTTP":     {reason: "plain HTTP works when asked for", ref: plain.ref("app", "1.2.3")},
		"BuildMetadata": {reason: "a + in the version becomes a _ in the tag", ref: plain.ref("app", "1.2.3+build.5")},
		"PrivateCA":     {reason: "a private CA works", ref: with(secure.ref("app", "1.2.3"), ca(secure))},
		"Login":         {reason: "credentials work, with a scheme in their key as well", ref: with(private.ref("app", "1.2.3"), ca(private), login(testPassword))},
		"UnknownVersion": {
			reason: "an unknown version is named with its repository",
			ref:    plain.ref("app", "9.9.9"), want: ErrChartNotFound, says: []string{"9.9.9", plain.host() + "/charts/app"},
		},
		"UnknownChart": {
			reason: "an unknown chart is not found",
			ref:    plain.ref("other", "1.2.3"), want: ErrChartNotFound,
		},
		"UnknownCA": {
			reason: "an unknown CA is a matter of TLS",
			ref:    secure.ref("app", "1.2.3"), want: ErrRegistryUnreachable, says: []string{"TLS", "CA bundle"},
		},
		"NotTLS": {
			reason: "plain HTTP is not fallen back to",
			ref:    with(plain.ref("app", "1.2.3"), func(r *ChartRef) { r.PlainHTTP = false }),
			want:   ErrRegistryUnreachable, says: []string{"TLS", "plain HTTP"},
		},
		"NobodyThere": {
			reason: "a closed port is a matter of connecting",
			ref:    ChartRef{Repository: "oci://" + nobody + "/charts/app", Version: "1.2.3", PlainHTTP: true},
			want:   ErrRegistryUnreachable, says: []string{"connect"},
		},
		"Busy": {
			reason: "a 503 is a matter of HTTP",
			ref:    busy.ref("app", "1.2.3"), want: ErrRegistryUnreachable, says: []string{"HTTP", "503"},
		},
		"NoCredentials": {
			reason: "a private registry without credentials says so",
			ref:    with(private.ref("app", "1.2.3"), ca(private)), want: ErrRegistryUnauthorized, says: []string{"without credentials"},
		},
		"WrongPassword": {
			reason: "refused credentials say so",
			ref:    with(private.ref("app", "1.2.3"), ca(private), login("wrong")),
			want:   ErrRegistryUnauthorized, says: []string{"configured credentials"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := newCache(t).Get(t.Context(), tc.ref)
			if !errors.Is(err, tc.want) {
				t.Fatalf("%s: got error %v, want %v", tc.reason, err, tc.want)
			}
			for _, s := range tc.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("%s: %q does not say %q", tc.reason, err, s)
				}
			}
			if err != nil && (strings.Contains(err.Error(), testPassword) || strings.Contains(err.Error(), "\n")) {
				t.Errorf("%s: %q must be one line without secrets", tc.reason, err)
			}
			if tc.want == nil && (c.Name() != "app" || c.Version() != tc.ref.Version) {
				t.Errorf("%s: got chart %s %s", tc.reason, c.Name(), c.Version())
			}
		})
	}
}

func TestGetRefusesReference(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		ref    ChartRef
		says   string
	}{
		"Scheme":      {reason: "the supported schemes are named", ref: ChartRef{Repository: "ftp://h/c", Version: "1.0.0"}, says: "use oci, https or http"},
		"NoScheme":    {reason: "a scheme is needed", ref: ChartRef{Repository: "ghcr.io/charts/app", Version: "1.0.0"}, says: "use oci, https or http"},
		"NotAURL":     {reason: "an address must be one", ref: ChartRef{Repository: "oci://a b/c", Version: "1.0.0"}, says: "chart repository"},
		"NoChart":     {reason: "a chart must be named", ref: ChartRef{Repository: "oci://ghcr.io/", Version: "1.0.0"}, says: "HOST/PATH/CHART"},
		"Userinfo":    {reason: "a password in the address is refused and not repeated", ref: ChartRef{Repository: "https://u:" + testPassword + "@h/c", Version: "1.0.0"}, says: "nothing else"},
		"Unparsable":  {reason: "nor is one that is no address", ref: ChartRef{Repository: "oci://u:" + testPassword + "@h:port/c", Version: "1.0.0"}, says: "not a URL"},
		"OtherScheme": {reason: "nor one of another scheme", ref: ChartRef{Repository: "ftp://u:" + testPassword + "@h/c", Version: "1.0.0"}, says: "use oci"},
		"Query":       {reason: "nor a token behind the address", ref: ChartRef{Repository: "https://h/c?token=" + testPassword, Version: "1.0.0"}, says: "nothing else"},
		"Range":       {reason: "a range is no version", ref: ChartRef{Repository: "oci://h/c", Version: "^1.0"}, says: "exact version"},
		"NoVersion":   {reason: "a version is needed", ref: ChartRef{Repository: "oci://h/c"}, says: "exact version"},
		"CA":          {reason: "a CA bundle must be PEM", ref: ChartRef{Repository: "oci://h/c", Version: "1.0.0", CABundle: []byte("x")}, says: "CA bundle"},
		"Credentials": {reason: "a docker config must be one and is not repeated", ref: ChartRef{Repository: "oci://h/c", Version: "1.0.0", Credentials: Credentials{DockerConfigJSON: []byte(testPassword)}}, says: "dockerconfigjson"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := newCache(t).Get(t.Context(), tc.ref)
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Fatalf("%s: %v does not say %q", tc.reason, err, tc.says)
			}
			if strings.Contains(err.Error(), testPassword) {
				t.Errorf("%s: %q gives a secret away", tc.reason, err)
			}
		})
	}
}

func TestGetHidesSecrets(t *testing.T) {
	t.Parallel()
	const signature = "X-Amz-Signature=0123456789"
	cases := map[string]struct {
		reason string
		answer http.HandlerFunc
		says   string
	}{
		"Echo": {
			reason: "a registry may repeat what it was sent", says: "denied",
			answer: func(w http.ResponseWriter, r *http.Request) {
				w.WriteHeader(http.StatusForbidden)
				_, _ = fmt.Fprintf(w, `{"errors":[{"code":"DENIED","message":"no %s with %s"}]}`, testPassword, r.Header.Get("Authorization"))
			},
		},
		"Redirect": {
			reason: "where a blob lies is signed", says: "connect",
			answer: func(w http.ResponseWriter, r *http.Request) {
				http.Redirect(w, r, "http://127.0.0.1:1/blob?"+signature, http.StatusTemporaryRedirect)
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if _, _, ok := r.BasicAuth(); !ok {
					w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
					w.WriteHeader(http.StatusUnauthorized)
					return
				}
				if r.Method == http.MethodHead { // which has no body that could say anything
					w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
					w.Header().Set("Content-Length", "2")
					w.Header().Set("Docker-Content-Digest", "sha256:"+strings.Repeat("0", 64))
					return
				}
				tc.answer(w, r)
			}))
			t.Cleanup(s.Close)
			host := strings.TrimPrefix(s.URL, "http://")
			basic := base64.StdEncoding.EncodeToString([]byte(testUser + ":" + testPassword))
			ref := ChartRef{Repository: "oci://" + host + "/charts/app", Version: "1.0.0", PlainHTTP: true}
			ref.Credentials.DockerConfigJSON = []byte(`{"auths":{"` + host + `":{"auth":"` + basic + `"}}}`)

			_, err := newCache(t).Get(t.Context(), ref)
			if err == nil || !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), "[hidden]") {
				t.Fatalf("%s: %v does not say %q with something hidden", tc.reason, err, tc.says)
			}
			for _, secret := range []string{testPassword, basic, signature} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("%s: %q gives a secret away", tc.reason, err)
				}
			}
		})
	}
}

func TestC2Layer(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"DNS":     {reason: "a name that does not resolve", err: fmt.Errorf("get: %w", &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "x"}}), want: "DNS"},
		"Timeout": {reason: "a registry that hangs", err: fmt.Errorf("get: %w", context.DeadlineExceeded), want: "timeout"},
		"Other":   {reason: "half an answer", err: io.ErrUnexpectedEOF, want: "HTTP"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := layer(tc.err); got != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}

// repositoryServer is a chart repository with an index.yaml.
func repositoryServer(t *testing.T, index func(self string) string, archives map[string][]byte) *httptest.Server {
	t.Helper()
	var s *httptest.Server
	s = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/stable/index.yaml" {
			_, _ = io.WriteString(w, index(s.URL))
			return
		}
		a, ok := archives[r.URL.Path]
		if u, _, _ := r.BasicAuth(); !ok || (strings.HasPrefix(r.URL.Path, "/private/") && u != testUser) {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		_, _ = w.Write(a)
	}))
	t.Cleanup(s.Close)
	return s
}

func TestGetFromRepository(t *testing.T) {
	t.Parallel()
	good := archive(t, helmChart("app", "1.2.3"))
	archives := map[string][]byte{"/stable/app.tgz": good, "/private/app.tgz": good, "/stable/huge.tgz": make([]byte, maxChartBytes+1)}

	// Another host that must not be sent credentials.
	var leaked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			leaked.Store(true)
		}
		_, _ = w.Write(good)
	}))
	t.Cleanup(other.Close)

	entry := func(version, url, sum string) string {
		return fmt.Sprintf("  - {apiVersion: v2, name: app, version: %s, urls: [%q], digest: %q}\n", version, url, sum)
	}
	s := repositoryServer(t, func(self string) string {
		return "apiVersion: v1\nentries:\n  app:\n" +
			entry("1.2.3", "app.tgz", strings.TrimPrefix(digest(good), "sha256:")) +
			entry("1.2.4", self+"/private/app.tgz", "") +
			entry("1.2.5", "app.tgz", "0000") +
			entry("1.2.6", "huge.tgz", "") +
			entry("1.2.7", "file:///etc/hostname", "") +
			entry("1.2.8", other.URL+"/app.tgz", "")
	}, archives)

	login := Credentials{DockerConfigJSON: dockerConfig(s.Listener.Addr().String(), testPassword)}

	cases := map[string]struct {
		reason  string
		version string
		chart   string
		cred    Credentials
		want    error
		says    string
	}{
		"Good":         {reason: "a relative address is found", version: "1.2.3"},
		"Unknown":      {reason: "an unknown version is not found", version: "3.0.0", want: ErrChartNotFound, says: "3.0.0"},
		"UnknownChart": {reason: "an unknown chart is not found", version: "1.2.3", chart: "nope", want: ErrChartNotFound},
		"Digest":       {reason: "a wrong digest is refused", version: "1.2.5", want: ErrChartInvalid, says: "digest"},
		"TooLarge":     {reason: "a chart has a largest size", version: "1.2.6", want: ErrChartInvalid, says: "10240 KiB"},
		"FileURL":      {reason: "an index must not make the provider read files", version: "1.2.7", want: ErrChartInvalid},
		"Credentials": {
			reason: "credentials are sent; this archive is then refused for its version", version: "1.2.4",
			cred: login, want: ErrChartInvalid, says: `version "1.2.3"`,
		},
		"OtherHost": {
			reason: "credentials stay with their host", version: "1.2.8",
			cred: login, want: ErrChartInvalid, says: `version "1.2.3"`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			chartName := "app"
			if tc.chart != "" {
				chartName = tc.chart
			}
			_, err := newCache(t).Get(t.Context(), ChartRef{Repository: s.URL + "/stable/" + chartName, Version: tc.version, Credentials: tc.cred})
			if !errors.Is(err, tc.want) {
				t.Fatalf("%s: got error %v, want %v", tc.reason, err, tc.want)
			}
			if err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("%s: %q does not say %q", tc.reason, err, tc.says)
			}
		})
	}
	if leaked.Load() {
		t.Error("credentials were sent to another host")
	}
}

// awaitTrue fails the test if cond does not become true.
func awaitTrue(t *testing.T, what string, cond func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !cond() {
		select {
		case <-ctx.Done():
			t.Fatalf("gave up waiting: %s", what)
		case <-tick.C:
		}
	}
}

// TestRedirectsEnd holds that a registry which redirects for ever is given up: the
// requests that led there are kept in memory.
func TestRedirectsEnd(t *testing.T) {
	t.Parallel()

	var asked atomic.Int64

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 100 {
			w.WriteHeader(http.StatusNotFound)
			return
		}

		http.Redirect(w, r, r.URL.Path, http.StatusTemporaryRedirect)
	}))
	t.Cleanup(s.Close)

	host := strings.TrimPrefix(s.URL, "http://")
	for _, repository := range []string{"oci://" + host + "/x/vcluster", s.URL + "/x/vcluster"} {
		asked.Store(0)

		src, err := ChartRef{Repository: repository, Version: "0.36.1", PlainHTTP: true}.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		if _, err := src.fetch(t.Context()); !errors.Is(err, ErrRegistryUnreachable) || !strings.Contains(err.Error(), "stopped after 10 redirects") {
			t.Errorf("%s, asked %d times: %v", repository, asked.Load(), err)
		}
	}
}
