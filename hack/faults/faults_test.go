// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestScan(t *testing.T) {
	t.Parallel()

	root := fstest.MapFS{
		"cluster/e2e/held_test.go": file(`//go:build e2e

package e2e

var _ = Describe("D1: a claim", func() {
	It("is held", func() {})
	It("H1, H2: two at once", func() { By("H9: is no test") })
})`),
		"internal/a/a_test.go": file(`package a

import "net/http/httptest"

func TestH3Refused(t *testing.T) {
	for name, tc := range map[string]int{"H4: killed": 1, "Plain": 2} {
		t.Run(name, nil)
	}
	cases := map[string]string{"H11: in a variable": "H12: is a value"}
	for name := range cases {
		t.Run(name, nil)
	}
	for name := range map[string]string{"H16: added to a variable": "a"} {
		cases[name+", twice"] = "b"
	}
	for name, tc := range map[string]string{"H13: is no name": "a"} {
		t.Run(tc, nil)
		others[name] = tc
	}
	_ = map[string]int{"H14: is no test": 1}
	others := map[string]string{"H15: is none either": "a"}
	for name := range others {
		t.Log(name)
	}
	t.Run("H5", nil)
	t.Run("H6:close", nil)
}

func TestH7() {}
func TestE2E(t *testing.T) {}
func TestHelm(t *testing.T) { _ = "H8: a value" }
func (s suite) TestH9Method() {}
func FuzzQ4Quantities(f *testing.F) { f.Skip() }
func TestH10Empty(t *testing.T) {}`),
		"internal/a/b_test.go": file("//go:build envtest\n\npackage a\n\nfunc TestK1Names(t *testing.T) { t.Log() }"),
		"internal/a/c_test.go": file("//go:build !windows\n\npackage a\n\nfunc TestK3Keys(t *testing.T) { t.Log() }"),
		"internal/b/b_test.go": file("package b\n\nfunc TestK2Names(t *testing.T) { t.Log() }"),
		"internal/b/b.go":      file("package b\n\nfunc TestK4Names(t *testing.T) { t.Log() }"),
		".git/x_test.go":       file("package x\n\nfunc TestK5Names() {}"),
		"bin/x_test.go":        file("package x\n\nfunc TestK6Names() {}"),
	}

	got, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}

	want := []test{
		{[]string{"D1"}, "D1: a claim", "cluster/e2e/held_test.go", testBed},
		{[]string{"H1", "H2"}, "H1, H2: two at once", "cluster/e2e/held_test.go", testBed},
		{[]string{"K1"}, "TestK1Names", "internal/a/b_test.go", apiServer},
		{[]string{"Q4"}, "FuzzQ4Quantities", "internal/a/a_test.go", fakeHost},
		{[]string{"H11"}, "H11: in a variable", "internal/a/a_test.go", fakeHost},
		{[]string{"H16"}, "H16: added to a variable", "internal/a/a_test.go", fakeHost},
		{[]string{"H4"}, "H4: killed", "internal/a/a_test.go", fakeHost},
		{[]string{"H3"}, "TestH3Refused", "internal/a/a_test.go", fakeHost},
		{[]string{"K3"}, "TestK3Keys", "internal/a/c_test.go", fakeHost},
		{[]string{"K2"}, "TestK2Names", "internal/b/b_test.go", pure},
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(test{})); diff != "" {
		t.Errorf("tests named for faults (-want +got):\n%s", diff)
	}
}

func TestScanBroken(t *testing.T) {
	t.Parallel()

	if _, err := scan(fstest.MapFS{"a/a_test.go": file("pack age")}); err == nil || !strings.Contains(err.Error(), "a/a_test.go") {
		t.Errorf("a file that does not parse: got %v, want an error that names it", err)
	}
}

func TestRun(t *testing.T) {
	t.Parallel()

	const list = "- title: Group\n  faults: [{id: H1, given: a fault, then: its end}]\n"

	cases := map[string]struct {
		reason string
		list   string
		tests  string
		doc    string
		want   string
		errs   []string
	}{
		"Filled": {
			reason: "what stood between the marks is replaced", list: list, tests: "func TestH1One(t *testing.T) { t.Log() }",
			doc:  "before\n" + begin + "old\n" + end + "after\n",
			want: "before\n" + begin + "\n### Group\n\n| Id | What goes wrong | What comes of it | Shown by |\n|---|---|---|---|\n| H1 | a fault | its end | pure function: [TestH1One](../a_test.go) |\n\n" + end + "after\n",
		},
		"NoTest":    {reason: "a fault without a test", list: list, doc: begin + end, errs: []string{"no test is named for fault H1", "TestH1"}},
		"NoFault":   {reason: "a test without a fault", list: list, tests: "func TestH1One(t *testing.T) { t.Log() }\nfunc TestH2Two(t *testing.T) { t.Log() }", doc: begin + end, errs: []string{"a_test.go", "TestH2Two", "does not list"}},
		"Twice":     {reason: "an id is there once", list: list + list, errs: []string{"H1 is listed twice"}},
		"BadID":     {reason: "an id that no test can have", list: strings.ReplaceAll(list, "H1", "h-1"), errs: []string{`fault "h-1" of "Group"`}},
		"BadKey":    {reason: "a word that nobody reads", list: strings.ReplaceAll(list, "then", "than"), errs: []string{"faults.yaml", "than"}},
		"NoMark":    {reason: "nowhere to write", list: list, tests: "func TestH1One(t *testing.T) { t.Log() }", doc: "text", errs: []string{"docs/reliability.md", "has no line"}},
		"NoEndMark": {reason: "the end must follow", list: list, tests: "func TestH1One(t *testing.T) { t.Log() }", doc: end + begin, errs: []string{"docs/reliability.md", "after the first mark"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			root := t.TempDir()
			write(t, filepath.Join(root, listFile), tc.list)
			write(t, filepath.Join(root, "a_test.go"), "package a\n"+tc.tests)
			write(t, filepath.Join(root, document), tc.doc)

			err := run(root)
			if len(tc.errs) == 0 && err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}

			for _, want := range tc.errs {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: got error %v, want one with %q", tc.reason, err, want)
				}
			}

			if len(tc.errs) > 0 {
				tc.want = tc.doc
			}

			got, err := os.ReadFile(filepath.Join(root, document))
			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func TestShownBy(t *testing.T) {
	t.Parallel()

	got := shownBy("H1", []test{
		{[]string{"H1", "H2"}, "H1, H2: a [pod] | b", "cluster/e2e/a_test.go", testBed},
		{[]string{"H3"}, "TestH3Other", "b_test.go", pure},
		{[]string{"H1"}, "TestH1One", "c_test.go", apiServer},
	})

	want := `test bed: [H1, H2: a \[pod\] \| b](../cluster/e2e/a_test.go)<br>API server: [TestH1One](../c_test.go)`
	if got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func file(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }

func write(t *testing.T, path, text string) {
	t.Helper()

	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}

	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
