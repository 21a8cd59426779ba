// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package answers keeps what something between says apart from what an API server
// says.
//
// A load balancer without a backend, or a proxy that lost its cluster, answers each
// read with a page and the code 404, or with nothing at all and the code 200. To a
// client the first is an object that does not exist, and the second one without
// content. Here both become the failures that they are.
package answers

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
)

const (
	// maxStatus bounds what is read of an answer that says that something is absent.
	maxStatus = 64 << 10
	// tiny is the length of an answer, in bytes, up to which it may be as good as none.
	tiny = 4
)

// Check has all clients that are made of cfg get such answers as the failure 502,
// with a text that says so.
func Check(cfg *rest.Config) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return checker{next: next} })
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
	case resp.StatusCode == http.StatusOK && resp.ContentLength >= 0 && resp.ContentLength <= tiny:
		return check(r, resp, tiny, isContent)
	default:
		return resp, nil
	}
}

// object is the path of objects. That of a whole API says nothing of any: an API
// server answers with a page to one that it does not have.
var object = regexp.MustCompile(`/(api/[^/]+|apis/[^/]+/[^/]+)/[^/]+`)

// check the body of the answer, and replace the answer by a failure if it is wrong.
func check(r *http.Request, resp *http.Response, limit int64, right func([]byte) bool) (*http.Response, error) {
	body, err := io.ReadAll(io.LimitReader(resp.Body, limit))
	_ = resp.Body.Close() // All of it that matters was read.

	if err != nil {
		return nil, fmt.Errorf("cannot read the answer to %s %s: %w", r.Method, r.URL.Path, err)
	}

	if !right(body) {
		return failure(r, resp)
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

// failure stands for an answer that no API server gave.
func failure(r *http.Request, was *http.Response) (*http.Response, error) {
	s := &metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Reason:   metav1.StatusReasonInternalError,
		Code:     http.StatusBadGateway,
		Message: fmt.Sprintf("the answer %d of type %q to %s %s is none of an API server: something between answered in its stead",
			was.StatusCode, was.Header.Get("Content-Type"), r.Method, r.URL.Path),
	}

	raw, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}

	return &http.Response{
		Status:        strconv.Itoa(http.StatusBadGateway) + " " + http.StatusText(http.StatusBadGateway),
		StatusCode:    http.StatusBadGateway,
		Proto:         was.Proto,
		ProtoMajor:    was.ProtoMajor,
		ProtoMinor:    was.ProtoMinor,
		Header:        http.Header{"Content-Type": {"application/json"}},
		Body:          io.NopCloser(bytes.NewReader(raw)),
		ContentLength: int64(len(raw)),
		Request:       r,
	}, nil
}
