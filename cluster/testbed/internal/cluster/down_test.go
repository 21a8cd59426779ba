// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

// ownNetwork is the inode of the network namespace that this test runs in.
func ownNetwork(t *testing.T) uint64 {
	t.Helper()
	inode, release, err := netns.Hold("/proc/self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	release()
	return inode
}

func TestHold(t *testing.T) {
	t.Parallel()
	self, err := proc.Look(proc.Proc, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	reused := proc.Record{PID: self.PID, Start: self.Start + 1}
	own := ownNetwork(t)
	cases := map[string]struct {
		reason string
		daemon *proc.Record
		m      marker
		want   uint64
	}{
		"DaemonInside":  {reason: "the name is gone, but a daemon is still inside", daemon: &self, m: marker{Network: own}, want: own},
		"NobodyInside":  {reason: "the inode may be another namespace's by now", m: marker{Network: own}},
		"ReusedProcess": {reason: "a process that has got a daemon's id proves nothing", daemon: &reused, m: marker{Network: own}},
		"DaemonOutside": {reason: "a daemon that is elsewhere must not make elsewhere ours", daemon: &self, m: marker{Network: own + 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			c.name = "testbed-test-nosuch"
			if tc.daemon != nil {
				if err := proc.Save(c.state.pids(), etcd, *tc.daemon); err != nil {
					t.Fatal(err)
				}
			}
			got, release := c.hold(tc.m)
			release()
			if got != tc.want {
				t.Errorf("%s: hold(...) = %d, want %d", tc.reason, got, tc.want)
			}
		})
	}
}

func TestProcesses(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	c.name = "testbed-test-nosuch"
	r, err := proc.Start(proc.Daemon{Name: etcd, Command: []string{"sleep", "600"}}, c.state.logs(), c.state.pids())
	if err != nil {
		t.Fatal(err)
	}
	self, err := proc.Look(proc.Proc, os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for name, record := range map[string]proc.Record{"self": self, "reused": {PID: r.PID, Start: r.Start + 1}} {
		if err := proc.Save(c.state.pids(), name, record); err != nil {
			t.Fatal(err)
		}
	}
	find := func() ([]proc.Record, error) { return c.processes(0) }
	got, err := find()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]proc.Record{r.Record}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := proc.Kill(t.Context(), find); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-r.Ended:
		if err == nil {
			t.Error("the daemon ended by itself")
		}
	case <-time.After(time.Minute):
		t.Error("the daemon still runs")
	}
}
