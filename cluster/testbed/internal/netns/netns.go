// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package netns makes the network namespace of the cluster, and lets this
// program reach into it.
package netns

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/vishvananda/netns"
	"golang.org/x/sys/unix"
)

// folder is where the ip command keeps named network namespaces.
const folder = "/run/netns"

// Path is the file that stands for the named network namespace.
func Path(name string) string { return filepath.Join(folder, name) }

// Inode returns the number by which the kernel knows the network namespace, or
// fs.ErrNotExist when there is none of that name. A file that stands for no
// namespace, as an interrupted removal leaves, has number 0.
func Inode(name string) (uint64, error) {
	inode, release, err := Hold(Path(name))
	if err != nil {
		return 0, err
	}
	release()
	return inode, nil
}

// Hold returns the number of the network namespace that the file stands for, as
// Inode does, and keeps the kernel from giving it to another one until release
// is called.
func Hold(file string) (inode uint64, release func(), err error) {
	h, err := netns.GetFromPath(file)
	if err != nil {
		return 0, nil, fmt.Errorf("cannot open network namespace: %w", &fs.PathError{Op: "open", Path: file, Err: err})
	}
	var f unix.Statfs_t
	var s unix.Stat_t
	if err := errors.Join(unix.Fstatfs(int(h), &f), unix.Fstat(int(h), &s)); err != nil {
		_ = h.Close()
		return 0, nil, fmt.Errorf("cannot look at network namespace %q: %w", file, err)
	}
	if f.Type == unix.NSFS_MAGIC {
		inode = s.Ino
	}
	return inode, func() { _ = h.Close() }, nil
}

// Create makes the named network namespace, with its loopback up and a bridge
// without ports, which holds the node's address (in CIDR notation) and the
// default route, so that a service's address has a way out before it is
// rewritten.
func Create(ctx context.Context, name, address string) error {
	steps := [][]string{
		{"netns", "add", name},
		{"-n", name, "link", "set", "lo", "up"},
		{"-n", name, "link", "add", bridge, "type", "bridge"},
		{"-n", name, "address", "add", address, "dev", bridge},
		{"-n", name, "link", "set", bridge, "up"},
		{"-n", name, "route", "add", "default", "dev", bridge},
	}
	// A file that stands for no namespace is left by a machine that went down.
	if inode, err := Inode(name); err == nil && inode == 0 {
		if err := Delete(name); err != nil {
			return err
		}
	}
	for _, args := range steps {
		if err := ip(ctx, args...); err != nil {
			return err
		}
	}
	return Do(name, func() error {
		for file, value := range sysctls {
			if err := os.WriteFile(file, []byte(value), 0o600); err != nil {
				return fmt.Errorf("cannot set %s (is the kernel module br_netfilter there?): %w", file, err)
			}
		}
		return nil
	})
}

const bridge = "node0"

var sysctls = map[string]string{
	"/proc/sys/net/ipv4/ip_forward":                 "1",
	"/proc/sys/net/bridge/bridge-nf-call-iptables":  "1",
	"/proc/sys/net/bridge/bridge-nf-call-ip6tables": "1",
}

// Delete removes the named network namespace, or a file that stands in its
// place. It is no error if there is none.
func Delete(name string) error {
	err := unix.Unmount(Path(name), unix.MNT_DETACH)
	// A file that is no mount is what a machine that went down leaves.
	if err != nil && !errors.Is(err, unix.EINVAL) && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot unmount network namespace %q: %w", name, err)
	}
	if err := os.Remove(Path(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot remove network namespace %q: %w", name, err)
	}
	// The ip command has made the folder a mount of itself. It refuses to go
	// while it holds another namespace, and then is to stay.
	if left, err := os.ReadDir(folder); err == nil && len(left) == 0 {
		_ = unix.Unmount(folder, 0)
	}
	return nil
}

func ip(ctx context.Context, args ...string) error {
	out, err := exec.CommandContext(ctx, "ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("cannot run ip %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// Do calls f on a thread that is inside the named network namespace.
func Do(name string, f func() error) error {
	runtime.LockOSThread()
	home, err := netns.Get()
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("cannot remember own network namespace: %w", err)
	}
	defer func() { _ = home.Close() }()
	there, err := netns.GetFromName(name)
	if err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("cannot open network namespace %q: %w", name, err)
	}
	defer func() { _ = there.Close() }()
	if err := netns.Set(there); err != nil {
		runtime.UnlockOSThread()
		return fmt.Errorf("cannot enter network namespace %q: %w", name, err)
	}
	err = f()
	// A thread that cannot come back must not be used again: left locked, it
	// ends with its goroutine.
	if back := netns.Set(home); back != nil {
		return errors.Join(err, fmt.Errorf("cannot leave network namespace %q: %w", name, back))
	}
	runtime.UnlockOSThread()
	return err
}

// Dial returns a function that dials from inside the named network namespace.
// A socket stays in the namespace that it was made in.
func Dial(name string) func(ctx context.Context, network, address string) (net.Conn, error) {
	return DialAs(name, os.Geteuid())
}

// DialAs returns a function that dials as Dial's does, with a socket that the
// kernel takes for the user's.
func DialAs(name string, user int) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		var c net.Conn
		err := Do(name, func() error {
			own, err := unix.SetfsuidRetUid(user)
			if err != nil {
				return fmt.Errorf("cannot act as user %d: %w", user, err)
			}
			defer func() { _, _ = unix.SetfsuidRetUid(own) }()
			c, err = (&net.Dialer{FallbackDelay: -1}).DialContext(ctx, network, address)
			return err
		})
		return c, err
	}
}
