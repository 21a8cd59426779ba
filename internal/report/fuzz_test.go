// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// scripted answers requests without a network.
type scripted func(*http.Request) (*http.Response, error)

func (s scripted) RoundTrip(r *http.Request) (*http.Response, error) { return s(r) }

// halfRead gives a body and then an error instead of its end.
type halfRead struct {
	io.Reader
	cut bool
}

func (h halfRead) Read(p []byte) (int, error) {
	n, err := h.Reader.Read(p)
	if h.cut && errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}

	return n, err
}

func (h halfRead) Close() error { return nil }

// FuzzAnswers holds that a report is accepted by 2xx alone, whatever else the servers say, that the time that
// they ask for is one to wait for, and that no error holds a word of theirs.
func FuzzAnswers(f *testing.F) {
	const marker = "HUSH-HUSH-4711"

	token := fmt.Sprintf(`{"access_token":%q,"token_type":"bearer","expires_in":3600}`, marker)
	f.Add(204, "", "", false, 200, "application/json", token, false)
	f.Add(429, "120", "slow down", true, 200, "application/json", token, false)
	f.Add(503, "-9223372037", marker, false, 200, "application/json", token, false)
	f.Add(503, "Sun, 29 Nov 2026 12:05:00 GMT", marker, false, 200, "text/plain", "access_token="+marker, false)
	f.Add(401, "99999999999999999999", marker, false, 401, "application/json", `{"error":"invalid_client","error_description":"HUSH-HUSH-4711"}`, false)
	f.Add(200, "", "", true, 429, "application/json", `{"access_token":`, true)
	f.Add(302, "0", "", false, 200, "", `{"access_token":"","expires_in":-1}`, false)
	f.Add(200, "", "", false, 200, "application/json", `{"access_token":"a\nb","expires_in":"1e9"}`, false)
	f.Add(999, "1e3", "", false, 0, "\x00", "null", false)
	f.Fuzz(func(t *testing.T, status int, after, body string, cut bool, tokenStatus int, tokenType, tokenBody string, tokenCut bool) {
		if status < 100 || status > 999 || tokenStatus < 100 || tokenStatus > 999 {
			return // Go's own client takes no others.
		}

		c := newClient(t, Options{BaseURL: "http://api.example.org", ClientID: "provider", ClientSecret: "s3cret"})
		c.now = func() time.Time { return epoch }
		c.http.Transport = scripted(func(r *http.Request) (*http.Response, error) {
			out := &http.Response{StatusCode: status, Header: http.Header{"Retry-After": {after}}, Body: halfRead{strings.NewReader(body), cut}, Request: r}
			if strings.HasSuffix(r.URL.Path, "/oauth/token") {
				out.StatusCode, out.Header, out.Body = tokenStatus, http.Header{"Content-Type": {tokenType}, "Retry-After": {after}}, halfRead{strings.NewReader(tokenBody), tokenCut}
			}

			return out, nil
		})

		err := c.Put(t.Context(), active())
		if err == nil {
			if status/100 != 2 || tokenStatus/100 != 2 {
				t.Errorf("%d with a token by %d is accepted", status, tokenStatus)
			}

			return
		}

		e := &Error{}
		if !errors.As(err, &e) || e.Error() == "" {
			t.Fatalf("got %v", err)
		}

		if e.RetryAfter < 0 || e.RetryAfter > maxRetryAfter {
			t.Errorf("%q is waited for %s", after, e.RetryAfter)
		}

		for _, hidden := range []string{marker, "s3cret"} {
			if strings.Contains(err.Error(), hidden) {
				t.Errorf("%v shows %q", err, hidden)
			}
		}

		if again := c.Put(t.Context(), active()); again == nil || again.Error() != err.Error() {
			t.Errorf("once %v, once %v", err, again)
		}
	})
}
