// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// putLimit bounds one Put with all its requests.
	putLimit = 10 * time.Second
	// maxDrained is how much of an answer is read to use its connection again, in bytes.
	maxDrained = 64 << 10

	headerKey = "Idempotency-Key"
)

// Options of a Client.
type Options struct {
	// BaseURL of kubeopera-api, such as http://kubeopera-api:8090.
	BaseURL string
	// TokenURL of its OAuth 2.0 token endpoint. Empty means {BaseURL}/oauth/token.
	TokenURL string
	// ClientID and ClientSecret are the provider's own at kubeopera-api. Without a
	// ClientID requests carry no token.
	ClientID     string
	ClientSecret string
}

// Client puts reports at kubeopera-api. It is safe for concurrent use.
type Client struct {
	base   *url.URL
	http   *http.Client
	tokens *tokens // nil without a ClientID
	limit  time.Duration
	now    func() time.Time
}

// NewClient makes a client. Nothing is asked of the server yet. It errs when a
// URL is none.
func NewClient(o Options) (*Client, error) {
	base, err := parseURL(o.BaseURL)
	if err != nil {
		return nil, fmt.Errorf("cannot use the address of kubeopera-api: %w", err)
	}

	token := base.JoinPath("oauth", "token")
	if o.TokenURL != "" {
		if token, err = parseURL(o.TokenURL); err != nil {
			return nil, fmt.Errorf("cannot use the address of kubeopera-api's token endpoint: %w", err)
		}
	}

	c := &Client{
		base: base,
		http: &http.Client{
			Transport: newTransport(),
			// A token must not follow to wherever an answer points.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		limit: putLimit,
		now:   time.Now,
	}

	if o.ClientID != "" {
		c.tokens = newTokens(c.http, token.String(), o.ClientID, o.ClientSecret)
	}

	return c, nil
}

// newTransport is Go's own, apart from everyone else's connections.
func newTransport() http.RoundTripper {
	if t, ok := http.DefaultTransport.(*http.Transport); ok {
		return t.Clone()
	}

	return http.DefaultTransport
}

func parseURL(s string) (*url.URL, error) {
	u, err := url.Parse(s)
	if err == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https") {
		return u, nil
	}

	// The parser's error repeats the URL, and with it a password in it.
	return nil, errors.New("it is not a URL with http or https and a host; set it to one such as http://kubeopera-api:8090")
}

// body is what kubeopera-api is sent.
type body struct {
	Status       v1alpha1.ReportState `json:"status"`
	Message      string               `json:"message"`
	VClusterName string               `json:"vclusterName"`
	Generation   int64                `json:"generation"`
	ObservedAt   string               `json:"observedAt"`
}

// Put brings a report to kubeopera-api and returns nil once it is accepted. It
// takes 10 seconds at most. The same report can be put again: its key says that
// it is the same. It errs with an *Error, or when ctx ends.
func (c *Client) Put(ctx context.Context, r Report) error {
	within, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()

	err := c.put(within, r)
	if err == nil {
		countAccepted()
		return nil
	}

	if ctx.Err() != nil {
		err = ctx.Err()
	} else {
		countFailed()
	}

	return fmt.Errorf("cannot report %q to kubeopera-api: %w", r.Status, err)
}

func (c *Client) put(ctx context.Context, r Report) error {
	if c.tokens == nil {
		return c.send(ctx, r, nil)
	}

	token, err := c.tokens.get(ctx, nil)
	if err != nil {
		return tokenError(ctx, err, c.now())
	}

	err = c.send(ctx, r, token)
	if e := (&Error{}); !errors.As(err, &e) || e.code != http.StatusUnauthorized {
		return err
	}

	// It may have been revoked, or the clocks differ. A new one shows which.
	if token, err = c.tokens.get(ctx, token); err != nil {
		return tokenError(ctx, err, c.now())
	}

	return c.send(ctx, r, token)
}

// send makes one request and errs with an *Error unless the answer is 2xx.
func (c *Client) send(ctx context.Context, r Report, token *oauth2.Token) error {
	raw, err := json.Marshal(body{
		Status: r.Status, Message: r.Message, VClusterName: r.VClusterName, Generation: r.Generation, ObservedAt: r.observedAt(),
	})
	if err != nil {
		return fmt.Errorf("cannot encode a report: %w", err)
	}

	to := c.base.JoinPath("api", "v1", "cloudspaces", url.PathEscape(r.CloudSpaceID), "status")

	req, err := http.NewRequestWithContext(ctx, http.MethodPut, to.String(), bytes.NewReader(raw))
	if err != nil {
		return &Error{reason: "the request cannot be made"}
	}

	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json")
	req.Header.Set(headerKey, r.Key())

	if token != nil {
		token.SetAuthHeader(req)
	}

	resp, err := c.http.Do(req)
	if err != nil {
		return &Error{reason: reasonOf(err)}
	}
	defer func() { _ = resp.Body.Close() }()

	// What the answer says counts from its first line on. The rest is read only to
	// keep the connection.
	_, _ = io.CopyN(io.Discard, resp.Body, maxDrained)

	return answerError(resp, token != nil, c.now())
}
