// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package gitserver is the node's Git server. It speaks smart HTTP through
// git's own http-backend and makes a repository when it is first pushed to.
package gitserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/cgi" //nolint:gosec // Its fault was mended in Go 1.6.3.
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
)

const (
	// branch is what HEAD of a new repository points to.
	branch = "main"
	// maxBody is the largest push, in bytes.
	maxBody = 64 << 20
	receive = "git-receive-pack"
)

// repositoryPath is what a client asks for: NAME.git and something in it.
var repositoryPath = regexp.MustCompile(`^/([A-Za-z0-9][-._A-Za-z0-9]*\.git)/`)

// A server serves the repositories in its folder.
type server struct {
	folder string
	git    string
	log    *log.Logger

	mu sync.Mutex
}

// New returns a handler that serves the repositories in the folder. Whoever
// asks may clone; only the node itself may push, and thereby make repositories.
// It fails when git is not installed.
func New(logger *log.Logger, folder string) (http.Handler, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return nil, fmt.Errorf("cannot find git: %w", err)
	}
	folder, err = filepath.Abs(folder)
	if err != nil {
		return nil, fmt.Errorf("cannot find folder of repositories: %w", err)
	}
	return &server{folder: folder, git: git, log: logger}, nil
}

// ServeHTTP answers one of git's requests.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.log.Printf("%s %s from %s", r.Method, r.URL, r.RemoteAddr)
	found := repositoryPath.FindStringSubmatch(r.URL.Path)
	if found == nil {
		http.Error(w, "repositories are at /NAME.git", http.StatusNotFound)
		return
	}
	if isPush(r) {
		if !fromNode(r) {
			http.Error(w, "only the node may push", http.StatusForbidden)
			return
		}
		if err := s.ensure(r.Context(), found[1]); err != nil {
			s.log.Print(err)
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
	}
	if err := buffer(w, r); err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	s.backend().ServeHTTP(w, r)
}

// isPush says whether the request is one of the two that a push consists of.
func isPush(r *http.Request) bool {
	return strings.HasSuffix(r.URL.Path, "/"+receive) || r.URL.Query().Get("service") == receive
}

// fromNode says whether the client has the address that it asked at, which no
// pod has but those in the node's network.
func fromNode(r *http.Request) bool {
	local, ok := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	if !ok {
		return false
	}
	here, _, err := net.SplitHostPort(local.String())
	if err != nil {
		return false
	}
	there, _, err := net.SplitHostPort(r.RemoteAddr)
	return err == nil && here == there
}

// ensure makes the repository unless it is there. It gets its name when it is
// whole, so that an interrupted attempt is no obstacle.
func (s *server) ensure(ctx context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	final := filepath.Join(s.folder, name)
	if _, err := os.Stat(final); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	temp := final + ".part"
	if err := os.RemoveAll(temp); err != nil {
		return fmt.Errorf("cannot clear unfinished repository %q: %w", name, err)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--bare", "--initial-branch=" + branch, temp},
		{"-C", temp, "config", "http.receivepack", "true"},
	} {
		cmd := exec.CommandContext(ctx, s.git, args...)
		cmd.Env = append(os.Environ(), settings...)
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("cannot make repository %q: %w: %s", name, err, bytes.TrimSpace(out))
		}
	}
	if err := os.Rename(temp, final); err != nil {
		return fmt.Errorf("cannot make repository %q: %w", name, err)
	}
	s.log.Printf("made repository %s", name)
	return nil
}

// settings keep the machine's git configuration out.
var settings = []string{"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null"}

func (s *server) backend() http.Handler {
	return &cgi.Handler{
		Path:   s.git,
		Args:   []string{"http-backend"},
		Root:   "/",
		Env:    append([]string{"GIT_PROJECT_ROOT=" + s.folder, "GIT_HTTP_EXPORT_ALL=1"}, settings...),
		Logger: s.log,
		Stderr: s.log.Writer(),
	}
}

// buffer reads a body of unknown length, as git sends for all but small pushes:
// the CGI standard knows only bodies of a known one.
func buffer(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength >= 0 {
		return nil
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		return fmt.Errorf("cannot read push: %w", err)
	}
	r.Body, r.ContentLength, r.TransferEncoding = io.NopCloser(bytes.NewReader(b)), int64(len(b)), nil
	return nil
}
