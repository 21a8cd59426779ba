// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

const (
	// least bytes of a line that is searched for.
	least = 12
	// longest line that is searched for as a whole, in bytes.
	longest = 96
	// pieceLength of a longer line, in bytes.
	pieceLength = 48
	// mostPieces of a secret: of very long ones the beginning and the end are searched for.
	mostPieces = 48
)

// pieces of a secret that are searched for, each in one line.
func pieces(secret string) []string {
	var all []string

	for line := range strings.SplitSeq(secret, "\n") {
		line = strings.TrimSpace(line)

		if len(line) >= least && len(line) <= longest {
			all = append(all, line)
			continue
		}

		for ; len(line) >= pieceLength; line = line[pieceLength:] {
			all = append(all, line[:pieceLength])
		}
	}

	if len(all) > mostPieces {
		all = append(all[:mostPieces/2:mostPieces/2], all[len(all)-mostPieces/2:]...)
	}

	return all
}

// forms in which a piece may stand in a line, by what they are.
func forms(piece string) map[string]string {
	out := map[string]string{piece: "as it is"}
	add := func(text, form string) {
		if _, ok := out[text]; !ok && len(text) >= least {
			out[text] = form
		}
	}

	add(quoted(piece), "quoted")
	add(strings.Trim(strconv.Quote(piece), `"`), "quoted")
	add(url.QueryEscape(piece), "escaped for a URL")
	add(url.PathEscape(piece), "escaped for a URL")

	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for _, once := range inBase64(e, piece) {
			add(once, "in base64")
			add(url.QueryEscape(once), "in base64, escaped for a URL")

			for _, twice := range inBase64(base64.StdEncoding, once) {
				add(twice, "in base64 of base64")
			}
		}
	}

	return out
}

// quoted is a piece inside of a JSON string.
func quoted(piece string) string {
	raw, err := json.Marshal(piece)
	if err != nil {
		return piece // It cannot err for a string.
	}

	return strings.Trim(string(raw), `"`)
}

// inBase64 is what a text becomes in the base64 of a larger one that holds it, at each
// of the three places where it can begin. The characters that it shares with what
// stands before or after it are left out.
func inBase64(e *base64.Encoding, text string) []string {
	var out []string

	for before, shared := range []int{0, 2, 3} {
		raw := append(make([]byte, before), text...)
		whole := e.WithPadding(base64.NoPadding).EncodeToString(raw)
		out = append(out, whole[shared:len(raw)*8/6])
	}

	return out
}
