// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// unmountBelow detaches what is mounted below the folder, so that removing the
// folder cannot reach into it. The node mounts in a namespace of its own; what
// is found here was mounted by hand.
func unmountBelow(folder string) error {
	b, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("cannot list mounts: %w", err)
	}
	for _, point := range slices.Backward(mountsBelow(string(b), folder)) {
		if err := unix.Unmount(point, unix.MNT_DETACH); err != nil {
			return fmt.Errorf("cannot unmount %q: %w", point, err)
		}
	}
	return nil
}

// mountsBelow returns the mount points below the folder, in the order of a
// mountinfo file, in which a mount stands after the one that it is made on.
func mountsBelow(mountinfo, folder string) []string {
	// The file writes the characters that part its fields as octal numbers.
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	var out []string
	for line := range strings.Lines(mountinfo) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		if point := unescape.Replace(fields[4]); strings.HasPrefix(point, folder+"/") {
			out = append(out, point)
		}
	}
	return out
}
