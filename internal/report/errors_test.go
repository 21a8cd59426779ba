// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
)

func TestReasonOf(t *testing.T) {
	t.Parallel()

	// on is how Go wraps what happens on a connection.
	on := func(op string, err error) error {
		return &url.Error{Op: "Put", URL: "http://10.0.0.1:8090", Err: &net.OpError{
			Op: op, Net: "tcp", Source: &net.TCPAddr{Port: 43210}, Addr: &net.TCPAddr{Port: 8090}, Err: os.NewSyscallError(op, err),
		}}
	}
	verify := func(err error) error {
		return &url.Error{Op: "Put", URL: "https://10.0.0.1", Err: &tls.CertificateVerificationError{Err: err}}
	}

	cases := map[string]struct {
		reason string
		err    error
		want   string
	}{
		"Refused":     {reason: "without address and port", err: on("connect", syscall.ECONNREFUSED), want: "connection refused"},
		"Unreachable": {reason: "without address and port", err: on("connect", syscall.EHOSTUNREACH), want: "no route to host"},
		"Reset":       {reason: "the same cause shows in several ways", err: on("read", syscall.ECONNRESET), want: "the connection was cut"},
		"Pipe":        {reason: "the same cause shows in several ways", err: on("write", syscall.EPIPE), want: "the connection was cut"},
		"EOF":         {reason: "the same cause shows in several ways", err: &url.Error{Err: io.EOF}, want: "the connection was cut"},
		"HalfHeader":  {reason: "the same cause shows in several ways", err: &url.Error{Err: io.ErrUnexpectedEOF}, want: "the connection was cut"},
		"Malformed":   {reason: "without what was answered", err: &url.Error{Err: fmt.Errorf("net/http: HTTP/1.x transport connection broken: malformed HTTP status code %q", clientSecret)}, want: "its answer is no HTTP, or only half of one"},
		"NoHost":      {reason: "without the resolver's address", err: on("dial", &net.DNSError{Err: "no such host", Name: "x", Server: "10.96.0.10:53", IsNotFound: true}), want: "its name cannot be resolved"},
		"SlowDNS":     {reason: "a resolver that is slow is one that fails", err: on("dial", &net.DNSError{Err: "i/o timeout", Name: "x", IsTimeout: true}), want: "its name cannot be resolved"},
		"Timeout":     {reason: "a limit of our own", err: &url.Error{Err: context.DeadlineExceeded}, want: "no answer in time"},
		"TLSTimeout":  {reason: "a limit of Go's", err: on("read", os.ErrDeadlineExceeded), want: "no answer in time"},
		"Expired": {
			reason: "without the time", want: "its certificate has expired or is not valid yet",
			err: verify(x509.CertificateInvalidError{Cert: &x509.Certificate{}, Reason: x509.Expired, Detail: "current time 2026-11-29T12:00:00Z is after 2026-01-01T00:00:00Z"}),
		},
		"OtherName": {
			reason: "with both names", want: "x509: certificate is valid for a.example, not b.example",
			err: verify(x509.HostnameError{Certificate: &x509.Certificate{DNSNames: []string{"a.example"}}, Host: "b.example"}),
		},
		"Unknown": {reason: "nothing is shown that is not known to be steady", err: fmt.Errorf("at 12:00: %w", errors.New(clientSecret)), want: "the request failed"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := reasonOf(tc.err); got != tc.want {
				t.Errorf("%s: reasonOf(%v) = %q, want %q", tc.reason, tc.err, got, tc.want)
			}
		})
	}
}
