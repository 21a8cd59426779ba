// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMissing(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	install := func(paths ...string) {
		for _, p := range paths {
			file := filepath.Join(root, p)
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, nil, 0o755); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, r := range requirements {
		install(r.Paths[len(r.Paths)-1])
	}
	if got := missing(root); len(got) != 0 {
		t.Fatalf("nothing is missing, but missing(...) = %q", got)
	}
	for _, p := range []string{"/usr/sbin/conntrack", CNIPlugins + "/bridge", CNIPlugins + "/portmap"} {
		if err := os.Remove(filepath.Join(root, p)); err != nil {
			t.Fatal(err)
		}
	}
	// A package of which two files are missing is named once.
	if diff := cmp.Diff([]string{"containernetworking-plugins", "conntrack"}, missing(root)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestMachine(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		system string
		user   int
		want   string
	}{
		"Root":     {reason: "root on Linux is what is needed", system: "linux", user: 0},
		"NotRoot":  {reason: "another user is told who is needed", system: "linux", user: 1000, want: "root"},
		"NotLinux": {reason: "another system is told which is needed", system: "darwin", user: 0, want: "Linux"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := machine(tc.system, tc.user)
			if (err != nil) != (tc.want != "") {
				t.Fatalf("%s: machine(...) = %v", tc.reason, err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %q does not say %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestDisk(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "not", "there", "yet")
	if err := Disk(folder, 1); err != nil {
		t.Errorf("Disk(...) of one byte = %v", err)
	}
	if err := Disk(folder, 1<<62); err == nil {
		t.Error("there are 4 EiB of disk")
	}
	err := enough("/x", 3*gib/2, 5*gib)
	if err == nil || !strings.Contains(err.Error(), "1.5 GiB") || !strings.Contains(err.Error(), "5.0 GiB") {
		t.Errorf("enough(...) = %v, want how much there is and how much is needed", err)
	}
	if err := enough("/x", 5*gib, 5*gib); err != nil {
		t.Errorf("enough(...) of just enough = %v", err)
	}
}

func TestInstallArgs(t *testing.T) {
	t.Parallel()
	got := strings.Join(installArgs([]string{"runc", "socat"}), " ")
	if !strings.HasPrefix(got, "install --yes") || !strings.HasSuffix(got, " runc socat") {
		t.Errorf("apt-get is run with %q", got)
	}
}
