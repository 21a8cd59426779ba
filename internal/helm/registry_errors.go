// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"oras.land/oras-go/v2/errdef"
	"oras.land/oras-go/v2/registry/remote/auth"
	"oras.land/oras-go/v2/registry/remote/errcode"

	"github.com/kubeopera/provider-kubeopera/internal/redact"
)

// minHidden is the length of the shortest credential that is looked for in messages,
// in bytes. A shorter one would be found in words.
const minHidden = 4

// classify says what went wrong with a download in terms of the sentinels, and
// which layer failed.
func (s *source) classify(err error) error {
	switch code := statusOf(err); {
	case errors.Is(err, ErrChartInvalid):
		return fmt.Errorf("chart %q: %w", s, s.told(err))
	case errors.Is(err, errdef.ErrNotFound), errors.Is(err, errNoSuchChart), code == http.StatusNotFound:
		return fmt.Errorf("%w: %s has no version %q of it", ErrChartNotFound, s.Repository, s.Version)
	case errors.Is(err, auth.ErrBasicCredentialNotFound), code == http.StatusUnauthorized, code == http.StatusForbidden:
		who := "without credentials"
		if s.cred != auth.EmptyCredential {
			who = "with the configured credentials"
		}
		return fmt.Errorf("%w: cannot fetch %q %s: %w", ErrRegistryUnauthorized, s, who, s.told(err))
	default:
		return fmt.Errorf("%w: cannot fetch %q: %s: %w", ErrRegistryUnreachable, s, layer(err), s.told(err))
	}
}

// told is what a registry's error says, in one line and without what gives access: the
// address of a redirect is signed, and a registry may repeat what it was sent.
func (s *source) told(err error) error {
	msg := redact.Text(oneLine(err).Error())
	basic := base64.StdEncoding.EncodeToString([]byte(s.cred.Username + ":" + s.cred.Password))
	for _, secret := range []string{s.cred.Password, s.cred.RefreshToken, s.cred.AccessToken, basic} {
		if len(secret) >= minHidden {
			msg = strings.ReplaceAll(msg, secret, redact.Hidden)
		}
	}
	return &flatError{msg: msg, err: err}
}

// statusOf is the HTTP status in err, or 0.
func statusOf(err error) int {
	var oci *errcode.ErrorResponse
	if errors.As(err, &oci) {
		return oci.StatusCode
	}
	var plain *statusError
	if errors.As(err, &plain) {
		return plain.code
	}
	return 0
}

// layer names the part of the way to the registry that failed.
func layer(err error) string {
	var (
		dns       *net.DNSError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		record    tls.RecordHeaderError
		alert     tls.AlertError
		op        *net.OpError
		network   net.Error
	)
	switch {
	case errors.As(err, &dns):
		return "DNS"
	case errors.As(err, &authority):
		return "TLS, the certificate is signed by an unknown authority (give its CA bundle)"
	case errors.As(err, &verify), errors.As(err, &host), errors.As(err, &record), errors.As(err, &alert):
		return "TLS"
	case strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return "TLS, the registry speaks plain HTTP (say so in the configuration if that is meant)"
	case errors.As(err, &op) && op.Op == "dial":
		return "connect"
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &network) && network.Timeout():
		return "timeout"
	default:
		return "HTTP"
	}
}
