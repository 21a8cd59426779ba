// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"testing"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

func TestStatus(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.name = "testbed-test-nosuch"
	var out bytes.Buffer
	if err := c.Status(t.Context(), &out); !errors.Is(err, ErrNotUp) || out.Len() > 0 {
		t.Errorf("Status(...) of nothing = %v, and says %q", err, &out)
	}

	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.state.writeMarker(marker{Name: c.name, Boot: boot}); err != nil {
		t.Fatal(err)
	}
	self, err := proc.Look(proc.Proc, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, r := range map[string]proc.Record{etcd: self, kubelet: {PID: self.PID, Start: self.Start + 1}} {
		if err := proc.Save(c.state.pids(), name, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Status(t.Context(), &out); !errors.Is(err, ErrNotUp) {
		t.Errorf("Status(...) of a cluster that was interrupted = %v, want %v", err, ErrNotUp)
	}
	for _, want := range []string{`etcd +\d+ +running`, `kubelet +\d+ +ended`, `kube-proxy +- +not started`} {
		if !regexp.MustCompile(want).Match(out.Bytes()) {
			t.Errorf("status lacks %q:\n%s", want, &out)
		}
	}
}

func TestDownOfNothing(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.name = "testbed-test-nosuch"
	for range 2 {
		if err := c.Down(t.Context()); err != nil {
			t.Errorf("Down(...) = %v", err)
		}
	}
}

// A marker alone, as a machine that went down leaves it, is cleared away.
func TestDownAfterRestart(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.name = "testbed-test-nosuch"
	if err := c.state.writeMarker(marker{Name: c.name, Boot: "another", Network: ownNetwork(t), Complete: true}); err != nil {
		t.Fatal(err)
	}
	self, err := proc.Look(proc.Proc, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	if err := proc.Save(c.state.pids(), etcd, self); err != nil {
		t.Fatal(err)
	}
	if err := c.Down(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m, err := c.state.readMarker(); m != nil || err != nil {
		t.Errorf("marker after Down(...) = %v, %v", m, err)
	}
}
