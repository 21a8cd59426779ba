// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"context"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
)

// Nobody listens to the queue here, so that what is sent there gets nowhere.
func TestInstall(t *testing.T) {
	t.Parallel()

	if os.Geteuid() != 0 {
		t.Skip("needs root to make a network namespace")
	}

	name := fmt.Sprintf("testbed-policy-%d", os.Getpid())
	if err := netns.Create(t.Context(), name, "10.1.2.3/24"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := netns.Delete(name); err != nil {
			t.Error(err)
		}
	})

	var l net.Listener
	err := netns.Do(name, func() (err error) {
		l, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "10.1.2.3:0")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })

	dial := func(user int) error {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		conn, err := netns.DialAs(name, user)(ctx, "tcp", l.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return err
	}

	if err := dial(65534); err != nil {
		t.Fatalf("cannot connect before there are rules: %v", err)
	}
	if err := Install(t.Context(), name, "10.1.2.0/24", "pods0"); err != nil {
		t.Fatal(err)
	}
	if err := dial(0); err != nil {
		t.Errorf("root cannot connect to a pod's address: %v", err)
	}
	if err := dial(65534); err == nil {
		t.Error("a connection to a pod's address passes, though nobody decides on it")
	}
}

func TestInstallNowhere(t *testing.T) {
	t.Parallel()

	err := Install(t.Context(), "testbed-test-nosuch", "10.1.2.0/24", "pods0")
	if err == nil || !strings.Contains(err.Error(), "testbed-test-nosuch") {
		t.Errorf("Install(...) = %v, want an error that names what is not there", err)
	}
}
