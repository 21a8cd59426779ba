// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestPut(t *testing.T) {
	t.Parallel()

	want := request{
		method: http.MethodPut, path: "/api/v1/cloudspaces/alice-id/status", key: active().Key(), contentType: "application/json",
		body: map[string]any{
			"status": "active", "message": "all is well", "vclusterName": "vc-alice", "generation": 3.0,
			"observedAt": "2026-11-29T12:00:00.123456Z",
		},
	}

	for name, base := range map[string]string{"Plain": "", "Slash": "/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newServer(t)
			if err := newClient(t, Options{BaseURL: s.URL + base}).Put(t.Context(), active()); err != nil {
				t.Fatal(err)
			}

			puts, issued := s.seen()
			if diff := cmp.Diff([]request{want}, puts, cmp.AllowUnexported(request{})); diff != "" || issued != 0 {
				t.Errorf("without a ClientID there is no token, and one request as agreed (%d tokens): -want, +got:\n%s", issued, diff)
			}
		})
	}
}

func TestPutEscapesTheID(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	r := active()
	r.CloudSpaceID = "../../other?x=1"

	if err := newClient(t, Options{BaseURL: s.URL}).Put(t.Context(), r); err != nil {
		t.Fatal(err)
	}

	if puts, _ := s.seen(); puts[0].path != "/api/v1/cloudspaces/../../other?x=1/status" {
		t.Errorf("an id left its place in the path: %q", puts[0].path)
	}
}

func TestPutAccepts(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		put    http.HandlerFunc
	}{
		"OK":        {reason: "200 accepts", put: answer(http.StatusOK)},
		"Accepted":  {reason: "202 accepts", put: answer(http.StatusAccepted)},
		"NoContent": {reason: "204 accepts", put: answer(http.StatusNoContent)},
		"NoJSON":    {reason: "what stands in the body does not matter", put: answer(http.StatusOK, "Content-Type", "application/json")},
		"Half":      {reason: "the first line has said it all", put: half(http.StatusOK)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newServer(t)
			s.answers(tc.put, nil)

			if err := s.client(t).Put(t.Context(), active()); err != nil {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

func TestPutRefused(t *testing.T) {
	t.Parallel()

	at := func(d time.Duration) string { return epoch.Add(d).Format(http.TimeFormat) }

	cases := map[string]struct {
		reason string
		put    http.HandlerFunc
		token  http.HandlerFunc
		want   string
		after  time.Duration
		puts   int
	}{
		"500":            {reason: "a code says what it is", put: answer(500), want: "it answered 500 Internal Server Error", puts: 1},
		"500RetryAfter":  {reason: "only 429 and 503 may ask for time", put: answer(500, "Retry-After", "5"), want: "it answered 500 Internal Server Error", puts: 1},
		"404":            {reason: "a person can help", put: answer(404), want: "it answered 404 Not Found; check that it knows the CloudSpace, and KUBEOPERA_API_BASE_URL", puts: 1},
		"403":            {reason: "a person can help", put: answer(403), want: "it answered 403 Forbidden; check what SERVICE_CLIENT_ID may do", puts: 1},
		"Unknown":        {reason: "a code without a name", put: answer(599), want: "it answered 599", puts: 1},
		"429":            {reason: "without a time", put: answer(429), want: "it answered 429 Too Many Requests", puts: 1},
		"429Seconds":     {reason: "in seconds", put: answer(429, "Retry-After", "7"), want: "it answered 429 Too Many Requests", after: 7 * time.Second, puts: 1},
		"429Date":        {reason: "as a date", put: answer(429, "Retry-After", at(90*time.Second)), want: "it answered 429 Too Many Requests", after: 90*time.Second - 123456*time.Microsecond, puts: 1},
		"429PastDate":    {reason: "a date that has passed", put: answer(429, "Retry-After", at(-time.Hour)), want: "it answered 429 Too Many Requests", puts: 1},
		"429LateDate":    {reason: "bounded", put: answer(429, "Retry-After", at(24*time.Hour)), want: "it answered 429 Too Many Requests", after: maxRetryAfter, puts: 1},
		"429ManySeconds": {reason: "bounded before it overflows", put: answer(429, "Retry-After", "9223372036854775807"), want: "it answered 429 Too Many Requests", after: maxRetryAfter, puts: 1},
		"429Negative":    {reason: "no time at all", put: answer(429, "Retry-After", "-9223372036854775808"), want: "it answered 429 Too Many Requests", puts: 1},
		"429Rubbish":     {reason: "no time at all", put: answer(429, "Retry-After", "soon"), want: "it answered 429 Too Many Requests", puts: 1},
		"503Seconds":     {reason: "503 may ask for time too", put: answer(503, "Retry-After", "600"), want: "it answered 503 Service Unavailable", after: maxRetryAfter, puts: 1},
		"HalfRefused":    {reason: "a code counts without its body", put: half(500), want: "it answered 500 Internal Server Error", puts: 1},
		"TokenRefused": {
			reason: "a known error code is shown, the rest is not", want: "its token endpoint answered 400 Bad Request, invalid_client; check SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET and KUBEOPERA_TOKEN_URL",
			token: errorOfToken(400, `{"error":"invalid_client","error_description":"`+clientSecret+`"}`),
		},
		"TokenRefusedOddly": {
			reason: "an unknown error code may hold anything", want: "its token endpoint answered 400 Bad Request; check SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET and KUBEOPERA_TOKEN_URL",
			token: errorOfToken(400, `{"error":"`+clientSecret+`"}`),
		},
		"TokenBusy": {
			reason: "the token endpoint may ask for time as well", after: 3 * time.Second,
			want:  "its token endpoint answered 429 Too Many Requests; check SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET and KUBEOPERA_TOKEN_URL",
			token: answer(429, "Retry-After", "3"),
		},
		"TokenNoJSON":   {reason: "an answer that cannot be read", token: errorOfToken(200, `<html>`+tokenPrefix), want: "its token endpoint gave no token; check KUBEOPERA_TOKEN_URL"},
		"TokenMissing":  {reason: "an answer without a token", token: errorOfToken(200, `{"token":"`+tokenPrefix+`"}`), want: "its token endpoint gave no token; check KUBEOPERA_TOKEN_URL"},
		"TokenHalf":     {reason: "half an answer", token: half(200), want: "its token endpoint gave no token; check KUBEOPERA_TOKEN_URL"},
		"TokenCut":      {reason: "no answer", token: cut, want: "its token endpoint: the connection was cut"},
		"TokenRedirect": {reason: "the secret follows no redirect", token: answer(307, "Location", "/elsewhere"), want: "its token endpoint answered 307 Temporary Redirect; check SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET and KUBEOPERA_TOKEN_URL"},
		"TokenUnusable": {reason: "a token that no header can hold", token: errorOfToken(200, `{"access_token":"`+tokenPrefix+`\n"}`), want: "the request failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newServer(t)
			s.answers(tc.put, tc.token)

			c := s.client(t)
			c.now = func() time.Time { return epoch }

			err := c.Put(t.Context(), active())
			if got := refusal(t, err, s.URL); got.reason != tc.want || got.RetryAfter != tc.after {
				t.Errorf("%s: got %q after %s, want %q after %s", tc.reason, got, got.RetryAfter, tc.want, tc.after)
			}

			if want := `cannot report "active" to kubeopera-api: ` + tc.want; err.Error() != want {
				t.Errorf("got %q, want %q", err, want)
			}

			if again := c.Put(t.Context(), active()); again == nil || again.Error() != err.Error() {
				t.Errorf("the text is not steady: %q, then %q", err, again)
			}

			if puts, _ := s.seen(); len(puts) != 2*tc.puts {
				t.Errorf("%s: two Puts made %d requests, want %d", tc.reason, len(puts), 2*tc.puts)
			}
		})
	}
}

func errorOfToken(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		_, _ = fmt.Fprint(w, body)
	}
}

func TestPutNeverFollows(t *testing.T) {
	t.Parallel()

	for _, code := range []int{301, 302, 303, 307, 308} {
		t.Run(http.StatusText(code), func(t *testing.T) {
			t.Parallel()

			other, s := newServer(t), newServer(t)
			s.answers(answer(code, "Location", other.URL+"/api/v1/cloudspaces/alice-id/status"), nil)

			e := refusal(t, s.client(t).Put(t.Context(), active()), s.URL, other.URL)
			if !strings.Contains(e.reason, "set KUBEOPERA_API_BASE_URL to where it points") {
				t.Errorf("got %q, want what to do", e)
			}

			if puts, issued := other.seen(); len(puts)+issued != 0 {
				t.Errorf("the other server was asked %v and gave %d tokens", puts, issued)
			}
		})
	}
}

func TestCut(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	s.answers(cut, nil)
	c := newClient(t, Options{BaseURL: s.URL})

	if got := refusal(t, c.Put(t.Context(), active()), s.URL); got.reason != "the connection was cut" {
		t.Errorf("got %q", got)
	}

	s.answers(answer(http.StatusOK), nil)

	if err := c.Put(t.Context(), active()); err != nil {
		t.Errorf("it was not survived: %v", err)
	}

	if puts, _ := s.seen(); len(puts) != 2 || puts[0].key != puts[1].key {
		t.Errorf("want two requests with one key, got %+v", puts)
	}
}

func TestHang(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason     string
		put, token http.HandlerFunc
		want       string
	}{
		"Put":   {reason: "a server that says nothing", put: hang, want: "no answer in time"},
		"Token": {reason: "a token endpoint that says nothing", token: hang, want: "its token endpoint: no answer in time"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newServer(t)
			s.answers(tc.put, tc.token)

			c := s.client(t)
			c.limit = 200 * time.Millisecond

			if got := refusal(t, c.Put(t.Context(), active()), s.URL); got.reason != tc.want {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}

			s.answers(answer(http.StatusOK), s.issue(3600))
			c.limit = putLimit

			if err := c.Put(t.Context(), active()); err != nil {
				t.Errorf("it was not survived: %v", err)
			}
		})
	}
}

func TestCallerGoes(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	ctx, cancel := context.WithCancel(t.Context())
	s.answers(func(w http.ResponseWriter, r *http.Request) {
		cancel()
		hang(w, r)
	}, nil)

	err := s.client(t).Put(ctx, active())
	if !errors.Is(err, context.Canceled) || errors.As(err, new(*Error)) {
		t.Errorf("got %v, want that the caller ended it, which is no fault of the server", err)
	}
}

func TestNoConnection(t *testing.T) {
	t.Parallel()

	plain, secure := newServer(t), httptest.NewTLSServer(answer(http.StatusOK))
	t.Cleanup(secure.Close)

	gone := httptest.NewServer(nil)
	gone.Close()

	cases := map[string]struct {
		reason string
		base   string
		want   string
	}{
		"Refused":   {reason: "nobody listens", base: gone.URL, want: "connection refused"},
		"Untrusted": {reason: "a certificate of one's own", base: secure.URL, want: "x509: certificate signed by unknown authority"},
		"PlainHTTP": {reason: "HTTPS where there is HTTP", base: strings.Replace(plain.URL, "http", "https", 1), want: "it speaks HTTP where HTTPS was expected"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := refusal(t, newClient(t, Options{BaseURL: tc.base}).Put(t.Context(), active()), tc.base)
			if !strings.HasPrefix(got.reason, tc.want) {
				t.Errorf("%s: got %q, want %q", tc.reason, got, tc.want)
			}

			withToken := newClient(t, Options{BaseURL: plain.URL, TokenURL: tc.base, ClientID: clientID, ClientSecret: clientSecret})
			if got := refusal(t, withToken.Put(t.Context(), active()), tc.base); !strings.HasPrefix(got.reason, "its token endpoint: "+tc.want) {
				t.Errorf("%s: got %q, want the same of the token endpoint", tc.reason, got)
			}
		})
	}
}

func TestNewClient(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		o      Options
		want   string
	}{
		"Good":        {reason: "a URL", o: Options{BaseURL: "http://kubeopera-api:8090"}},
		"NoURL":       {reason: "what cannot be parsed is not shown", o: Options{BaseURL: "http://u:" + clientSecret + "@%zz"}, want: "cannot use the address of kubeopera-api: "},
		"NoScheme":    {reason: "a name alone", o: Options{BaseURL: "kubeopera-api:8090"}, want: "cannot use the address of kubeopera-api: "},
		"OtherScheme": {reason: "another protocol", o: Options{BaseURL: "ftp://kubeopera-api"}, want: "cannot use the address of kubeopera-api: "},
		"NoTokenURL":  {reason: "the token endpoint counts too", o: Options{BaseURL: "http://a", TokenURL: "b"}, want: "cannot use the address of kubeopera-api's token endpoint: "},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := NewClient(tc.o)
			if (err != nil) != (tc.want != "") {
				t.Fatalf("%s: got %v", tc.reason, err)
			}

			if err != nil && (!strings.HasPrefix(err.Error(), tc.want) || strings.Contains(err.Error(), clientSecret)) {
				t.Errorf("%s: got %q, want %q and a remedy", tc.reason, err, tc.want)
			}
		})
	}
}

// It runs apart from the others, which count too.
func TestCollectors(t *testing.T) {
	s := newServer(t)
	c := s.client(t)

	accepted := func() float64 { return testutil.ToFloat64(reports.WithLabelValues(resultAccepted)) }
	failed := func() float64 { return testutil.ToFloat64(reports.WithLabelValues(resultFailed)) }
	acceptedBefore, failedBefore := accepted(), failed()

	if err := c.Put(t.Context(), active()); err != nil {
		t.Fatal(err)
	}

	s.answers(answer(http.StatusInternalServerError), nil)

	for range 2 {
		if err := c.Put(t.Context(), active()); err == nil {
			t.Error("a report was accepted by a server that fails")
		}
	}

	ended, cancel := context.WithCancel(t.Context())
	cancel()

	if err := c.Put(ended, active()); err == nil {
		t.Error("a report was put after the caller had gone")
	}

	if got := accepted() - acceptedBefore; got != 1 {
		t.Errorf("%v were accepted, want 1", got)
	}

	if got := failed() - failedBefore; got != 2 {
		t.Errorf("%v failed, want 2: that the caller goes is no failure", got)
	}

	if got := testutil.CollectAndCount(Collectors()[0], "kubeopera_reports_total"); got != 2 {
		t.Errorf("%d series, want one a result", got)
	}
}
