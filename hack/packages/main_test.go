// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

const (
	function = `apiVersion: meta.pkg.crossplane.io/v1
kind: Function
metadata:
  name: function-small
`
	configuration = `apiVersion: meta.pkg.crossplane.io/v1
kind: Configuration
metadata:
  name: configuration-small
spec:
  dependsOn:
    - apiVersion: pkg.crossplane.io/v1
      kind: Function
      package: ghcr.io/kubeopera/function-small
`
	// It needs no more of Go than its runtime, to be compiled in no time.
	program = `package main

var version = "dev"

func main() { print(version) }
`
)

var small = []entry{
	{name: "function-small", meta: "function/crossplane.yaml", command: "./cmd/small", path: "/function"},
	{name: "configuration-small", meta: "configuration/crossplane.yaml", objects: []string{"configuration"}},
}

// enter makes a repository of small packages and goes there.
func enter(t *testing.T) {
	t.Helper()
	t.Chdir(t.TempDir())
	for file, content := range map[string]string{
		"go.mod":                        "module example.org/small\n\ngo 1.26\n",
		"cmd/small/main.go":             program,
		"function/crossplane.yaml":      function,
		"configuration/crossplane.yaml": configuration,
	} {
		write(t, file, content)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// packages runs the program and returns what it prints.
func packages(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), args, small, &out, io.Discard)
	return out.String(), err
}

// digests are those of the table, by name and architecture.
func digests(t *testing.T, table string) map[string]string {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(table), "\n")
	if diff := cmp.Diff([]string{"NAME", "ARCH", "DIGEST"}, strings.Fields(lines[0])); diff != "" {
		t.Fatalf("-want head, +got head:\n%s", diff)
	}
	out := map[string]string{}
	for _, l := range lines[1:] {
		f := strings.Fields(l)
		out[f[0]+" "+f[1]] = f[2]
	}
	return out
}

func tagged(t *testing.T, ref string) string {
	t.Helper()
	r, err := name.ParseReference(ref)
	if err != nil {
		t.Fatal(err)
	}
	d, err := remote.Get(r, remote.WithContext(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	return d.Digest.String()
}

func TestBuildAndPush(t *testing.T) {
	enter(t)
	table, err := packages(t, "build", "--version", "v1.2.3", "--output", "out")
	if err != nil {
		t.Fatal(err)
	}
	again, err := packages(t, "build", "--version", "v1.2.3", "--output", "elsewhere")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table, again); diff != "" {
		t.Errorf("two builds must give the same digests: -first, +second:\n%s", diff)
	}
	built := digests(t, table)
	if len(built) != 4 {
		t.Errorf("want a digest for each architecture, their index and the Configuration, got %v", built)
	}

	srv := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(srv.Close)
	prefix := strings.TrimPrefix(srv.URL, "http://") + "/ours"
	push := []string{"push", "--version", "v1.2.3", "--input", "out", "--registry", prefix + "/"}
	for _, done := range []string{"pushed", "is there already"} {
		out, err := packages(t, push...)
		if err != nil {
			t.Fatal(err)
		}
		want := "==> " + prefix + "/function-small:v1.2.3 " + built["function-small index"] + " " + done + "\n" +
			"==> " + prefix + "/configuration-small:v1.2.3 " + built["configuration-small any"] + " " + done + "\n"
		if diff := cmp.Diff(want, out); diff != "" {
			t.Errorf("what was built must be pushed, and once: -want, +got:\n%s", diff)
		}
	}

	write(t, "cmd/small/main.go", strings.Replace(program, "print(version)", `print("changed")`, 1))
	if _, err := packages(t, "build", "--version", "v1.2.3", "--output", "out"); err != nil {
		t.Fatal(err)
	}
	if _, err := packages(t, push...); err == nil || !strings.Contains(err.Error(), "--overwrite") || !strings.Contains(err.Error(), "another --version") {
		t.Errorf("a version that is out must not change unless told, and the error name both ways on, got %v", err)
	}
	if got := tagged(t, prefix+"/function-small:v1.2.3"); got != built["function-small index"] {
		t.Errorf("the tag must stay, got %s", got)
	}
	if _, err := packages(t, append(push, "--overwrite")...); err != nil {
		t.Fatal(err)
	}
	if got := tagged(t, prefix+"/function-small:v1.2.3"); got == built["function-small index"] {
		t.Error("overwriting must move the tag")
	}
}

func TestBuildForOneArch(t *testing.T) {
	enter(t)
	args := []string{"--version", "v1.2.3", "--arch", runtime.GOARCH}
	table, err := packages(t, append([]string{"build", "--output", "out"}, args...)...)
	if err != nil {
		t.Fatal(err)
	}
	built := digests(t, table)
	want := map[string]string{
		"function-small " + runtime.GOARCH: built["function-small "+runtime.GOARCH],
		"configuration-small any":          built["configuration-small any"],
	}
	if diff := cmp.Diff(want, built); diff != "" {
		t.Errorf("one architecture needs no index: -want, +got:\n%s", diff)
	}

	out, err := exec.CommandContext(t.Context(), "out/programs/function-small-"+runtime.GOARCH).CombinedOutput()
	if err != nil || string(out) != "v1.2.3" {
		t.Errorf("a program must know its version, got %q, %v", out, err)
	}
}

func TestFails(t *testing.T) {
	enter(t)
	version := []string{"--version", "v1.2.3", "--arch", runtime.GOARCH}
	build := append([]string{"build", "--output", "out"}, version...)

	if _, err := packages(t, append([]string{"push", "--input", "out", "--registry", "registry.invalid/ours"}, version...)...); err == nil ||
		!strings.Contains(err.Error(), "make packages VERSION=v1.2.3") {
		t.Errorf("pushing what is not built must say how to build it, got %v", err)
	}
	write(t, "cmd/small/main.go", "package main\n\nfunc main() { undefined() }\n")
	if _, err := packages(t, build...); err == nil || !strings.Contains(err.Error(), "undefined: undefined") {
		t.Errorf("what the compiler says must be shown, got %v", err)
	}
	write(t, "cmd/small/main.go", program)
	write(t, "configuration/crossplane.yaml", strings.Replace(configuration, "      package:", "      version: v1.0.0\n      package:", 1))
	if _, err := packages(t, build...); err == nil || !strings.Contains(err.Error(), "configuration/crossplane.yaml: spec.dependsOn[0]") {
		t.Errorf("a lint error must name its file, got %v", err)
	}
}
