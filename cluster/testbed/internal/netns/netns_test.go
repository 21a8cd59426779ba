// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package netns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"
)

// unused returns the name of a network namespace that is not there, and sees to
// it that none of that name is left.
func unused(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}
	name := fmt.Sprintf("testbed-test-%d-%d", os.Getpid(), time.Now().UnixNano())
	t.Cleanup(func() {
		if err := Delete(name); err != nil {
			t.Error(err)
		}
	})
	return name
}

func TestCreateAndDelete(t *testing.T) {
	t.Parallel()
	name := unused(t)
	if _, err := Inode(name); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("Inode(...) = %v, want %v", err, fs.ErrNotExist)
	}
	if err := Create(t.Context(), name, "10.1.2.3/24"); err != nil {
		t.Fatal(err)
	}
	inode, err := Inode(name)
	if err != nil || inode == 0 {
		t.Fatalf("Inode(...) = %d, %v", inode, err)
	}
	var there string
	var l net.Listener
	err = Do(name, func() error {
		there, _ = os.Readlink("/proc/thread-self/ns/net")
		l, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "10.1.2.3:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	if want := fmt.Sprintf("net:[%d]", inode); there != want {
		t.Errorf("Do(...) runs in %q, want %q", there, want)
	}
	conn, err := Dial(name)(t.Context(), "tcp", l.Addr().String())
	if err != nil {
		t.Fatalf("cannot reach the node's address from inside: %v", err)
	}
	_ = conn.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", l.Addr().String()); err == nil {
		_ = conn.Close()
		t.Error("the node's address can be reached from outside")
	}

	if err := Create(t.Context(), name, "10.1.2.3/24"); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("Create(...) of what is there = %v, want an error that names it", err)
	}
	for range 2 {
		if err := Delete(name); err != nil {
			t.Fatal(err)
		}
	}
	if b, _ := os.ReadFile("/proc/self/mountinfo"); strings.Contains(string(b), name) {
		t.Error("a mount is left")
	}
}

func TestStaleFile(t *testing.T) {
	t.Parallel()
	name := unused(t)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(Path(name), nil, 0o444); err != nil {
		t.Fatal(err)
	}
	if inode, err := Inode(name); err != nil || inode != 0 {
		t.Errorf("Inode(...) of a file = %d, %v, want 0", inode, err)
	}
	if err := Create(t.Context(), name, "10.1.2.3/24"); err != nil {
		t.Errorf("Create(...) over a file that a restart left: %v", err)
	}
}

func TestDoReturnsToItsThread(t *testing.T) {
	t.Parallel()
	name := unused(t)
	if err := Create(t.Context(), name, "10.1.2.3/24"); err != nil {
		t.Fatal(err)
	}
	home, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := Do(name, func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("Do(...) = %v, want %v", err, broken)
	}
	threads, err := os.ReadDir("/proc/self/task")
	if err != nil {
		t.Fatal(err)
	}
	// Another test may have a thread inside another namespace at this moment,
	// but this one's must be empty.
	inode, err := Inode(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, th := range threads {
		if got, _ := os.Readlink("/proc/self/task/" + th.Name() + "/ns/net"); got == fmt.Sprintf("net:[%d]", inode) {
			t.Errorf("thread %s stayed in %q, home is %q", th.Name(), got, home)
		}
	}
	if err := Do(name+"x", func() error { return nil }); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Do(...) in no namespace = %v, want %v", err, fs.ErrNotExist)
	}
}
