// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"context"
	"crypto/rand"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func handler(t *testing.T, folder string) http.Handler {
	t.Helper()
	h, err := New(log.New(io.Discard, "", 0), folder)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func start(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// git runs git in the folder, as a user without a configuration.
func git(t *testing.T, folder string, args ...string) (string, error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder, "-c", "user.name=t", "-c", "user.email=t@example.org"}, args...)...)
	cmd.Env = append(os.Environ(), append(settings, "GIT_TERMINAL_PROMPT=0")...)
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func must(t *testing.T, folder string, args ...string) string {
	t.Helper()
	out, err := git(t, folder, args...)
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(out)
}

// commit returns the folder of a new repository with one commit of the file.
func commit(t *testing.T, content string) string {
	t.Helper()
	dir := t.TempDir()
	must(t, dir, "init", "--quiet", "--initial-branch=main")
	if err := os.WriteFile(filepath.Join(dir, "file"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	must(t, dir, "add", "file")
	must(t, dir, "commit", "--quiet", "--message=one")
	return dir
}

func TestPushAndClone(t *testing.T) {
	t.Parallel()
	// Half a repository, as an ended daemon leaves it, is no obstacle.
	folder := t.TempDir()
	if err := os.MkdirAll(filepath.Join(folder, "apps.git.part", "HEAD"), 0o755); err != nil {
		t.Fatal(err)
	}
	url := start(t, handler(t, folder)) + "/apps.git"
	work := commit(t, "hello")
	must(t, work, "push", "--quiet", url, "main")

	clone := filepath.Join(t.TempDir(), "clone")
	must(t, work, "clone", "--quiet", url, clone)
	if b, err := os.ReadFile(filepath.Join(clone, "file")); err != nil || string(b) != "hello" {
		t.Errorf("cloned file is %q, %v", b, err)
	}
	if got := must(t, clone, "branch", "--show-current"); got != "main" {
		t.Errorf("HEAD is %q", got)
	}
	must(t, clone, "commit", "--quiet", "--allow-empty", "--message=two")
	must(t, clone, "push", "--quiet")
	if got, want := must(t, work, "ls-remote", url, "refs/heads/main"), must(t, clone, "rev-parse", "HEAD"); !strings.HasPrefix(got, want) {
		t.Errorf("main is at %q after the second push, want %s", got, want)
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 || entries[0].Name() != "apps.git" {
		t.Errorf("the folder holds %v", entries)
	}
}

// git sends what is larger than its buffer in chunks, which CGI does not know.
func TestPushInChunks(t *testing.T) {
	t.Parallel()
	h, chunked := handler(t, t.TempDir()), atomic.Bool{}
	url := start(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(r.TransferEncoding, "chunked") {
			chunked.Store(true)
		}
		h.ServeHTTP(w, r)
	})) + "/big.git"
	noise := make([]byte, 2<<20)
	_, _ = rand.Read(noise)
	work := commit(t, string(noise))
	must(t, work, "push", "--quiet", url, "main")
	if got := must(t, work, "ls-remote", url, "refs/heads/main"); !strings.HasPrefix(got, must(t, work, "rev-parse", "HEAD")) {
		t.Errorf("main is at %q", got)
	}
	if !chunked.Load() {
		t.Error("git did not push in chunks, so that nothing is proved")
	}
}

func TestNothingToClone(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	url := start(t, handler(t, folder))
	if out, err := git(t, t.TempDir(), "clone", url+"/nosuch.git", "x"); err == nil {
		t.Errorf("a repository that nobody pushed is cloned:\n%s", out)
	}
	if entries, _ := os.ReadDir(folder); len(entries) > 0 {
		t.Errorf("to ask for a repository makes %v", entries)
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	const node = "10.89.0.1"
	cases := map[string]struct {
		reason string
		method string
		path   string
		from   string
		want   int
	}{
		"Node":         {reason: "the node may push", path: "/a.git/info/refs?service=git-receive-pack", from: node, want: http.StatusOK},
		"Pod":          {reason: "a pod may not push", path: "/a.git/info/refs?service=git-receive-pack", from: "10.88.0.7", want: http.StatusForbidden},
		"PodPosts":     {reason: "not even without asking first", method: http.MethodPost, path: "/a.git/git-receive-pack", from: "10.88.0.7", want: http.StatusForbidden},
		"PodClones":    {reason: "a pod may ask for what is not there", path: "/b.git/info/refs?service=git-upload-pack", from: "10.88.0.7", want: http.StatusNotFound},
		"Above":        {reason: "no name leads out of the folder", path: "/../a.git/info/refs?service=git-receive-pack", from: node, want: http.StatusNotFound},
		"AboveEncoded": {reason: "nor by another spelling", path: "/%2e%2e%2fa.git/info/refs?service=git-receive-pack", from: node, want: http.StatusNotFound},
		"Below":        {reason: "nor below another repository", path: "/x/a.git/info/refs?service=git-receive-pack", from: node, want: http.StatusNotFound},
		"Root":         {reason: "there is no list", path: "/", from: node, want: http.StatusNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			ctx := context.WithValue(t.Context(), http.LocalAddrContextKey, &net.TCPAddr{IP: net.ParseIP(node), Port: 3000})
			r := httptest.NewRequestWithContext(ctx, tc.method, tc.path, http.NoBody)
			r.RemoteAddr = net.JoinHostPort(tc.from, "4711")
			w := httptest.NewRecorder()
			handler(t, folder).ServeHTTP(w, r)
			if w.Code != tc.want {
				t.Errorf("%s: answer is %d %q, want %d", tc.reason, w.Code, w.Body, tc.want)
			}
			entries, err := os.ReadDir(folder)
			if err != nil {
				t.Fatal(err)
			}
			if made := len(entries) > 0; made != (tc.want == http.StatusOK) {
				t.Errorf("%s: the folder holds %v", tc.reason, entries)
			}
		})
	}
}

func TestFromNode(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		local  any
		remote string
		want   bool
	}{
		"Same":      {reason: "the node's own address", local: &net.TCPAddr{IP: net.ParseIP("10.89.0.1"), Port: 3000}, remote: "10.89.0.1:9", want: true},
		"Other":     {reason: "another address", local: &net.TCPAddr{IP: net.ParseIP("10.89.0.1"), Port: 3000}, remote: "10.89.0.10:9"},
		"Unknown":   {reason: "who cannot be told is not trusted", remote: "10.89.0.1:9"},
		"NoAddress": {reason: "nor is who has no address", local: &net.UnixAddr{Name: "/s"}, remote: "@"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(context.WithValue(t.Context(), http.LocalAddrContextKey, tc.local), http.MethodGet, "/", http.NoBody)
			r.RemoteAddr = tc.remote
			if got := fromNode(r); got != tc.want {
				t.Errorf("%s: fromNode(...) = %t", tc.reason, got)
			}
		})
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func TestBuffer(t *testing.T) {
	t.Parallel()
	request := func(body io.Reader) *http.Request {
		return httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/a.git/git-receive-pack", body)
	}
	// A reader of unknown kind has an unknown length.
	r := request(io.MultiReader(strings.NewReader("some "), strings.NewReader("data")))
	if err := buffer(httptest.NewRecorder(), r); err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff("some data", string(b)); diff != "" || r.ContentLength != 9 {
		t.Errorf("length is %d, -want +got:\n%s", r.ContentLength, diff)
	}
	if err := buffer(httptest.NewRecorder(), request(endless{})); err == nil {
		t.Error("a push without end is read to its end")
	}
}
