// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"k8s.io/client-go/rest"
)

// How long an answer may be, in bytes.
const (
	// MaxOfHost is for host clusters: the longest are lists of all volumes and of all
	// objects with a label.
	MaxOfHost = 64 << 20
	// MaxOfTenant is for the APIs inside vClusters, whose answers are a tenant's to choose:
	// the longest are the Secrets of a release's revisions, of up to 1 MiB each, and the
	// Deployments beside Flux.
	MaxOfTenant = 16 << 20
)

// ErrTooLong says that a server answers with more than is read of it.
var ErrTooLong = errors.New("the answer is too long")

// Bound has all clients that are made of cfg fail at an answer that is longer than limit,
// once it is unpacked. A watch, which has no end, is none: its events are bounded one by
// one where they are decoded.
func Bound(cfg *rest.Config, limit int64) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounder{next: next, limit: limit} })
}

type bounder struct {
	next  http.RoundTripper
	limit int64
}

// RoundTrip asks, and has the reading of the answer fail where it gets too long.
func (b bounder) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.next.RoundTrip(r)
	if err != nil || isWatch(r) {
		return resp, err
	}

	resp.Body = &boundedBody{
		ReadCloser: resp.Body, left: b.limit,
		tooLong: fmt.Errorf("%w: %s://%s answers to %s %s with more than %d MiB", ErrTooLong, r.URL.Scheme, r.URL.Host, r.Method, r.URL.Path, b.limit>>20),
	}

	return resp, nil
}

func isWatch(r *http.Request) bool {
	watch, err := strconv.ParseBool(r.URL.Query().Get("watch"))
	return err == nil && watch
}

// boundedBody is the body of an answer, up to a length.
type boundedBody struct {
	io.ReadCloser

	left    int64
	tooLong error
}

// Read errs once there is more than the limit.
func (b *boundedBody) Read(p []byte) (int, error) {
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}

	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, b.tooLong
	}

	return n, err
}
