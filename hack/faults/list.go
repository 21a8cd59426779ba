// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// group is a kind of fault.
type group struct {
	Title  string  `json:"title"`
	Faults []fault `json:"faults"`
}

// fault is one thing that goes wrong, and what must come of it.
type fault struct {
	ID string `json:"id"`
	// Given is what goes wrong.
	Given string `json:"given"`
	// Then is the right behaviour.
	Then string `json:"then"`
}

var faultID = regexp.MustCompile(`^[A-Z][0-9]+$`)

func parseFaults(raw []byte) ([]group, error) {
	var groups []group
	if err := yaml.UnmarshalStrict(raw, &groups); err != nil {
		return nil, err
	}

	seen := map[string]bool{}

	for _, g := range groups {
		for _, f := range g.Faults {
			if !faultID.MatchString(f.ID) || f.Given == "" || f.Then == "" {
				return nil, fmt.Errorf("fault %q of %q needs an id such as H1, given and then", f.ID, g.Title)
			}

			if seen[f.ID] {
				return nil, fmt.Errorf("fault %s is listed twice", f.ID)
			}

			seen[f.ID] = true
		}
	}

	return groups, nil
}

// check that each fault has a test and each test its fault.
func check(groups []group, tests []test) error {
	var (
		errs  []error
		known []string
	)

	for _, g := range groups {
		for _, f := range g.Faults {
			known = append(known, f.ID)

			if !slices.ContainsFunc(tests, func(t test) bool { return slices.Contains(t.faults, f.ID) }) {
				errs = append(errs, fmt.Errorf("no test is named for fault %s: begin its name with Test%s, or its text with %q", f.ID, f.ID, f.ID+": "))
			}
		}
	}

	for _, t := range tests {
		for _, id := range t.faults {
			if !slices.Contains(known, id) {
				errs = append(errs, fmt.Errorf("%s: test %q is named for fault %s, which %s does not list", t.file, t.name, id, listFile))
			}
		}
	}

	return errors.Join(errs...)
}

// table has a section for each group, and a row for each fault.
func table(groups []group, tests []test) string {
	var b strings.Builder

	for _, g := range groups {
		fmt.Fprintf(&b, "\n### %s\n\n| Id | What goes wrong | What comes of it | Shown by |\n|---|---|---|---|\n", g.Title)

		for _, f := range g.Faults {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", f.ID, f.Given, f.Then, shownBy(f.ID, tests))
		}
	}

	return b.String() + "\n"
}

func shownBy(id string, tests []test) string {
	var lines []string

	for _, t := range tests {
		if slices.Contains(t.faults, id) {
			lines = append(lines, fmt.Sprintf("%s: [%s](../%s)", t.level, escape(t.name), t.file))
		}
	}

	return strings.Join(lines, "<br>")
}

var escaper = strings.NewReplacer("|", `\|`, "[", `\[`, "]", `\]`, "<", `\<`, "*", `\*`, "_", `\_`)

func escape(s string) string { return escaper.Replace(s) }
