// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"net/http"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
	"golang.org/x/sync/semaphore"
)

// tokens hand out one token until it expires or is refused. The library's own
// cache knows neither a refusal nor the context of who asks.
type tokens struct {
	config *clientcredentials.Config
	http   *http.Client

	one     *semaphore.Weighted // guards current
	current *oauth2.Token
}

func newTokens(h *http.Client, tokenURL, id, secret string) *tokens {
	return &tokens{
		config: &clientcredentials.Config{ClientID: id, ClientSecret: secret, TokenURL: tokenURL},
		http:   h,
		one:    semaphore.NewWeighted(1),
	}
}

// get a token that is valid and is not the refused one, if any. Several callers
// wait for one request.
func (t *tokens) get(ctx context.Context, refused *oauth2.Token) (*oauth2.Token, error) {
	if err := t.one.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer t.one.Release(1)

	if refused != nil && t.current == refused {
		t.current = nil
	}

	if t.current.Valid() {
		return t.current, nil
	}

	fresh, err := t.config.Token(context.WithValue(ctx, oauth2.HTTPClient, t.http))
	if err != nil {
		return nil, err
	}

	t.current = fresh

	return fresh, nil
}
