// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
)

const gib = 1 << 30

const (
	// RunDisk is how many bytes a run needs when all is built.
	RunDisk = 5 * gib
	// BuildDisk is how many bytes more each program needs that is to be built,
	// most of them for Go's caches: some 20 GiB when nothing is there.
	BuildDisk = 14 * gib / 10
)

// Machine checks the operating system and the user.
func Machine() error { return machine(runtime.GOOS, os.Geteuid()) }

func machine(system string, user int) error {
	if system != "linux" {
		return fmt.Errorf("cannot run a cluster on %s: it needs Linux (network namespaces, control groups)", system)
	}
	if user != 0 {
		return fmt.Errorf("cannot run a cluster as user %d: it needs root (try sudo)", user)
	}
	return nil
}

// Disk checks that the file system of the folder, which need not exist yet, has
// so many bytes free.
func Disk(folder string, need uint64) error {
	free, err := freeBytes(folder)
	if err != nil {
		return err
	}
	return enough(folder, free, need)
}

func enough(folder string, free, need uint64) error {
	if free >= need {
		return nil
	}
	return fmt.Errorf("cannot use %q: %.1f GiB of disk are free, %.1f GiB are needed", folder, float64(free)/gib, float64(need)/gib)
}

func freeBytes(folder string) (uint64, error) {
	for {
		var s syscall.Statfs_t
		err := syscall.Statfs(folder, &s)
		if err == nil {
			return s.Bavail * uint64(s.Bsize), nil //nolint:gosec // The kernel reports no negative size.
		}
		parent := filepath.Dir(folder)
		if !errors.Is(err, fs.ErrNotExist) || parent == folder {
			return 0, fmt.Errorf("cannot look at the disk of %q: %w", folder, err)
		}
		folder = parent
	}
}

// kernelFeatures maps a file that the kernel shows when it has a feature to the
// module that brings it.
var kernelFeatures = map[string]string{
	"/proc/sys/net/bridge/bridge-nf-call-iptables": "br_netfilter",
	"/sys/module/overlay":                          "overlay",
}

// Kernel loads the kernel modules that the node needs, where they are modules
// and not loaded yet. A module that cannot be loaded may be built in: what then
// really lacks fails later, with its own message.
func Kernel(ctx context.Context) {
	for file, module := range kernelFeatures {
		if _, err := os.Stat(file); err != nil {
			_ = exec.CommandContext(ctx, "modprobe", module).Run()
		}
	}
}
