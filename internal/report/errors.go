// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/oauth2"
)

// maxRetryAfter bounds what a server may ask for.
const maxRetryAfter = 10 * time.Minute

// Error says why kubeopera-api did not accept a report. Its text is the same each
// time for the same cause, and holds nothing that a server has sent but its
// status code, an error code of RFC 6749, and what is wrong with its certificate:
// it goes into a condition.
type Error struct {
	// RetryAfter is how long the server wants to be left alone, at most 10 minutes.
	// Zero means that it did not say.
	RetryAfter time.Duration

	reason string
	code   int // of the answer to the report, if there was one
}

// Error says why.
func (e *Error) Error() string { return e.reason }

// answerError is nil for an answer that accepts the report.
func answerError(resp *http.Response, authorized bool, now time.Time) error {
	code := resp.StatusCode
	if code/100 == 2 {
		return nil
	}

	return &Error{code: code, reason: "it answered " + codeText(code) + remedy(code, authorized), RetryAfter: retryAfter(resp, now)}
}

func codeText(code int) string {
	return strings.TrimSpace(strconv.Itoa(code) + " " + http.StatusText(code))
}

// remedy says what a person can do about an answer.
func remedy(code int, authorized bool) string {
	switch {
	case code == http.StatusUnauthorized && !authorized:
		return "; set SERVICE_CLIENT_ID and SERVICE_CLIENT_SECRET"
	case code == http.StatusUnauthorized:
		return " to a new token; check that it takes the tokens of KUBEOPERA_TOKEN_URL"
	case code == http.StatusForbidden:
		return "; check what SERVICE_CLIENT_ID may do"
	case code == http.StatusNotFound:
		return "; check that it knows the CloudSpace, and KUBEOPERA_API_BASE_URL"
	case code/100 == 3:
		return "; redirects are not followed, so set KUBEOPERA_API_BASE_URL to where it points"
	default:
		return ""
	}
}

// retryAfter is what an answer asks for, in seconds or as a date.
func retryAfter(resp *http.Response, now time.Time) time.Duration {
	if resp.StatusCode != http.StatusTooManyRequests && resp.StatusCode != http.StatusServiceUnavailable {
		return 0
	}

	asked := resp.Header.Get("Retry-After")
	if n, err := strconv.Atoi(asked); err == nil {
		n = min(max(0, n), int(maxRetryAfter/time.Second)) // before it can overflow
		return time.Duration(n) * time.Second
	}

	at, err := http.ParseTime(asked)
	if err != nil {
		return 0
	}

	return min(max(0, at.Sub(now)), maxRetryAfter)
}

// tokenError says why there is no token. The library's own error holds the answer
// of the token endpoint, which nobody may see.
func tokenError(ctx context.Context, err error, now time.Time) error {
	if e := (&oauth2.RetrieveError{}); errors.As(err, &e) && e.Response != nil {
		reason := "its token endpoint answered " + codeText(e.Response.StatusCode)
		if knownCode(e.ErrorCode) {
			reason += ", " + e.ErrorCode
		}

		return &Error{
			reason:     reason + "; check SERVICE_CLIENT_ID, SERVICE_CLIENT_SECRET and KUBEOPERA_TOKEN_URL",
			RetryAfter: retryAfter(e.Response, now),
		}
	}

	const endpoint = "its token endpoint: "

	// The library hides some of what was caused by a context that ended.
	if ctx.Err() != nil {
		return &Error{reason: endpoint + reasonOf(ctx.Err())}
	}

	if errors.As(err, new(*url.Error)) {
		return &Error{reason: endpoint + reasonOf(err)}
	}

	return &Error{reason: "its token endpoint gave no token; check KUBEOPERA_TOKEN_URL"}
}

// knownCode is true for the errors of RFC 6749, section 5.2. Any other may be
// text that was made from what was sent.
func knownCode(code string) bool {
	return slices.Contains([]string{
		"invalid_request", "invalid_client", "invalid_grant", "unauthorized_client", "unsupported_grant_type", "invalid_scope",
	}, code)
}

// reasonOf says in a steady text why a request had no answer: without the ports,
// addresses and times that Go's errors hold.
func reasonOf(err error) string {
	var (
		dns     *net.DNSError
		expired x509.CertificateInvalidError
		cert    *tls.CertificateVerificationError
		network net.Error
		errno   syscall.Errno
	)

	switch {
	case errors.As(err, &dns):
		return "its name cannot be resolved"
	case errors.Is(err, http.ErrSchemeMismatch):
		return "it speaks HTTP where HTTPS was expected"
	case errors.As(err, &expired) && expired.Reason == x509.Expired:
		return "its certificate has expired or is not valid yet"
	case errors.As(err, &cert):
		return cert.Err.Error()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "the connection was cut"
	// Go has no type for it. What was answered stands in its text.
	case strings.Contains(err.Error(), "malformed HTTP"):
		return "its answer is no HTTP, or only half of one"
	case errors.As(err, &errno):
		return errno.Error()
	case errors.As(err, &network) && network.Timeout():
		return "no answer in time"
	default:
		return "the request failed"
	}
}
