// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// script is a program that stands in for the provider.
func script(t *testing.T, text string) *Provider {
	t.Helper()

	dir := t.TempDir()
	binary := filepath.Join(dir, "provider")

	if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}

	p, err := NewProvider(binary, dir, []byte("kubeconfig"))
	if err != nil {
		t.Fatal(err)
	}

	return p
}

func TestNewProviderNeedsItsProgram(t *testing.T) {
	t.Parallel()

	_, err := NewProvider(filepath.Join(t.TempDir(), "absent"), t.TempDir(), nil)
	if !errors.Is(err, os.ErrNotExist) || !strings.Contains(err.Error(), "KUBEOPERA_PROVIDER") {
		t.Errorf("got %v, want an error that says what is missing and how to name it", err)
	}
}

func TestStartTellsOfAnEnd(t *testing.T) {
	t.Parallel()

	start := time.Now()

	err := script(t, "echo cannot listen; exit 3").Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "cannot listen") {
		t.Errorf("got %v, want the exit status and the end of the log", err)
	}

	if d := time.Since(start); d > startLimit/2 {
		t.Errorf("it was waited for %s for a provider that had ended", d)
	}
}

func TestKill(t *testing.T) {
	t.Parallel()

	p := script(t, "trap '' TERM; echo running; while :; do sleep 0.1; done")

	var err error

	p.process, err = StartProcess(p.newCommand([]string{"127.0.0.1:1", "127.0.0.1:2"}), p.LogFile())
	if err != nil {
		t.Fatal(err)
	}

	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}

	if p.process.Runs() || p.process.command.ProcessState == nil {
		t.Error("Kill returned before the program was gone")
	}

	if err := p.Stop(); err != nil {
		t.Errorf("Stop of a program that is gone: %v", err)
	}
}

func TestTailCuts(t *testing.T) {
	t.Parallel()

	p := &Provider{folder: t.TempDir()}
	if got := p.Tail(1); !strings.Contains(got, "no such file") {
		t.Errorf("got %q, want why there is no log", got)
	}

	write(t, p.LogFile(), "first\nsecond\n"+strings.Repeat("x", lineLimit+1)+"\n")

	if want := "second\n" + strings.Repeat("x", lineLimit); p.Tail(2) != want {
		t.Errorf("got %q, want %q", p.Tail(2), want)
	}
}
