// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// inFolder has the test run in a repository of which bin/provider is a script.
func inFolder(t *testing.T, script string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for _, dir := range []string{"bin", folder} {
		if err := os.Mkdir(dir, 0o750); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile("bin/provider", []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
}

func take(t *testing.T) *slot {
	t.Helper()
	s, err := takeSlot(t.Context(), slotFile, t.Logf)
	if err != nil {
		t.Fatalf("takeSlot(...): %v", err)
	}
	t.Cleanup(s.Close)
	return s
}

func start(t *testing.T, s *slot) *provider {
	t.Helper()
	p, err := s.start(true)
	if err != nil {
		t.Fatalf("start(...): %v", err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-p.pid, syscall.SIGKILL) })
	return p
}

func ended(t *testing.T, p *provider) error {
	t.Helper()
	select {
	case err := <-p.ended:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("the provider did not end")
		return nil
	}
}

func TestProviderIsReplaced(t *testing.T) {
	inFolder(t, "exec sleep 300")

	first := take(t)
	p := start(t, first)
	// The demo that started it is over, and the provider goes on.
	first.Close()
	select {
	case err := <-p.ended:
		t.Fatalf("A provider outlives its demo: %v", err)
	default:
	}

	var said bytes.Buffer
	second, err := takeSlot(t.Context(), slotFile, sayer(&said, time.Now()))
	if err != nil {
		t.Fatalf("takeSlot(...): %v", err)
	}
	t.Cleanup(second.Close)
	if want := fmt.Sprintf("stopped the provider of the earlier run (process %d)", p.pid); !strings.Contains(said.String(), want) {
		t.Errorf("A person reads what became of it: want %q, got %q", want, &said)
	}
	if err := ended(t, p); !strings.Contains(err.Error(), "terminated") {
		t.Errorf("The next demo ends the provider of the first in order, got %v", err)
	}
	if q := start(t, second); q.pid == p.pid {
		t.Errorf("The next demo starts a provider of its own, got %d again", q.pid)
	}
}

func TestProviderOutlivesWrongCluster(t *testing.T) {
	inFolder(t, "exec sleep 300")
	first := take(t)
	p := start(t, first)
	first.Close()

	const nowhere = `{"apiVersion":"v1","kind":"Config","current-context":"x","contexts":[{"name":"x","context":{"cluster":"x"}}],
		"clusters":[{"name":"x","cluster":{"server":"http://127.0.0.1:1"}}]}`
	if err := os.WriteFile("nowhere.kubeconfig", []byte(nowhere), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ file, want string }{
		"NoFile":   {file: "wrong.kubeconfig", want: "KUBECONFIG names wrong.kubeconfig, which does not exist"},
		"NoAnswer": {file: "nowhere.kubeconfig", want: "cannot reach the cluster at http://127.0.0.1:1"},
	}
	for name, tc := range cases {
		t.Setenv("KUBECONFIG", tc.file)
		if err := run(t.Context(), flags{}, io.Discard); err == nil || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: the message names what is wrong: want %q, got %v", name, tc.want, err)
		}
		select {
		case err := <-p.ended:
			t.Fatalf("%s: what runs is not given up for a cluster that does not answer: %v", name, err)
		default:
		}
	}

	if err := run(t.Context(), flags{Stop: true}, io.Discard); err != nil {
		t.Fatalf("run(stop): %v", err)
	}
	if err := ended(t, p); !strings.Contains(err.Error(), "terminated") {
		t.Errorf("To stop it needs no cluster, got %v", err)
	}
}

func TestForeignProcessIsSpared(t *testing.T) {
	inFolder(t, "exec sleep 300")
	bystander := start(t, take(t))

	// The id of a provider that ended long ago now belongs to somebody else.
	stale := filepath.Join(folder, "stale.pid")
	if err := os.WriteFile(stale, fmt.Appendln(nil, bystander.pid), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := takeSlot(t.Context(), stale, t.Logf)
	if err != nil {
		t.Fatalf("takeSlot(...): %v", err)
	}
	s.Close()
	if err := syscall.Kill(bystander.pid, 0); err != nil {
		t.Errorf("A process that does not hold the file is not ours to end: %v", err)
	}
}

func TestProviderEnds(t *testing.T) {
	inFolder(t, `echo working; echo "provider: chart $VCLUSTER_CHART_VERSION, charts in $CHART_CACHE" >&2; exit 2`)

	err := ended(t, start(t, take(t)))
	for _, want := range []string{"exit status 2", "provider: chart 0.36.1, charts in .demo/charts"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("The reason is in the last line of its log: want %q, got %v", want, err)
		}
	}
}

func TestProviderCannotStart(t *testing.T) {
	inFolder(t, "")
	if err := os.Remove("bin/provider"); err != nil {
		t.Fatal(err)
	}
	if _, err := take(t).start(false); err == nil || !strings.Contains(err.Error(), "bin/provider") {
		t.Errorf("The message names what cannot be started, got %v", err)
	}
}

func TestProviderIsAwaited(t *testing.T) {
	inFolder(t, "exec sleep 300")
	answers := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers++
		if r.URL.Path != "/readyz" || answers < 3 {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	t.Setenv(probeVariable, strings.TrimPrefix(server.URL, "http://"))

	p := start(t, take(t))
	if err := p.await(t.Context()); err != nil || answers != 3 {
		t.Errorf("It is ready when it says so, got %v after %d answers", err, answers)
	}

	server.Close()
	if err := syscall.Kill(p.pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := p.await(t.Context()); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("Nobody waits for a provider that ended, got %v", err)
	}
}
