// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The faults program writes into docs/reliability.md which test shows each fault
// of faults.yaml. It knows that from the names of the tests, so that the
// document cannot say what no test does. It runs in the repository's root.
package main

import (
	"fmt"
	"os"
	"strings"
)

const (
	listFile = "hack/faults/faults.yaml"
	document = "docs/reliability.md"
	begin    = "<!-- generated from the names of the tests: make generate -->\n"
	end      = "<!-- end of what is generated -->\n"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "faults: error:", err)
		os.Exit(1)
	}
}

func run(root string) error {
	repo, err := os.OpenRoot(root)
	if err != nil {
		return err
	}
	defer func() { _ = repo.Close() }()

	raw, err := repo.ReadFile(listFile)
	if err != nil {
		return fmt.Errorf("cannot read the list of faults: %w", err)
	}

	groups, err := parseFaults(raw)
	if err != nil {
		return fmt.Errorf("cannot use %s: %w", listFile, err)
	}

	tests, err := scan(repo.FS())
	if err != nil {
		return err
	}

	if err := check(groups, tests); err != nil {
		return err
	}

	doc, err := repo.ReadFile(document)
	if err != nil {
		return fmt.Errorf("cannot read the document: %w", err)
	}

	filled, err := fill(string(doc), table(groups, tests))
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", document, err)
	}

	return repo.WriteFile(document, []byte(filled), 0o644)
}

// fill replaces what stands between the two marks.
func fill(doc, with string) (string, error) {
	before, rest, ok := strings.Cut(doc, begin)
	if !ok {
		return "", fmt.Errorf("it has no line %q", strings.TrimSpace(begin))
	}

	_, after, ok := strings.Cut(rest, end)
	if !ok {
		return "", fmt.Errorf("it has no line %q after the first mark", strings.TrimSpace(end))
	}

	return before + begin + with + end + after, nil
}
