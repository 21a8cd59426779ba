// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
)

// Kubectl runs the test bed's kubectl and returns what it prints.
func Kubectl(ctx context.Context, args ...string) (string, error) {
	c := exec.CommandContext(ctx, "kubectl", args...)

	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs

	if err := c.Run(); err != nil {
		return out.String(), fmt.Errorf("kubectl %q: %w: %s", args, err, bytes.TrimSpace(errs.Bytes()))
	}

	return out.String(), nil
}
