// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

const (
	fakeID     = "provider"
	fakeSecret = "a secret: with & signs"
)

func startFake(t *testing.T, o FakeKubeoperaAPIOptions) *FakeKubeoperaAPI {
	t.Helper()

	if o.Address == "" {
		o.Address = "127.0.0.1:0"
	}

	f, err := StartFakeKubeoperaAPI(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		if err := f.Down(); err != nil {
			t.Error(err)
		}
	})

	return f
}

// withToken is a fake that asks for a token, and the provider's own client of it.
func withToken(t *testing.T) (*FakeKubeoperaAPI, *report.Client) {
	t.Helper()

	f := startFake(t, FakeKubeoperaAPIOptions{ClientID: fakeID, ClientSecret: fakeSecret})

	return f, clientOf(t, f, fakeSecret)
}

func clientOf(t *testing.T, f *FakeKubeoperaAPI, secret string) *report.Client {
	t.Helper()

	c, err := report.NewClient(report.Options{BaseURL: f.URL(), ClientID: fakeID, ClientSecret: secret})
	if err != nil {
		t.Fatal(err)
	}

	return c
}

func reportOf(id string, s v1alpha1.ReportState) report.Report {
	return report.Report{
		TenantUID: "uid-alice", CloudSpaceID: id, Status: s, Message: "as observed", VClusterName: "vc-alice",
		Generation: 1, ObservedAt: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
	}
}

func TestFakeRecords(t *testing.T) {
	t.Parallel()

	f, c := withToken(t)
	for _, r := range []report.Report{
		reportOf("alice", v1alpha1.ReportProvisioning), reportOf("bob", v1alpha1.ReportFailed), reportOf("alice", v1alpha1.ReportActive), reportOf("alice", v1alpha1.ReportProvisioning),
	} {
		if err := c.Put(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}

	want := []v1alpha1.ReportState{v1alpha1.ReportProvisioning, v1alpha1.ReportActive}
	if diff := cmp.Diff(want, f.Statuses("alice")); diff != "" {
		t.Errorf("each report of the CloudSpace counts once, in order; -want, +got:\n%s", diff)
	}

	first := reportOf("alice", v1alpha1.ReportProvisioning)
	if diff := cmp.Diff(FakeReport{
		CloudSpaceID: "alice", Key: first.Key(), Status: first.Status, Message: first.Message,
		VClusterName: first.VClusterName, Generation: first.Generation, ObservedAt: first.ObservedAt,
	}, f.Reports("alice")[0]); diff != "" {
		t.Errorf("-want, +got:\n%s", diff)
	}

	if got, want := f.Attempts(), (FakeAttempts{Puts: 4, Repeats: 1, Tokens: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestFakeFaults(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		fault    FakeFault
		want     string
		after    time.Duration
		recorded bool
	}{
		"Code":     {reason: "a code", fault: FakeFault{Code: 500}, want: "it answered 500 Internal Server Error"},
		"Busy":     {reason: "a code with a time", fault: FakeFault{Code: 429, RetryAfter: "7"}, want: "it answered 429 Too Many Requests", after: 7 * time.Second},
		"Cut":      {reason: "no answer", fault: FakeFault{Cut: true}, want: "the connection was cut"},
		"Recorded": {reason: "accepted, and nobody hears of it", fault: FakeFault{Cut: true, Record: true}, want: "the connection was cut", recorded: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f, c := withToken(t)
			// Go's transport tries a connection again that was cut after it had been used.
			f.Fail(2, tc.fault)

			var err error
			for f.Faults() > 0 {
				err = c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive))
			}

			e := &report.Error{}
			if !errors.As(err, &e) || e.Error() != tc.want || e.RetryAfter != tc.after {
				t.Errorf("%s: got %v, want %q after %s", tc.reason, err, tc.want, tc.after)
			}

			if recorded := len(f.Reports("alice")) == 1; recorded != tc.recorded {
				t.Errorf("%s: recorded %t, want %t", tc.reason, recorded, tc.recorded)
			}

			if err := c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)); err != nil {
				t.Errorf("%s: after the fault: %v", tc.reason, err)
			}

			if n := len(f.Reports("alice")); n != 1 {
				t.Errorf("%s: recorded %d times, want once", tc.reason, n)
			}
		})
	}
}

func TestFakeHangs(t *testing.T) {
	t.Parallel()

	f, c := withToken(t)
	f.Fail(1, FakeFault{Hang: true})

	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()

	if err := c.Put(ctx, reportOf("alice", v1alpha1.ReportActive)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want no answer", err)
	}

	// What hangs must not hold Down back.
	f.Fail(1, FakeFault{Hang: true})

	answer := make(chan error, 1)

	go func() { answer <- c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)) }()

	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, 5*time.Second, true, func(context.Context) (bool, error) {
		return f.Faults() == 0, nil
	})
	if err != nil {
		t.Fatal(err)
	}

	if err := f.Down(); err != nil {
		t.Fatal(err)
	}

	if err := <-answer; !errors.As(err, new(*report.Error)) {
		t.Errorf("got %v, want that the connection was cut", err)
	}
}

func TestFakeGoesDownAndUp(t *testing.T) {
	t.Parallel()

	// An address of its own: nobody else takes the port in between.
	f := startFake(t, FakeKubeoperaAPIOptions{Address: "127.83.0.1:0", ClientID: fakeID, ClientSecret: fakeSecret})
	c, base := clientOf(t, f, fakeSecret), f.URL()

	for range 5 {
		for range 2 {
			if err := f.Down(); err != nil {
				t.Fatal(err)
			}
		}

		if err := c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)); err == nil || !strings.Contains(err.Error(), "connection refused") {
			t.Fatalf("got %v, want that nobody listens", err)
		}

		for range 2 {
			if err := f.Up(t.Context()); err != nil {
				t.Fatal(err)
			}
		}

		if err := c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)); err != nil {
			t.Fatal(err)
		}
	}

	if n := len(f.Reports("alice")); n != 1 || f.URL() != base {
		t.Errorf("recorded %d times at %s, want once at %s", n, f.URL(), base)
	}
}

func TestFakeTokens(t *testing.T) {
	t.Parallel()

	f, c := withToken(t)
	for range 2 {
		f.ExpireTokens()

		if err := c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)); err != nil {
			t.Fatal(err)
		}
	}

	if got, want := f.Attempts(), (FakeAttempts{Puts: 3, Repeats: 1, Tokens: 2, Unauthorized: 1}); got != want {
		t.Errorf("got %+v, want %+v: an expired token is refused once", got, want)
	}

	if err := clientOf(t, f, "wrong").Put(t.Context(), reportOf("alice", v1alpha1.ReportFailed)); err == nil || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("with a wrong secret: got %v", err)
	}

	short := startFake(t, FakeKubeoperaAPIOptions{ClientID: fakeID, ClientSecret: fakeSecret, TokenLife: time.Second})
	brief := clientOf(t, short, fakeSecret)

	for range 2 {
		if err := brief.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)); err != nil {
			t.Fatal(err)
		}
	}

	if got := short.Attempts().Tokens; got != 2 {
		t.Errorf("%d tokens, want one each time: they are about to expire", got)
	}
}

func TestFakeWithoutTokens(t *testing.T) {
	t.Parallel()

	f := startFake(t, FakeKubeoperaAPIOptions{})

	c, err := report.NewClient(report.Options{BaseURL: f.URL()})
	if err != nil {
		t.Fatal(err)
	}

	if err := c.Put(t.Context(), reportOf("alice", v1alpha1.ReportActive)); err != nil {
		t.Error(err)
	}
}

// The fake holds the provider to the contract.
func TestFakeRefuses(t *testing.T) {
	t.Parallel()

	const path, good = "/api/v1/cloudspaces/alice/status",
		`{"status":"active","message":"","vclusterName":"vc-alice","generation":1,"observedAt":"2026-11-29T12:00:00Z"}`

	cases := map[string]struct {
		reason            string
		method, path, key string
		body              string
		want              int
	}{
		"Good":         {reason: "all is there", method: http.MethodPut, path: path, key: "new", body: good, want: 200},
		"Again":        {reason: "the same report with its key", method: http.MethodPut, path: path, key: "used", body: good, want: 200},
		"KeyUsedTwice": {reason: "another report with the key", method: http.MethodPut, path: path, key: "used", body: strings.Replace(good, "active", "failed", 1), want: 422},
		"OtherPlace":   {reason: "another CloudSpace with the key", method: http.MethodPut, path: strings.Replace(path, "alice", "bob", 1), key: "used", body: good, want: 422},
		"NoKey":        {reason: "no key", method: http.MethodPut, path: path, body: good, want: 400},
		"NoJSON":       {reason: "no JSON", method: http.MethodPut, path: path, key: "new", body: good[1:], want: 400},
		"OtherStatus":  {reason: "a status that is none", method: http.MethodPut, path: path, key: "new", body: strings.Replace(good, "active", "ready", 1), want: 400},
		"NoName":       {reason: "no vCluster", method: http.MethodPut, path: path, key: "new", body: strings.Replace(good, "vclusterName", "name", 1), want: 400},
		"NoGeneration": {reason: "no generation", method: http.MethodPut, path: path, key: "new", body: strings.Replace(good, ":1,", ":0,", 1), want: 400},
		"NoTime":       {reason: "no time", method: http.MethodPut, path: path, key: "new", body: strings.Replace(good, "observedAt", "at", 1), want: 400},
		"OtherPath":    {reason: "no such place", method: http.MethodPut, path: "/status", key: "new", body: good, want: 404},
		"OtherMethod":  {reason: "no such request", method: http.MethodPost, path: path, key: "new", body: good, want: 405},
		"OtherGrant":   {reason: "a grant of another kind", method: http.MethodPost, path: "/oauth/token", body: "grant_type=password", want: 400},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			f := startFake(t, FakeKubeoperaAPIOptions{})
			if got := send(t, http.MethodPut, f.URL()+path, "used", good); got != http.StatusOK {
				t.Fatalf("the first report got %d", got)
			}

			if got := send(t, tc.method, f.URL()+tc.path, tc.key, tc.body); got != tc.want {
				t.Errorf("%s: got %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

// send a request and return the status code of its answer.
func send(t *testing.T, method, to, key, body string) int {
	t.Helper()

	r, err := http.NewRequestWithContext(t.Context(), method, to, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}

	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Idempotency-Key", key)

	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}

	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}

	return resp.StatusCode
}

func TestFakeNeedsItsAddress(t *testing.T) {
	t.Parallel()

	f := startFake(t, FakeKubeoperaAPIOptions{})

	// It is tried more than once, but not for longer than its caller waits.
	ctx, cancel := context.WithTimeout(t.Context(), pollInterval/2)
	defer cancel()

	_, err := StartFakeKubeoperaAPI(ctx, FakeKubeoperaAPIOptions{Address: strings.TrimPrefix(f.URL(), "http://")})
	if !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("got %v, want that the address is in use", err)
	}
}
