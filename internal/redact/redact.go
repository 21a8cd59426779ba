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

const hidden = "[hidden]"

// address is one in a text.
var address = regexp.MustCompile(`[A-Za-z][A-Za-z0-9+.-]*://[^\s"'<>` + "`" + `]+`)

// Address is the address without what gives access. It need not be a valid one.
func Address(s string) string {
	scheme, rest, ok := strings.Cut(s, "://")
	if !ok {
		scheme, rest = "", s
	} else {
		scheme += "://"
	}

	// A password that is not escaped may hold anything. What stands before a digest is none.
	if i := strings.LastIndexByte(rest, '@'); i >= 0 && !strings.HasPrefix(rest[i:], "@sha256:") {
		rest = hidden + rest[i:]
	}

	if i := strings.IndexAny(rest, "?#"); i >= 0 {
		rest = rest[:i+1] + hidden
	}

	return scheme + rest
}

// Text is the text with each address in it as Address has it.
func Text(s string) string { return address.ReplaceAllStringFunc(s, Address) }
