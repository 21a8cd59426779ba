// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// FuzzValuesEqual holds that values are equal to themselves after a trip through a release record, in whichever
// order, and to nothing that reads otherwise.
func FuzzValuesEqual(f *testing.F) {
	f.Add(`{"replicas":1,"a":{}}`, `{"a":{},"replicas":1.0}`)
	f.Add(`{"a":null}`, `{}`)
	f.Add(`{"a":[1,{"b":null}]}`, `{"a":[{"b":null},1]}`)
	f.Add(`null`, `{}`)
	f.Add(`{"n":9007199254740993}`, `{"n":9007199254740992}`)
	f.Add(`{"n":1e400}`, `{"a":"\ud800"}`)
	f.Fuzz(func(t *testing.T, left, right string) {
		var a, b map[string]any
		if json.Unmarshal([]byte(left), &a) != nil || json.Unmarshal([]byte(right), &b) != nil {
			return
		}

		stored, err := copyValues(a)
		if err != nil {
			if !errors.Is(err, ErrValuesRefused) {
				t.Errorf("%v is no %v", err, ErrValuesRefused)
			}

			return
		}

		if !ValuesEqual(a, stored) || !ValuesEqual(stored, a) {
			t.Errorf("%s differs from what is stored of it", left)
		}

		equal := ValuesEqual(a, b)
		if equal != ValuesEqual(b, a) {
			t.Errorf("%s and %s are equal in one order only", left, right)
		}

		if again, err := json.Marshal(a); err == nil && equal {
			if other, err := json.Marshal(b); err != nil || (string(again) != string(other) && len(a)+len(b) > 0) {
				t.Errorf("%s and %s count as equal", left, right)
			}
		}
	})
}

// FuzzChartRef holds that a reference with credentials can be used or is an error that says what to correct
// without a word of the credentials.
func FuzzChartRef(f *testing.F) {
	const password = "HUSH-HUSH-4711"

	auths := func(host string) []byte { return dockerConfig(host, password) }

	f.Add("oci://ghcr.io/loft-sh/charts/vcluster", "0.36.1", auths("ghcr.io"), []byte(nil))
	f.Add("https://user:HUSH-HUSH-4711@charts.example.org/x", "0.36.1", auths("charts.example.org"), []byte("no PEM"))
	f.Add("ftp://user:HUSH-HUSH-4711@charts.example.org/x", "0.36.1", []byte(nil), []byte(nil))
	f.Add("https://user:HUSH-HUSH-4711@char ts.example.org/x", "0.36.1", []byte(nil), []byte(nil))
	f.Add("oci://", "1", []byte(`{"auths":`), []byte{})
	f.Add("oci://docker.io/x/", "v0.1.0+x", []byte(`{"auths":{"https://index.docker.io/v1/":{"auth":"SFVTSC1IVVNILTQ3MTE="}}}`), []byte(nil))
	f.Add("oci://a/b", "0.0.0", []byte(`{"auths":{"a":{"auth":"bm9jb2xvbg==","username":7}}}`), []byte(nil))
	f.Add("oci://a/b", "0.0.0", []byte(`{"credsStore":"HUSH-HUSH-4711","credHelpers":{"a":"x"}}`), []byte(nil))
	f.Add("\x00://%zz", "latest", []byte(`[]`), []byte(nil))
	f.Add("oci://a/b/../c", "0.1.0", []byte(`null`), []byte(nil))
	f.Fuzz(func(t *testing.T, repository, version string, docker, ca []byte) {
		r := ChartRef{Repository: repository, Version: version, CABundle: ca, Credentials: Credentials{DockerConfigJSON: docker}}

		s, err := r.resolve(t.Context())
		if err != nil {
			// What was written anywhere but before the host is no password.
			other := strings.ReplaceAll(repository, "//user:"+password+"@", "") + version
			if strings.Contains(err.Error(), password) && !strings.Contains(other, password) {
				t.Errorf("%q %q shows the secret: %v", repository, version, err)
			}

			if len(err.Error()) < 10 {
				t.Errorf("it says nothing: %q", err)
			}

			return
		}

		if s.url.Host == "" || s.name == "" || s.name == "." || s.name == ".." || s.name == "/" {
			t.Errorf("%q is chart %q on %q", repository, s.name, s.url.Host)
		}

		if k := s.key(); len(k) != 64 || k != s.key() {
			t.Errorf("%q is kept as %q", repository, k)
		}
	})
}
