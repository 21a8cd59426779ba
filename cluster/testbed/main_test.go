// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, args ...string) (cli, string) {
	t.Helper()
	var c cli
	p, err := kong.New(&c, kong.Vars{"cache": "/cache"}, kong.Exit(func(int) { t.Error("the parser wants to exit") }))
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.Parse(args)
	if err != nil {
		t.Fatal(err)
	}
	return c, k.Command()
}

func TestDefaults(t *testing.T) {
	for _, v := range []string{"KUBEOPERA_TESTBED_CACHE", "KUBEOPERA_TESTBED_NAME", "KUBEOPERA_TESTBED_STATE"} {
		t.Setenv(v, "") // So that it is put back when the test ends.
		if err := os.Unsetenv(v); err != nil {
			t.Fatal(err)
		}
	}
	c, command := parse(t, "up")
	if command != "up" || c.Name != "kubeopera" || c.Cache != "/cache" || c.State != "/var/lib/kubeopera-testbed" {
		t.Errorf("%q of cluster %q with cache %q and state %q", command, c.Name, c.Cache, c.State)
	}
}

func TestEnvironment(t *testing.T) {
	t.Setenv("KUBEOPERA_TESTBED_CACHE", "/elsewhere")
	t.Setenv("KUBEOPERA_TESTBED_NAME", "dev")
	if c, _ := parse(t, "down"); c.Cache != "/elsewhere" || c.Name != "dev" {
		t.Errorf("cache is %q, name is %q", c.Cache, c.Name)
	}
	if c, _ := parse(t, "--name=flag", "down"); c.Name != "flag" {
		t.Errorf("name is %q, though the flag says otherwise", c.Name)
	}
}

func TestExecPassesFlagsOn(t *testing.T) {
	c, _ := parse(t, "--name=dev", "exec", "--", "kubectl", "--name", "get", "-A", "--", "x")
	got := c.Exec.Command
	if len(got) > 0 && got[0] == "--" {
		got = got[1:]
	}
	if diff := cmp.Diff([]string{"kubectl", "--name", "get", "-A", "--", "x"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if c.Name != "dev" {
		t.Errorf("name is %q", c.Name)
	}
}

func TestSignalEndsContext(t *testing.T) {
	ctx, stop := signalContext()
	defer stop()
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case <-ctx.Done():
		if err := context.Cause(ctx); !errors.Is(err, errInterrupted) {
			t.Errorf("context ended by %v, want %v", err, errInterrupted)
		}
	case <-time.After(time.Minute):
		t.Error("a signal does not end the context")
	}
}
