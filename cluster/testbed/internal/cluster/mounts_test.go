// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMountsBelow(t *testing.T) {
	t.Parallel()
	const mountinfo = `22 1 254:0 / / rw,relatime - ext4 /dev/vda rw
30 22 0:30 / /state/a rw - tmpfs tmpfs rw
31 22 0:31 / /state/a/vol rw - tmpfs tmpfs rw
32 31 0:32 / /state/a/vol/with\040space\134 rw - tmpfs tmpfs rw
33 22 0:33 / /state/ab/vol rw - tmpfs tmpfs rw
short line
`
	want := []string{"/state/a/vol", `/state/a/vol/with space\`}
	if diff := cmp.Diff(want, mountsBelow(mountinfo, "/state/a")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
