// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package redact takes out of addresses what gives access: credentials before the host,
// and queries and fragments, in which tokens and signatures travel. What is left can
// stand in a message that others read.
package redact

import (
	"regexp"
	"strings"
)

// Hidden stands where something is that gives access.
const Hidden = "[hidden]"

// digest is how the digest of an image or a chart begins.
const digest = "@sha256:"

// address is one in a text.
var address = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>` + "`" + `]+`)

// Address is the address without what gives access. It need not be a valid one.
func Address(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok || strings.ContainsAny(scheme, "/@") {
		scheme, rest = "", s
	} else {
		scheme += "://"
	}

	end := ""
	if i := strings.LastIndexByte(rest, '@'); i >= 0 && strings.HasPrefix(rest[i:], digest) {
		rest, end = rest[:i], rest[i:]
	}

	at, query := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")

	switch {
	// A password that is not escaped may hold anything, and so may a query.
	case query >= 0 && at > query:
		return scheme + Hidden
	case query >= 0:
		rest, end = rest[:query+1], Hidden
	}

	if at >= 0 {
		rest = Hidden + rest[at:]
	}

	return scheme + rest + end
}

// Text is the text with each address in it as Address has it.
func Text(s string) string { return address.ReplaceAllStringFunc(s, Address) }
