// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"
)

// FuzzRecord holds that a release record of any content, which a tenant's admin can write, is read as a release or
// is an error that names it, the same each time, and that its manifest can be read or is an error.
func FuzzRecord(f *testing.F) {
	for _, s := range []string{
		`{"name":"vc-alice","version":1,"info":{"status":"deployed","last_deployed":"2026-11-29T12:00:00Z"},"chart":{"metadata":{"name":"vcluster","version":"0.36.1"}},"config":{"a":1},"manifest":"kind: Service\n"}`,
		`{"info":{"status":"pending-upgrade","deleted":"9999-12-31T23:59:59Z"},"chart":{"metadata":null},"config":null,"manifest":"kind: List\nitems: [{kind: Pod}, 7, null]\n"}`,
		`{"info":null}`, `{"info":{}}`, `null`, `[]`, `{`, ``,
		`{"info":{"status":7,"description":"a\n\u0000b"},"version":-9223372036854775808,"hooks":[null],"manifest":"&a [*a]"}`,
		`{"info":{"last_deployed":"0000-01-01T00:00:00Z"},"chart":{"templates":[null],"values":{"a":{}}},"manifest":"{\"metadata\":7,\"kind\":[]}"}`,
	} {
		f.Add(s, "1", "0")
		f.Add(s, "99999999999999999999", "-9223372036854775808")
	}

	f.Fuzz(func(t *testing.T, stored, revision, modified string) {
		var b bytes.Buffer

		z := gzip.NewWriter(&b)
		if _, err := io.WriteString(z, stored); err != nil || z.Close() != nil {
			t.Fatal(err)
		}

		c := recordClient(fake.NewClientset(&corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: testNamespace, Name: recordName(1), ResourceVersion: "7",
				Labels: map[string]string{"owner": "helm", "name": "vc-alice", "version": revision, "modifiedAt": modified, "status": "deployed"},
			},
			Type: recordType,
			Data: map[string][]byte{recordKey: []byte(base64.StdEncoding.EncodeToString(b.Bytes()))},
		}))

		r, err := c.Get(t.Context(), "vc-alice")
		if err != nil {
			if again, same := c.Get(t.Context(), "vc-alice"); again != nil || same == nil || same.Error() != err.Error() || !strings.Contains(err.Error(), "vc-alice") {
				t.Errorf("once %v, once %v", err, same)
			}

			return
		}

		if r.ResourceVersion != "7" || r.Values == nil {
			t.Errorf("it is read as %+v", r)
		}

		objs, err := ManifestObjects(r)
		for _, o := range objs {
			if err != nil || o == nil || len(o.Object) == 0 {
				t.Errorf("it holds %v, %v", o, err)
			}
		}
	})
}

// answering gives what a registry answers to everything, without a network.
type answering func(*http.Request) *http.Response

func (a answering) RoundTrip(r *http.Request) (*http.Response, error) { return a(r), nil }

// FuzzRegistry holds that whatever a registry answers is a chart, or an error that says what is wrong in one line
// and without a word of the credentials, which it may repeat.
func FuzzRegistry(f *testing.F) {
	const password = "HUSH-HUSH-4711"

	const manifest = `{"schemaVersion":2,"layers":[{"mediaType":"application/vnd.cncf.helm.chart.content.v1.tar+gzip","size":3,"digest":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}]}`

	f.Add(true, 200, "application/vnd.oci.image.manifest.v1+json", manifest, "abc")
	f.Add(true, 200, "application/vnd.oci.image.manifest.v1+json", `{"layers":[{"mediaType":"application/tar+gzip","size":-1,"digest":"sha256:"}]}`, "")
	f.Add(true, 401, "application/json", `{"errors":[{"code":"DENIED","message":"HUSH-HUSH-4711\nHUSH"}]}`, "")
	f.Add(true, 302, "", `null`, "")
	f.Add(false, 200, "text/yaml", "entries:\n  vcluster: [{version: 0.36.1, urls: [vcluster-0.36.1.tgz]}]\n", "no archive")
	f.Add(false, 200, "text/yaml", "entries:\n  vcluster: [null, {version: 0.36.1, urls: ['ftp://u:HUSH-HUSH-4711@x/%zz']}]\n", "")
	f.Add(false, 200, "text/yaml", "entries: {vcluster: [{version: 0.36.1, digest: 'sha256:0', urls: ['//elsewhere']}]}", "")
	f.Add(false, 200, "", "a: &a [*a]", "")
	f.Fuzz(func(t *testing.T, oci bool, status int, media, index, archive string) {
		if status < 100 || status > 999 {
			return // Go's own client takes no others.
		}

		scheme := map[bool]string{true: "oci", false: "https"}[oci]
		ref := ChartRef{Repository: scheme + "://charts.example.org/x/vcluster", Version: "0.36.1", Credentials: Credentials{DockerConfigJSON: dockerConfig("charts.example.org", password)}}

		s, err := ref.resolve(t.Context())
		if err != nil {
			t.Fatal(err)
		}

		hc, err := s.httpClient()
		if err != nil {
			t.Fatal(err)
		}

		hc.Transport = answering(func(r *http.Request) *http.Response {
			body := index
			if strings.Contains(r.URL.Path, "/blobs/") || strings.HasSuffix(r.URL.Path, ".tgz") {
				body = archive
			}

			return &http.Response{
				StatusCode: status, Request: r, Body: io.NopCloser(strings.NewReader(body)), ContentLength: int64(len(body)),
				Header: http.Header{"Content-Type": {media}, "Location": {"/" + index}, "Docker-Content-Digest": {digest([]byte(body))}, "Www-Authenticate": {`Basic realm="` + media + `"`}},
			}
		})

		fetch := s.fetchHTTP
		if oci {
			fetch = s.fetchOCI
		}

		raw, err := fetch(t.Context(), hc)
		if err == nil {
			if _, err = LoadChart(raw); err == nil {
				return
			}
		} else {
			err = s.classify(err)
		}

		known := false
		for _, sentinel := range []error{ErrChartInvalid, ErrChartNotFound, ErrRegistryUnauthorized, ErrRegistryUnreachable} {
			known = known || errors.Is(err, sentinel)
		}

		if !known || strings.Contains(err.Error(), password) || strings.ContainsAny(err.Error(), "\n\r") {
			t.Errorf("it is told as %q", err)
		}
	})
}
