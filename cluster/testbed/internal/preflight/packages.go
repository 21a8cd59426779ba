// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package preflight finds out, before anything is started, whether the machine
// can run the cluster, and says in words what is missing.
package preflight

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/step"
)

// A requirement is a file that one of Debian's packages brings.
type requirement struct {
	Package string
	// Paths are the places where the file may be; one is enough.
	Paths []string
}

var requirements = []requirement{
	{"containerd", []string{"/usr/bin/containerd", "/usr/local/bin/containerd"}},
	{"containerd", []string{"/usr/bin/containerd-shim-runc-v2", "/usr/local/bin/containerd-shim-runc-v2"}},
	{"runc", []string{"/usr/sbin/runc", "/usr/bin/runc", "/usr/local/sbin/runc"}},
	{"containernetworking-plugins", []string{CNIPlugins + "/bridge"}},
	{"containernetworking-plugins", []string{CNIPlugins + "/portmap"}},
	{"containernetworking-plugins", []string{CNIPlugins + "/host-local"}},
	{"iptables", []string{"/usr/sbin/iptables", "/sbin/iptables"}},
	{"conntrack", []string{"/usr/sbin/conntrack"}},
	{"socat", []string{"/usr/bin/socat"}},
	{"ethtool", []string{"/usr/sbin/ethtool", "/sbin/ethtool"}},
	{"busybox-static", busyboxPaths},
	{"git", []string{"/usr/lib/git-core/git-http-backend"}},
	{"iproute2", []string{"/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip"}},
	{"util-linux", []string{"/usr/bin/nsenter"}},
	{"gcc", []string{"/usr/bin/gcc"}},
	{"libc6-dev", []string{"/usr/lib/x86_64-linux-gnu/libc.a", "/usr/lib/aarch64-linux-gnu/libc.a"}},
}

// CNIPlugins is the folder of Debian's CNI plugins.
const CNIPlugins = "/usr/lib/cni"

var busyboxPaths = []string{"/bin/busybox", "/usr/bin/busybox"}

// missing returns the packages of which a file cannot be found below root.
func missing(root string) []string {
	var out []string
	for _, r := range requirements {
		found := slices.ContainsFunc(r.Paths, func(p string) bool {
			_, err := os.Stat(filepath.Join(root, p))
			return err == nil
		})
		if !found && !slices.Contains(out, r.Package) {
			out = append(out, r.Package)
		}
	}
	return out
}

// ErrPackages says that Debian packages are missing and could not be installed.
var ErrPackages = errors.New("missing Debian packages")

// Packages installs the Debian packages that are missing. Without root or apt
// it fails with their names.
func Packages(ctx context.Context, log *step.Log) error {
	want := missing("/")
	if len(want) == 0 {
		return nil
	}
	names := strings.Join(want, " ")
	if _, err := exec.LookPath("apt-get"); err != nil || os.Geteuid() != 0 {
		return fmt.Errorf("%w: %s: install them, on Debian by 'apt-get install %s' as root", ErrPackages, names, names)
	}
	if err := log.Do("install Debian packages "+names, func() error { return install(ctx, want) }); err != nil {
		return err
	}
	if left := missing("/"); len(left) > 0 {
		return fmt.Errorf("%w after their installation: %s", ErrPackages, strings.Join(left, " "))
	}
	return nil
}

// install first tries with the package lists that are there.
func install(ctx context.Context, names []string) error {
	restore, err := forbidServices()
	if err != nil {
		return err
	}
	defer restore()
	if apt(ctx, installArgs(names)...) == nil {
		return nil
	}
	if err := apt(ctx, "update"); err != nil {
		return err
	}
	return apt(ctx, installArgs(names)...)
}

func installArgs(names []string) []string {
	return append([]string{"install", "--yes", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=120"}, names...)
}

func apt(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, "apt-get", args...)
	cmd.Env = append(os.Environ(), "DEBIAN_FRONTEND=noninteractive")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot run apt-get %s: %w\n%s", strings.Join(args, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

// policy is the file by which Debian's packages ask whether they may start
// their services; exit status 101 says no.
const policy = "/usr/sbin/policy-rc.d"

// forbidServices keeps the packages from starting services, such as Debian's
// own containerd. A policy that is there already stays as it is.
func forbidServices() (restore func(), err error) {
	f, err := os.OpenFile(policy, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) //nolint:gosec // It is a program, which any user may ask.
	if errors.Is(err, os.ErrExist) {
		return func() {}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot forbid service starts: %w", err)
	}
	_, err = f.WriteString("#!/bin/sh\nexit 101\n")
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("cannot forbid service starts: %w", err)
	}
	return func() { _ = os.Remove(policy) }, nil
}

// BusyboxPath is where busybox is found.
func BusyboxPath() string {
	for _, p := range busyboxPaths {
		if _, err := os.Stat(p); err == nil {
			return p
		}
	}
	return busyboxPaths[0]
}
