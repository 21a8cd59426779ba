// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

func newCluster(t *testing.T) *Cluster {
	t.Helper()
	c, err := New("test", t.TempDir(), t.TempDir(), step.New(io.Discard))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(c.state.logs(), 0o755); err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, content string, elem ...string) {
	t.Helper()
	file := filepath.Join(elem...)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestCheckName(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		name   string
		ok     bool
	}{
		"Plain":     {reason: "a usual name", name: "kubeopera-dev2", ok: true},
		"Short":     {reason: "one letter is a name", name: "a", ok: true},
		"Longest":   {reason: "32 is the most", name: strings.Repeat("a", 32), ok: true},
		"TooLong":   {reason: "a socket's path has an end", name: strings.Repeat("a", 33)},
		"Empty":     {reason: "the state folder of all clusters is no cluster", name: ""},
		"Path":      {reason: "a name must not lead elsewhere", name: "../x"},
		"UpperCase": {reason: "no node can have that name", name: "Dev"},
		"LastDash":  {reason: "no node can have that name", name: "dev-"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := New(tc.name, t.TempDir(), t.TempDir(), step.New(io.Discard))
			if (err == nil) != tc.ok {
				t.Errorf("%s: New(%q) error: %v", tc.reason, tc.name, err)
			}
			if err != nil && !strings.Contains(err.Error(), "--name") {
				t.Errorf("%s: %q does not name the flag", tc.reason, err)
			}
		})
	}
}

func TestMarker(t *testing.T) {
	t.Parallel()
	s := state(t.TempDir())
	if m, err := s.readMarker(); m != nil || err != nil {
		t.Errorf("readMarker() of nothing = %v, %v", m, err)
	}
	want := marker{Name: "x", Boot: "b", Network: 42, Complete: true, Made: time.Unix(9, 0).UTC(), Programs: "p"}
	if err := s.writeMarker(want); err != nil {
		t.Fatal(err)
	}
	got, err := s.readMarker()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	write(t, `{"name":"x`, s.marker())
	if m, err := s.readMarker(); err != nil || m == nil || m.Complete {
		t.Errorf("readMarker() of a cut-off marker = %v, %v, want one that is not complete", m, err)
	}
}

func TestMarkerOwns(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		m      *marker
		want   bool
	}{
		"Same":         {reason: "the namespace that was recorded", m: &marker{Boot: "b", Network: 42}, want: true},
		"NotYetKnown":  {reason: "a run that was ended before it recorded the namespace", m: &marker{Boot: "b"}, want: true},
		"NoMarker":     {reason: "a namespace that nobody recorded"},
		"OtherNetwork": {reason: "someone has made another of that name", m: &marker{Boot: "b", Network: 43}},
		"OtherBoot":    {reason: "no namespace outlives the machine's run", m: &marker{Boot: "a", Network: 42}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := tc.m.owns("b", 42); got != tc.want {
				t.Errorf("%s: owns(...) = %t", tc.reason, got)
			}
		})
	}
}

func TestClear(t *testing.T) {
	t.Parallel()
	s := state(t.TempDir())
	for _, file := range []string{"logs/etcd.log", "logs.previous/etcd.log", "lock", "etcd/db", "volumes/pvc/data", "kubeconfig", "cluster.json"} {
		write(t, "", string(s), file)
	}
	for range 2 {
		if err := s.clear(); err != nil {
			t.Fatal(err)
		}
	}
	entries, err := os.ReadDir(string(s))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if diff := cmp.Diff([]string{"lock", "logs", "logs.previous"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if err := state(filepath.Join(t.TempDir(), "nosuch")).clear(); err != nil {
		t.Errorf("clear() of nothing = %v", err)
	}
}

func TestTurnLogs(t *testing.T) {
	t.Parallel()
	s := state(t.TempDir())
	if err := s.turnLogs(); err != nil {
		t.Fatalf("turnLogs() without logs: %v", err)
	}
	for _, run := range []string{"first", "second"} {
		write(t, run, s.logs(), "etcd.log")
		if err := s.turnLogs(); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(s.path("logs.previous", "etcd.log")); err != nil || string(b) != run {
			t.Errorf("last log is %q, %v, want %q", b, err, run)
		}
		if _, err := os.Stat(s.logs()); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("logs after turnLogs(): %v", err)
		}
	}
}

func TestForgetOtherBoot(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	write(t, "{}", c.state.pids(), "etcd.json")
	if err := c.forgetOtherBoot(marker{Boot: boot}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.state.pids()); err != nil {
		t.Errorf("records of this boot are gone: %v", err)
	}
	if err := c.forgetOtherBoot(marker{Boot: "another"}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(c.state.pids()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("records of another boot: %v", err)
	}
}
