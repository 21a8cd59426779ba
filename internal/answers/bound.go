// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package answers

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"k8s.io/client-go/rest"
)

// Limits are how much an answer may hold once it is unpacked, or one event of a watch, which
// as a whole has no end.
type Limits struct {
	// Bytes of it.
	Bytes int64
	// Values are the objects, lists and elements of lists in it: a few bytes of JSON can
	// become an object of a kilobyte in memory. Zero is no limit. With one, an answer is asked
	// for and read as JSON only.
	Values int
}

var (
	// OfHost is for host clusters: the longest are lists of all volumes and of all objects
	// with a label.
	OfHost = Limits{Bytes: 64 << 20}
	// OfTenant is for the APIs inside vClusters, whose answers are a tenant's to choose: the
	// longest are the Secrets of a release's revisions, of up to 1 MiB each, and the
	// Deployments beside Flux.
	OfTenant = Limits{Bytes: 16 << 20, Values: 200_000}
)

// ErrTooLong says that a server answers with more than is read of it.
var ErrTooLong = errors.New("the answer is too long")

// Bound has all clients that are made of cfg fail at an answer with more than that.
func Bound(cfg *rest.Config, to Limits) {
	cfg.Wrap(func(next http.RoundTripper) http.RoundTripper { return bounder{next: next, limits: to} })
}

type bounder struct {
	next   http.RoundTripper
	limits Limits
}

// RoundTrip asks, and has the reading of the answer fail where it gets too long.
func (b bounder) RoundTrip(r *http.Request) (*http.Response, error) {
	if b.limits.Values > 0 {
		r = r.Clone(r.Context())
		r.Header.Set("Accept", onlyJSON(r.Header.Get("Accept")))
	}

	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}

	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")) // What is no type is none that is read.
	who := fmt.Sprintf("%s://%s answers to %s %s", r.URL.Scheme, r.URL.Host, r.Method, r.URL.Path)
	body := &boundedBody{ReadCloser: resp.Body, limits: b.limits, who: who, watch: isWatch(r), json: kind == contentJSON}

	if b.limits.Values > 0 && !body.json && !strings.HasPrefix(kind, "text/") {
		body.refused = fmt.Errorf("%s with the type %q, which was not asked for", who, kind)
	}

	resp.Body = body

	return resp, nil
}

const contentJSON = "application/json"

// onlyJSON leaves of what is accepted only what is JSON.
func onlyJSON(accept string) string {
	kept := slices.DeleteFunc(strings.Split(accept, ","), func(one string) bool {
		kind, _, err := mime.ParseMediaType(one)
		return err != nil || kind != contentJSON
	})
	if len(kept) == 0 {
		return contentJSON
	}

	return strings.Join(kept, ",")
}

func isWatch(r *http.Request) bool {
	watch, err := strconv.ParseBool(r.URL.Query().Get("watch"))
	return err == nil && watch
}

// boundedBody is the body of an answer, up to its limits.
type boundedBody struct {
	io.ReadCloser

	limits      Limits
	who         string
	watch, json bool
	// refused is why nothing of it is read.
	refused error
	meter   meter
}

// Read errs once there is more than the limits.
func (b *boundedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)

	if fit, over := b.count(p[:n]); over != nil {
		return fit, over
	}

	return n, err
}

// count what was read, and say how much of it is within the limits. Events that are not
// JSON say how long they are, and are bounded where they are decoded.
func (b *boundedBody) count(read []byte) (fit int, err error) {
	switch {
	case b.refused != nil && len(read) > 0:
		return 0, b.refused
	case b.json && (b.watch || b.limits.Values > 0):
		for i, c := range read {
			if ended := b.meter.add(c); ended && b.watch {
				b.meter = meter{}
			}

			if err := b.over(); err != nil {
				return i, err
			}
		}
	case !b.watch:
		b.meter.bytes += int64(len(read))
		return 0, b.over()
	}

	return len(read), nil
}

func (b *boundedBody) over() error {
	switch {
	case b.meter.bytes > b.limits.Bytes:
		return fmt.Errorf("%w: %s with more than %d MiB", ErrTooLong, b.who, b.limits.Bytes>>20)
	case b.limits.Values > 0 && b.meter.values > b.limits.Values:
		return fmt.Errorf("%w: %s with more than %d values", ErrTooLong, b.who, b.limits.Values)
	default:
		return nil
	}
}

// meter counts what there is of a JSON text, as it comes.
type meter struct {
	bytes  int64
	values int
	// open are the brackets that were not closed yet.
	open            []byte
	quoted, escaped bool
}

// add the next byte, and say whether it ends the outermost object or list.
func (m *meter) add(c byte) (ended bool) {
	m.bytes++

	switch {
	case m.escaped:
		m.escaped = false
	case m.quoted:
		m.escaped, m.quoted = c == '\\', c != '"'
	case c == '"':
		m.quoted = true
	case c == '{' || c == '[':
		m.open = append(m.open, c)
		m.values++
	case c == ',' && len(m.open) > 0 && m.open[len(m.open)-1] == '[':
		m.values++
	case (c == '}' || c == ']') && len(m.open) > 0:
		m.open = m.open[:len(m.open)-1]
		return len(m.open) == 0
	}

	return false
}
