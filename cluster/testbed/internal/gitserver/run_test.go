// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package gitserver

import (
	"context"
	"net"
	"testing"
	"time"
)

func TestRun(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(t.Context(), l.Addr().String(), t.TempDir()); err == nil {
		t.Error("Run(...) serves on an address that another process has")
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	h := handler(t, t.TempDir())
	go func() { ended <- serve(ctx, l, h) }()
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("serve(...) = %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("serve(...) goes on though its context has ended")
	}
}
