// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
)

func TestProbe(t *testing.T) {
	t.Parallel()

	s := newServer(t)

	if err := get(t, NewPool(), "one", kubeconfig(t, s.Server, "good")).Probe(t.Context()); err != nil {
		t.Errorf("with good credentials: %v", err)
	}

	if err := get(t, NewPool(), "one", kubeconfig(t, s.Server, "bad")).Probe(t.Context()); !kerrors.IsUnauthorized(err) {
		t.Errorf("with bad credentials: %v", err)
	}
}

// TestProbeTimeout holds that a probe gives an API up that takes a connection, and
// never answers.
func TestProbeTimeout(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })

	silent, err := kubeconfig(t, newServer(t).Server, "good").WithServer("https://"+l.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}

	p := NewPool()
	p.ProbeTimeout = 50 * time.Millisecond

	if err := get(t, p, "one", silent).Probe(t.Context()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
}

// TestProbeSaysTheSame holds that the same failure has the same words each time.
func TestProbeSaysTheSame(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() { _ = l.Close() })

	go func() { // Cut every connection after the first bytes.
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}

			_, _ = c.Read(make([]byte, 1))
			_ = c.(*net.TCPConn).SetLinger(0)
			_ = c.Close()
		}
	}()

	cut, err := kubeconfig(t, newServer(t).Server, "good").WithServer("https://"+l.Addr().String(), "")
	if err != nil {
		t.Fatal(err)
	}

	seen := map[string]bool{}

	for range 3 {
		// client-go tries again as long as it may.
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		err := get(t, NewPool(), "one", cut).Probe(ctx)

		cancel()

		if err == nil || !strings.Contains(err.Error(), "connection reset by peer") {
			t.Fatalf("a connection that is cut says %v", err)
		}

		seen[err.Error()] = true
	}

	if len(seen) != 1 {
		t.Errorf("%d messages: %v", len(seen), seen)
	}
}

func TestSteady(t *testing.T) {
	t.Parallel()

	if err := Steady(nil); err != nil {
		t.Error(err)
	}

	plain := errors.New("dial tcp 10.0.0.2:443: connect: connection refused")
	if err := Steady(plain); err != plain { //nolint:errorlint // It must be the same.
		t.Errorf("got %v", err)
	}

	cause := errors.New("reset")
	op := &net.OpError{
		Op: "read", Net: "tcp", Err: cause,
		Source: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 1), Port: 40001}, Addr: &net.TCPAddr{IP: net.IPv4(10, 0, 0, 2), Port: 443},
	}
	v6 := &net.OpError{
		Op: "read", Net: "tcp", Err: cause,
		Source: &net.TCPAddr{IP: net.ParseIP("fd00::1"), Port: 40001}, Addr: &net.TCPAddr{IP: net.ParseIP("fd00::2"), Port: 443},
	}

	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"Read":     {op, "read tcp 10.0.0.2:443: reset"},
		"Wrapped":  {fmt.Errorf("cannot read: %w", op), "cannot read: read tcp 10.0.0.2:443: reset"},
		"AsAText":  {fmt.Errorf("%w - error from a previous attempt: %s", cause, op.Error()), "reset - error from a previous attempt: read tcp 10.0.0.2:443: reset"},
		"IPv6":     {v6, "read tcp [fd00::2]:443: reset"},
		"TwoTimes": {errors.Join(op, op), "read tcp 10.0.0.2:443: reset\nread tcp 10.0.0.2:443: reset"},
	} {
		if got := Steady(tc.err); got.Error() != tc.want || !errors.Is(got, cause) {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
