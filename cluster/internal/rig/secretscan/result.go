// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

var (
	// ErrFound says that output holds secrets.
	ErrFound = errors.New("output holds secrets")
	// ErrNothing says that a scan had nothing to find, or nothing to find it in.
	ErrNothing = errors.New("the scan proves nothing")
)

// Result is what a scan came to.
type Result struct {
	// Secrets that were searched for, and Needles: the forms of their pieces.
	Secrets, Needles int
	// Ready is how many Tenants were, and Inside of how many vClusters the Secrets in them
	// are known.
	Ready, Inside int
	// Bytes that were scanned, by output.
	Bytes    map[string]int64
	Findings []Finding
}

// Scan all output for all secrets. It errs when something was not recorded: what is not
// known to be without secrets is not.
func (r *Recording) Scan() (Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()

	scanner := NewScanner(&r.Secrets)
	out := Result{Secrets: r.Secrets.Len(), Needles: scanner.Needles(), Ready: len(r.inner), Bytes: map[string]int64{}}
	errs := slices.Clone(r.errs)

	for _, known := range r.inner {
		if known {
			out.Inside++
		}
	}

	for output, f := range r.files {
		errs = append(errs, out.scan(scanner, output, f.Name()))
	}

	for output, file := range r.read {
		errs = append(errs, out.scan(scanner, output, file))
	}

	return out, errors.Join(errs...)
}

// Err says what was found. It errs as well when there was no secret, none that is inside
// of a vCluster although there was one, or nothing in one of the outputs that there must be.
func (res *Result) Err(outputs ...string) error {
	var errs []error

	if res.Secrets == 0 {
		errs = append(errs, fmt.Errorf("%w: no secret is known", ErrNothing))
	}

	if res.Ready > 0 && res.Inside == 0 {
		errs = append(errs, fmt.Errorf("%w: of %d vClusters no secret is known that is inside", ErrNothing, res.Ready))
	}

	for _, o := range outputs {
		if res.Bytes[o] == 0 {
			errs = append(errs, fmt.Errorf("%w: %s is empty", ErrNothing, o))
		}
	}

	for _, f := range res.Findings {
		errs = append(errs, fmt.Errorf("%w: %s", ErrFound, f))
	}

	return errors.Join(errs...)
}

// String says what was scanned.
func (res *Result) String() string {
	var b strings.Builder

	fmt.Fprintf(&b, "%d secrets in %d forms and pieces, also those inside %d of %d vClusters, %d found",
		res.Secrets, res.Needles, res.Inside, res.Ready, len(res.Findings))

	for _, o := range slices.Sorted(maps.Keys(res.Bytes)) {
		fmt.Fprintf(&b, "\n  %s: %d bytes", o, res.Bytes[o])
	}

	return b.String()
}

func (res *Result) scan(s *Scanner, output, file string) error {
	f, err := os.Open(filepath.Clean(file))
	if err != nil {
		return fmt.Errorf("cannot scan %s: %w", output, err)
	}
	defer func() { _ = f.Close() }()

	found, n, err := s.Scan(output, f)
	res.Bytes[output] += n
	res.Findings = append(res.Findings, found...)

	return err
}
