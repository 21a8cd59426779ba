// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

func TestTokenIsUsedAgain(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	s.answers(s.only(1), nil)
	c := s.client(t)

	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if err := c.Put(t.Context(), active()); err != nil {
				t.Error(err)
			}
		})
	}

	all.Wait()

	if puts, issued := s.seen(); issued != 1 || len(puts) != 8 {
		t.Errorf("8 Puts made %d requests with %d tokens, want 8 with 1", len(puts), issued)
	}
}

func TestTokenExpires(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	s.answers(nil, s.issue(1)) // Less than what the library takes for valid.
	c := s.client(t)

	for range 2 {
		if err := c.Put(t.Context(), active()); err != nil {
			t.Fatal(err)
		}
	}

	puts, issued := s.seen()
	if issued != 2 || len(puts) != 2 || puts[0].authorization == puts[1].authorization {
		t.Errorf("2 Puts made %d requests with %d tokens, want 2 with a token each", len(puts), issued)
	}
}

func TestTokenIsRefused(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		good   int
		err    string
		puts   int
		tokens int
	}{
		"Once":  {reason: "a new token is taken at once", good: 2, puts: 2, tokens: 2},
		"Twice": {reason: "but only once", good: 99, err: "it answered 401 Unauthorized to a new token; check that it takes the tokens of KUBEOPERA_TOKEN_URL", puts: 2, tokens: 2},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := newServer(t)
			s.answers(s.only(tc.good), nil)

			err := s.client(t).Put(t.Context(), active())
			if tc.err == "" && err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			if tc.err != "" {
				if got := refusal(t, err, s.URL); got.reason != tc.err {
					t.Errorf("%s: got %q, want %q", tc.reason, got, tc.err)
				}
			}

			puts, issued := s.seen()
			if len(puts) != tc.puts || issued != tc.tokens {
				t.Fatalf("%s: %d requests with %d tokens, want %d with %d", tc.reason, len(puts), issued, tc.puts, tc.tokens)
			}

			if puts[0].key != puts[1].key || puts[0].authorization == puts[1].authorization {
				t.Errorf("%s: want one key and two tokens, got %+v", tc.reason, puts)
			}
		})
	}
}

// The token endpoint is away when a token is refused: the refused one must not
// come back.
func TestRefusedTokenIsDropped(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	c := s.client(t)

	if err := c.Put(t.Context(), active()); err != nil {
		t.Fatal(err)
	}

	s.answers(s.only(2), cut)
	if got := refusal(t, c.Put(t.Context(), active()), s.URL); got.reason != "its token endpoint: the connection was cut" {
		t.Errorf("got %q", got)
	}

	s.answers(nil, s.issue(3600))
	if err := c.Put(t.Context(), active()); err != nil {
		t.Error(err)
	}

	if puts, issued := s.seen(); len(puts) != 3 || issued != 2 {
		t.Errorf("%d requests with %d tokens, want 3 with 2", len(puts), issued)
	}
}

func TestUnauthorizedWithoutID(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	s.answers(answer(http.StatusUnauthorized), nil)

	got := refusal(t, newClient(t, Options{BaseURL: s.URL}).Put(t.Context(), active()), s.URL)
	if want := "it answered 401 Unauthorized; set SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET"; got.reason != want {
		t.Errorf("got %q, want %q", got, want)
	}

	if puts, _ := s.seen(); len(puts) != 1 {
		t.Errorf("%d requests, want 1: there is no other token to try", len(puts))
	}
}

func TestTokenURL(t *testing.T) {
	t.Parallel()

	other, s := newServer(t), newServer(t)
	c := newClient(t, Options{BaseURL: s.URL, TokenURL: other.URL + "/oauth/token", ClientID: clientID, ClientSecret: clientSecret})

	if err := c.Put(t.Context(), active()); err != nil {
		t.Fatal(err)
	}

	if _, issued := other.seen(); issued != 1 {
		t.Errorf("the token endpoint gave %d tokens, want 1", issued)
	}
}

// Whoever waits for another's token waits no longer than for their own.
func TestHangHoldsNobody(t *testing.T) {
	t.Parallel()

	s := newServer(t)
	s.answers(nil, hang)
	c := s.client(t)
	c.limit = 200 * time.Millisecond

	start := time.Now()

	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if got := refusal(t, c.Put(t.Context(), active()), s.URL); got.reason != "its token endpoint: no answer in time" {
				t.Errorf("got %q", got)
			}
		})
	}

	all.Wait()

	if d := time.Since(start); d > 15*c.limit {
		t.Errorf("20 Puts took %s, want about %s", d, c.limit)
	}
}
