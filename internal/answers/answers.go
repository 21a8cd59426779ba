// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package answers keeps what something between says apart from what an API server
// says.
//
// A load balancer without a backend, or a proxy that lost its cluster, answers each
// read with a page and the code 404, or with nothing at all and the code 200. To a
// client the first is an object that does not exist, and the second one without
// content. Here both are failures, as if there were no answer, and so are the pages of
// a gateway. What is longer than an honest answer is not read to its end.
package answers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"regexp"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// maxStatus bounds what is read of an answer that says that something is absent.
	maxStatus = 64 << 10
	// tiny is the length of an answer, in bytes, up to which it may be as good as none.
	tiny = 4
)

// Check has all clients that are made of cfg fail at such answers, with a text that
// says so.
func Check(cfg *rest.Config) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return checker{next: next} })
}

// None says whether a request of a client failed since no API server answered it: there
// was no answer in time, no connection, or who answered was something between. A refusal
// or failure that an API server sent is an answer.
func None(err error) bool {
	var answered kerrors.APIStatus
	if errors.As(err, &answered) {
		return false
	}

	var n net.Error

	return errors.As(err, &n) && !errors.Is(err, context.Canceled)
}

// ofGateway says whether something between answers with that code when it gets no answer
// itself. An API server has a Status to go with it.
func ofGateway(code int) bool {
	return code == http.StatusBadGateway || code == http.StatusServiceUnavailable || code == http.StatusGatewayTimeout
}

type checker struct{ next http.RoundTripper }

// RoundTrip asks, and looks at the answer.
func (c checker) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := c.next.RoundTrip(r)
	if err != nil || r.Method != http.MethodGet {
		return resp, err
	}

	switch {
	case resp.StatusCode == http.StatusNotFound && object.MatchString(r.URL.Path):
		return check(r, resp, maxStatus, isStatus)
	case ofGateway(resp.StatusCode) && core.MatchString(r.URL.Path):
		return check(r, resp, maxStatus, isStatus)
	case resp.StatusCode == http.StatusOK && resp.ContentLength >= 0 && resp.ContentLength <= tiny:
		return check(r, resp, tiny, isContent)
	default:
		return resp, nil
	}
}

// object is the path of objects. That of a whole API says nothing of any: an API
// server answers with a page to one that it does not have.
var object = regexp.MustCompile(`/(api/[^/]+|apis/[^/]+/[^/]+)/[^/]+`)

// core is the path of what an API server serves itself. For other groups it may be what
// is between, and says with a page that the one which serves them does not answer.
var core = regexp.MustCompile(`/(api(/v1(/.*)?)?|apis)$`)

// check the body of the answer, and fail as if there were none if it is wrong.
func check(r *http.Request, resp *http.Response, limit int64, right func([]byte) bool) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	_ = resp.Body.Close() // All of it that matters was read.

	if err != nil {
		return nil, fmt.Errorf("cannot read the answer to %s %s: %w", r.Method, r.URL.Path, err)
	}

	if !right(body) {
		return nil, fmt.Errorf("the answer %d of type %q to %s %s is none of an API server: something between answered in its stead",
			resp.StatusCode, resp.Header.Get("Content-Type"), r.Method, r.URL.Path)
	}

	resp.Body, resp.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))

	return resp, nil
}

// protobuf is how an object in that encoding begins.
var protobuf = []byte("k8s\x00")

// isStatus says whether the body is what an API server sends with an error.
func isStatus(body []byte) bool {
	if bytes.HasPrefix(body, protobuf) {
		return true
	}

	var s metav1.TypeMeta

	return json.Unmarshal(body, &s) == nil && s.Kind == "Status"
}

// isContent says whether there is anything in the body.
func isContent(body []byte) bool {
	switch string(bytes.TrimSpace(body)) {
	case "", "{}", "null":
		return false
	default:
		return true
	}
}
