// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"io"
	"log"
	"net"
	"net/http"
	"testing"
	"time"
)

func TestServe(t *testing.T) {
	t.Parallel()
	h, err := New(log.New(io.Discard, "", 0), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, l, h) }()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+l.Addr().String()+"/v2/", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		t.Errorf("registry answers %s", resp.Status)
	}
	cancel()
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("Serve(...) = %v", err)
		}
	case <-time.After(time.Minute):
		t.Error("Serve(...) goes on though its context has ended")
	}
}

func TestRunWithoutAddress(t *testing.T) {
	t.Parallel()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := Run(t.Context(), l.Addr().String(), t.TempDir()); err == nil {
		t.Error("Run(...) serves on an address that another process has")
	}
}
