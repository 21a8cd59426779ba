// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// ErrHostNotCovered says that a server's certificate was not made for the name under which it is reached.
var ErrHostNotCovered = errors.New("server name not in the certificate")

// CoversHost checks that a server's certificate was made for a host, a DNS name or an IP address without
// a port. Otherwise it returns an ErrHostNotCovered that names the host and what the certificate holds.
func CoversHost(c *x509.Certificate, host string) error {
	if c == nil {
		return fmt.Errorf("%w: %q was asked for, the server showed no certificate", ErrHostNotCovered, host)
	}

	if c.VerifyHostname(host) == nil {
		return nil
	}

	names := slices.Clone(c.DNSNames)
	for _, ip := range c.IPAddresses {
		names = append(names, ip.String())
	}

	slices.Sort(names)

	return fmt.Errorf("%w: %q was asked for, the certificate is for %s; add the name to controlPlane.proxy.extraSANs",
		ErrHostNotCovered, host, quoted(names))
}

func quoted(names []string) string {
	if len(names) == 0 {
		return "no name at all"
	}

	return `"` + strings.Join(names, `", "`) + `"`
}
