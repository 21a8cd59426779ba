// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// minWatchers is how many inotify instances root must have. Each daemon and many
// a pod takes some, and the kernel's usual 128 are gone with a few clusters.
const minWatchers = 1024

const watchersFile = "/proc/sys/fs/inotify/max_user_instances"

// Watchers raises the machine's limit of inotify instances where it is too low
// for a cluster. It is never lowered again.
func Watchers() error { return raise(watchersFile, minWatchers) }

// raise the number in a file of the kernel's to at least so much.
func raise(file string, least int) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("cannot read a limit of the kernel: %w", err)
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(raw)))
	if err != nil {
		return fmt.Errorf("cannot read the limit in %q: %w", file, err)
	}
	if now >= least {
		return nil
	}
	if err := os.WriteFile(file, []byte(strconv.Itoa(least)), 0o600); err != nil {
		return fmt.Errorf("cannot raise %q from %d to %d: %w", file, now, least, err)
	}
	return nil
}
