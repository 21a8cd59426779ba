// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
)

// keyHeader ends the first line of each private key in PEM.
const keyHeader = "PRIVATE KEY-----"

// Finding is a secret that was seen where it must not be. It does not hold the secret.
type Finding struct {
	// Where it stands: the output, and the line of it.
	Where string
	// Secret that it is: where that comes from.
	Secret string
	// Form in which it stands there.
	Form string
}

// String is for the message of a failure.
func (f Finding) String() string {
	return fmt.Sprintf("%s: %s, %s", f.Where, f.Secret, f.Form)
}

// longestName of what a record is about, in bytes.
const longestName = 300

// indexed is the length of what the needles are found by, in bytes. None is shorter.
const indexed = 8

// needle is a form of a piece of a secret.
type needle struct {
	text         []byte
	secret, form string
}

// Scanner finds secrets in output. It knows those that there were when it was made.
type Scanner struct {
	needles map[[indexed]byte][]needle
	count   int
}

// NewScanner makes a scanner for secrets.
func NewScanner(s *Secrets) *Scanner {
	out := &Scanner{needles: map[[indexed]byte][]needle{}}
	out.add(keyHeader, "a private key", "as it is")

	s.each(func(secret, from string) {
		for _, p := range pieces(secret) {
			for text, form := range forms(p) {
				out.add(text, from, form)
			}
		}
	})

	return out
}

// Needles that are searched for.
func (s *Scanner) Needles() int { return s.count }

func (s *Scanner) add(text, secret, form string) {
	n := needle{text: []byte(text), secret: secret, form: form}
	key := [indexed]byte(n.text)

	same := slices.ContainsFunc(s.needles[key], func(o needle) bool { return bytes.Equal(o.text, n.text) })
	if !same {
		s.needles[key] = append(s.needles[key], n)
		s.count++
	}
}

// Scan reads output of that name to its end. It returns what it found, each secret once,
// and how many bytes it has read.
func (s *Scanner) Scan(output string, r io.Reader) (found []Finding, read int64, err error) {
	lines := bufio.NewReader(r)
	seen := map[string]bool{}

	for number := 1; ; number++ {
		line, err := lines.ReadBytes('\n')
		read += int64(len(line))

		for _, n := range s.in(line) {
			if !seen[n.secret] {
				seen[n.secret] = true
				found = append(found, Finding{Where: s.place(output, number, line), Secret: n.secret, Form: n.form})
			}
		}

		if errors.Is(err, io.EOF) {
			slices.SortFunc(found, func(a, b Finding) int { return cmp.Compare(a.String(), b.String()) })
			return found, read, nil
		}

		if err != nil {
			return found, read, fmt.Errorf("cannot scan %s: %w", output, err)
		}
	}
}

// in are the needles that stand in a line.
func (s *Scanner) in(line []byte) []needle {
	var out []needle

	for i := 0; i+indexed <= len(line); i++ {
		for _, n := range s.needles[[indexed]byte(line[i:i+indexed])] {
			if bytes.HasPrefix(line[i:], n.text) {
				out = append(out, n)
			}
		}
	}

	return out
}

// place names a line of output. A record names what it is about, up to a tab.
func (s *Scanner) place(output string, number int, line []byte) string {
	about, _, ok := bytes.Cut(line, []byte("\t"))
	if !ok || len(about) == 0 || len(about) > longestName || len(s.in(about)) > 0 {
		return fmt.Sprintf("%s, line %d", output, number)
	}

	return fmt.Sprintf("%s, line %d (%s)", output, number, about)
}
