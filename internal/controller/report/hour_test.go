// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// troubledAPI is kubeopera-api, which gives one kind of answer until it is well.
type troubledAPI struct {
	mu       sync.Mutex
	trouble  http.HandlerFunc // nil accepts
	attempts int
	accepted []string
}

func (a *troubledAPI) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/oauth/token" {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, `{"access_token":"token","token_type":"bearer","expires_in":3600}`)

		return
	}

	var body struct{ Status string }

	_ = json.NewDecoder(r.Body).Decode(&body)

	a.mu.Lock()
	trouble := a.trouble
	if a.attempts++; trouble == nil {
		a.accepted = append(a.accepted, body.Status)
	}
	a.mu.Unlock()

	if trouble != nil {
		trouble(w, r)
	}
}

func (a *troubledAPI) heal() {
	a.mu.Lock()
	defer a.mu.Unlock()

	a.trouble = nil
}

func answering(code int, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i < len(headers); i += 2 {
			w.Header().Set(headers[i], headers[i+1])
		}

		w.WriteHeader(code)
	}
}

// hang until the client goes.
func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

// half sends half of the first line of an answer.
func half(w http.ResponseWriter, _ *http.Request) {
	conn, out, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}

	_, _ = out.WriteString("HTTP/1.1 2")
	_ = out.Flush()
	_ = conn.Close()
}

// slowly is a client that really waits for a server that hangs the first time, and
// then has what came of it at once: each attempt takes 10 seconds.
func slowly(put func(context.Context, report.Report) error) func(context.Context, report.Report) error {
	var last error

	return func(ctx context.Context, r report.Report) error {
		if last == nil {
			last = put(ctx, r)
			return last
		}

		return last
	}
}

// TestR3HourOfTrouble has kubeopera-api give one kind of answer for an hour. The Tenant
// stays Ready and says what is wrong, and when it is over its state, and what came
// before it, arrives once and in order.
func TestR3HourOfTrouble(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		trouble http.HandlerFunc
		says    string
		// least and most attempts in an hour; the pause is at most a minute.
		least, most int
	}{
		"R3: 500":                  {answering(500), "it answered 500", 60, 75},
		"R3: 429 with Retry-After": {answering(429, "Retry-After", "300"), "it answered 429", 12, 13},
		"R3: 401":                  {answering(401), "401", 120, 150}, // Each is tried with a new token, too.
		"R3: 404":                  {answering(404), "check that it knows the CloudSpace", 60, 75},
		"R3: a hang":               {hang, "no answer in time", 1, 1},
		"R3: half a response":      {half, "only half of one", 60, 75},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			api := &troubledAPI{trouble: tc.trouble}
			w, put := apiWorld(t, api)

			if name == "R3: a hang" {
				w.r.put = slowly(put)
			}

			w.anHour(tc.says)

			if api.attempts < tc.least || api.attempts > tc.most {
				t.Errorf("%d attempts, want %d to %d", api.attempts, tc.least, tc.most)
			}

			// One write for each report that took the place of another.
			if len(w.writes) > 3 {
				t.Errorf("the same failure was written again: %v", w.writes)
			}

			api.heal()
			w.r.put = put

			for range 3 {
				if _, err := w.reconcile(aliceID); err != nil {
					t.Fatal(err)
				}

				w.clock.SetTime(w.clock.Now().Add(5 * time.Minute))
			}

			if diff := cmp.Diff([]string{"deleted", "active"}, api.accepted); diff != "" {
				t.Errorf("-want, +got:\n%s", diff)
			}

			got := w.tenant("alice")
			if c := got.GetCondition(v1alpha1.TypeReported); c.Status != corev1.ConditionTrue || got.Status.Report.AcceptedAt == nil || w.boxed() != nil {
				t.Errorf("Reported is %s: %s, left %v", c.Status, c.Message, w.boxed())
			}
		})
	}
}

// apiWorld is a Ready Tenant with a predecessor whose end is not told yet, and the real
// client of an API.
func apiWorld(t *testing.T, api http.Handler) (*world, func(context.Context, report.Report) error) {
	t.Helper()

	s := httptest.NewServer(api)
	t.Cleanup(s.Close)

	c, err := report.NewClient(report.Options{BaseURL: s.URL, ClientID: "provider", ClientSecret: "s3cret"})
	if err != nil {
		t.Fatal(err)
	}

	a := reporting(alice(), v1alpha1.ReportProvisioning, 0)
	a.Status.Phase, a.Status.Message = v1alpha1.PhaseReady, "vCluster ready"
	w := newWorld(t, a)
	w.box("uid-before", -time.Minute)
	w.r.put = c.Put

	return w, c.Put
}

// anHour reconciles for so long. The Tenant fails meanwhile, and is Ready again.
func (w *world) anHour(says string) {
	w.t.Helper()

	news := []struct {
		after time.Duration
		state v1alpha1.ReportState
	}{{20 * time.Minute, v1alpha1.ReportFailed}, {40 * time.Minute, v1alpha1.ReportActive}}

	for w.clock.Now().Before(epoch.Add(time.Hour)) {
		if len(news) > 0 && w.clock.Since(epoch) >= news[0].after {
			w.change(func(a *v1alpha1.Tenant) { reporting(a, news[0].state, news[0].after) })
			news = news[1:]
		}

		res, err := w.reconcile(aliceID)
		if err != nil || res.RequeueAfter <= 0 {
			w.t.Fatalf("after %s: %+v, %v", w.clock.Since(epoch), res, err)
		}

		got := w.tenant("alice")
		if c := got.GetCondition(v1alpha1.TypeReported); got.Status.Phase != v1alpha1.PhaseReady || got.Status.Message != "vCluster ready" ||
			c.Status != corev1.ConditionFalse || !strings.Contains(c.Message, says) {
			w.t.Fatalf("after %s: %s, Reported is %s: %s", w.clock.Since(epoch), got.Status.Phase, c.Status, c.Message)
		}

		w.clock.SetTime(w.clock.Now().Add(res.RequeueAfter))
	}
}
