// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// defaultTokenLife is what tokens have when none is asked for.
const defaultTokenLife = time.Hour

// FakeKubeoperaAPIOptions say how the fake runs.
type FakeKubeoperaAPIOptions struct {
	// Address to listen on, such as 10.89.0.1:0.
	Address string
	// ClientID and ClientSecret of the one client that gets tokens. Without a
	// ClientID no token is asked for.
	ClientID, ClientSecret string
	// TokenLife is how long a token is good, in whole seconds. Zero means an hour.
	TokenLife time.Duration
}

// FakeReport is a report that the fake accepted.
type FakeReport struct {
	// CloudSpaceID of the path that it was put to.
	CloudSpaceID string `json:"-"`
	// Key is its Idempotency-Key.
	Key string `json:"-"`

	Status       v1alpha1.ReportState `json:"status"`
	Message      string               `json:"message"`
	VClusterName string               `json:"vclusterName"`
	Generation   int64                `json:"generation"`
	ObservedAt   time.Time            `json:"observedAt"`
}

// complete is true when nothing is missing that the contract asks for.
func (r FakeReport) complete() bool {
	known := []v1alpha1.ReportState{
		v1alpha1.ReportProvisioning, v1alpha1.ReportActive, v1alpha1.ReportFailed, v1alpha1.ReportDeleting, v1alpha1.ReportDeleted,
	}

	return slices.Contains(known, r.Status) && r.Key != "" && r.VClusterName != "" && r.Generation > 0 && !r.ObservedAt.IsZero()
}

// FakeFault is what the fake does to a report instead of accepting it: it hangs,
// cuts the connection, at once or in the middle of its answer, or else answers with
// the code.
type FakeFault struct {
	// Code to answer with.
	Code int
	// RetryAfter is the header of that name, if it is not empty.
	RetryAfter string
	// Hang until the client goes or the server is down.
	Hang bool
	// Cut the connection.
	Cut bool
	// Half of an answer with the code is sent before the connection is cut.
	Half bool
	// Record the report first: the client does not hear that it was accepted.
	Record bool
}

// FakeAttempts are the requests that the fake got since it began.
type FakeAttempts struct {
	// Puts of reports, accepted or not.
	Puts int
	// Repeats are accepted reports that were put again with their key.
	Repeats int
	// Tokens that were given out.
	Tokens int
	// Unauthorized requests, for a token or with one.
	Unauthorized int
}

// FakeKubeoperaAPI is a real HTTP server that stands in for kubeopera-api. It
// gives out tokens for one client and takes the reports of CloudSpaces. It is
// safe for concurrent use.
type FakeKubeoperaAPI struct {
	o FakeKubeoperaAPIOptions

	mu       sync.Mutex
	address  string  // with the port, from the first server on
	server   *Server // nil while it is down
	tokens   map[string]time.Time
	given    []string // tokens that were ever given out
	bodies   [][]byte // of the reports, accepted or not
	faults   []FakeFault
	reports  []FakeReport
	attempts FakeAttempts
}

// StartFakeKubeoperaAPI starts the fake. The caller stops it by Down.
func StartFakeKubeoperaAPI(ctx context.Context, o FakeKubeoperaAPIOptions) (*FakeKubeoperaAPI, error) {
	if o.TokenLife == 0 {
		o.TokenLife = defaultTokenLife
	}

	f := &FakeKubeoperaAPI{o: o, address: o.Address, tokens: map[string]time.Time{}}
	if err := f.Up(ctx); err != nil {
		return nil, err
	}

	return f, nil
}

// URL is the base URL of the API. It stays the same while the server is down.
func (f *FakeKubeoperaAPI) URL() string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return "http://" + f.address
}

// Up listens again, on the same port as before. It does nothing if the server is up.
func (f *FakeKubeoperaAPI) Up(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.server != nil {
		return nil
	}

	s, err := serve(ctx, f.address, &http.Server{Handler: f.routes()}) //nolint:gosec // serve bounds the header.
	if err != nil {
		return fmt.Errorf("cannot start the fake of kubeopera-api: %w", err)
	}

	f.server, f.address = s, s.address

	return nil
}

// Down stops listening and cuts all connections. What was recorded and given out
// is kept. It does nothing if the server is down.
func (f *FakeKubeoperaAPI) Down() error {
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.server == nil {
		return nil
	}

	s := f.server
	f.server = nil

	return s.Close()
}

// Fail the next n reports with the fault. Faults that were asked for before come first.
func (f *FakeKubeoperaAPI) Fail(n int, with FakeFault) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.faults = append(f.faults, slices.Repeat([]FakeFault{with}, n)...)
}

// Heal forgets the faults that are still to come.
func (f *FakeKubeoperaAPI) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.faults = nil
}

// Faults that are still to come.
func (f *FakeKubeoperaAPI) Faults() int {
	f.mu.Lock()
	defer f.mu.Unlock()

	return len(f.faults)
}

// ExpireTokens ends all tokens that were given out.
func (f *FakeKubeoperaAPI) ExpireTokens() {
	f.mu.Lock()
	defer f.mu.Unlock()

	clear(f.tokens)
}

// Reports are those of a CloudSpace that were accepted, in order, each once.
func (f *FakeKubeoperaAPI) Reports(cloudSpaceID string) []FakeReport {
	f.mu.Lock()
	defer f.mu.Unlock()

	var out []FakeReport

	for _, r := range f.reports {
		if r.CloudSpaceID == cloudSpaceID {
			out = append(out, r)
		}
	}

	return out
}

// Statuses are those of the accepted reports of a CloudSpace, in order.
func (f *FakeKubeoperaAPI) Statuses(cloudSpaceID string) []v1alpha1.ReportState {
	var out []v1alpha1.ReportState
	for _, r := range f.Reports(cloudSpaceID) {
		out = append(out, r.Status)
	}

	return out
}

// Bodies of all reports that were put, accepted or not, as they came.
func (f *FakeKubeoperaAPI) Bodies() [][]byte {
	f.mu.Lock()
	defer f.mu.Unlock()

	return slices.Clone(f.bodies)
}

// Credentials are the secret of the client, and all tokens that were ever given out.
func (f *FakeKubeoperaAPI) Credentials() []string {
	f.mu.Lock()
	defer f.mu.Unlock()

	return append([]string{f.o.ClientSecret}, f.given...)
}

// Attempts are the requests so far.
func (f *FakeKubeoperaAPI) Attempts() FakeAttempts {
	f.mu.Lock()
	defer f.mu.Unlock()

	return f.attempts
}

func (f *FakeKubeoperaAPI) routes() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("POST /oauth/token", f.giveToken)
	m.HandleFunc("PUT /api/v1/cloudspaces/{id}/status", f.takeReport)

	return m
}

// giveToken is the OAuth 2.0 token endpoint for client credentials.
func (f *FakeKubeoperaAPI) giveToken(w http.ResponseWriter, r *http.Request) {
	id, secret, basic := r.BasicAuth()
	if basic {
		// RFC 6749, section 2.3.1: both are form-encoded first.
		id, _ = url.QueryUnescape(id)
		secret, _ = url.QueryUnescape(secret)
	} else {
		id, secret = r.PostFormValue("client_id"), r.PostFormValue("client_secret")
	}

	f.mu.Lock()
	defer f.mu.Unlock()

	switch {
	case r.PostFormValue("grant_type") != "client_credentials":
		reply(w, http.StatusBadRequest, map[string]any{"error": "unsupported_grant_type"})
		return
	case id != f.o.ClientID || secret != f.o.ClientSecret:
		f.attempts.Unauthorized++
		reply(w, http.StatusUnauthorized, map[string]any{"error": "invalid_client"})

		return
	}

	token := rand.Text()
	f.tokens[token] = time.Now().Add(f.o.TokenLife)
	f.given = append(f.given, token)
	f.attempts.Tokens++
	reply(w, http.StatusOK, map[string]any{"access_token": token, "token_type": "Bearer", "expires_in": int(f.o.TokenLife.Seconds())})
}

// takeReport answers as kubeopera-api does, unless a fault is due.
func (f *FakeKubeoperaAPI) takeReport(w http.ResponseWriter, r *http.Request) {
	// All of it is read first: only then a server notices that its client goes.
	raw, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler)
	}

	code, fault := f.decide(r, raw)

	switch {
	case fault.Hang:
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	case fault.Cut:
		panic(http.ErrAbortHandler)
	}

	if fault.RetryAfter != "" {
		w.Header().Set("Retry-After", fault.RetryAfter)
	}

	if fault.Half {
		halfReply(w, code)
	}

	reply(w, code, map[string]any{})
}

// decide the answer to a report. A fault comes before all else.
func (f *FakeKubeoperaAPI) decide(r *http.Request, raw []byte) (int, FakeFault) {
	f.mu.Lock()
	defer f.mu.Unlock()

	f.attempts.Puts++
	f.bodies = append(f.bodies, raw)

	if len(f.faults) == 0 {
		return f.accept(r, raw), FakeFault{}
	}

	fault := f.faults[0]
	f.faults = f.faults[1:]

	if fault.Record {
		f.accept(r, raw)
	}

	return fault.Code, fault
}

// accept a report and record it, once for each key. It returns the status code.
func (f *FakeKubeoperaAPI) accept(r *http.Request, raw []byte) int {
	if f.o.ClientID != "" && !f.knows(r.Header.Get("Authorization")) {
		f.attempts.Unauthorized++
		return http.StatusUnauthorized
	}

	got := FakeReport{CloudSpaceID: r.PathValue("id"), Key: r.Header.Get("Idempotency-Key")}
	if err := json.Unmarshal(raw, &got); err != nil || !got.complete() {
		return http.StatusBadRequest
	}

	for _, was := range f.reports {
		if was.Key != got.Key {
			continue
		}

		if was != got {
			return http.StatusUnprocessableEntity
		}

		f.attempts.Repeats++

		return http.StatusOK
	}

	f.reports = append(f.reports, got)

	return http.StatusOK
}

// knows a token that was given out and has not expired.
func (f *FakeKubeoperaAPI) knows(authorization string) bool {
	token, ok := strings.CutPrefix(authorization, "Bearer ")
	until, given := f.tokens[token]

	return ok && given && time.Now().Before(until)
}

// halfReply sends a header and the beginning of the body that it promises.
func halfReply(w http.ResponseWriter, code int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	w.WriteHeader(code)
	_, _ = io.WriteString(w, `{"sta`)
	_ = http.NewResponseController(w).Flush()

	panic(http.ErrAbortHandler)
}

func reply(w http.ResponseWriter, code int, body map[string]any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // The client may have gone.
}
