// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/content"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/program"
)

// built returns a cluster that knows where its programs are.
func built(t *testing.T) *Cluster {
	t.Helper()
	c := newCluster(t)
	c.self, c.content = "/bin/testbed", &content.Set{}
	c.programs = map[string]string{}
	for _, p := range program.All() {
		c.programs[p.Name] = "/cache/" + p.Name
	}
	c.running[containerd] = proc.Running{Record: proc.Record{PID: 4711}}
	return c
}

func TestDaemons(t *testing.T) {
	t.Parallel()
	c := built(t)
	for _, name := range Components {
		d := c.daemon(name)
		if d.Name != name {
			t.Errorf("daemon %q is called %q", name, d.Name)
		}
		if want := []string{"nsenter", "--net=/run/netns/test"}; !slices.Equal(d.Command[:2], want) {
			t.Errorf("%s starts with %q, want %q", name, d.Command[:2], want)
		}
		i := slices.Index(d.Command, "--")
		if i < 0 || i+1 >= len(d.Command) || d.Command[i+1] == "" {
			t.Errorf("%s has nothing to run: %q", name, d.Command)
		}
	}
	if got := c.daemon(kubelet).Command[2]; got != "--mount=/proc/4711/ns/mnt" {
		t.Errorf("kubelet does not join containerd's mounts: %q", got)
	}
	got := strings.Join(c.daemon(containerd).Command, " ")
	for _, want := range []string{"unshare --mount --propagation=private", "mount --bind '" + c.state.private("/var/lib/kubelet") + "' '/var/lib/kubelet'", "exec containerd"} {
		if !strings.Contains(got, want) {
			t.Errorf("containerd is started by %q, which lacks %q", got, want)
		}
	}
}

// Two clusters must not share a path that they write to.
func TestStateIsApart(t *testing.T) {
	t.Parallel()
	c := built(t)
	for _, name := range Components {
		for _, arg := range c.daemon(name).Command {
			_, value, _ := strings.Cut(arg, "=")
			if filepath.IsAbs(value) && !strings.HasPrefix(value, string(c.state)) &&
				!strings.HasPrefix(value, "/proc/") && !strings.HasPrefix(value, "/run/netns/") && value != "/var/lib/kubelet" {
				t.Errorf("%s uses %q, which is not the cluster's", name, arg)
			}
		}
	}
	other, err := New("other", t.TempDir(), filepath.Dir(string(c.state)), c.log)
	if err != nil {
		t.Fatal(err)
	}
	if c.state == other.state || c.cgroup().Path() == other.cgroup().Path() {
		t.Error("two clusters have one state folder or one control group")
	}
}

func TestPlanHasUsers(t *testing.T) {
	t.Parallel()
	c := built(t)
	users := c.plan().Users
	for _, name := range Components {
		for _, arg := range c.daemon(name).Command {
			base, isKubeconfig := strings.CutSuffix(filepath.Base(arg), ".kubeconfig")
			if _, ok := users[base]; isKubeconfig && !ok {
				t.Errorf("%s uses %q, which nobody makes", name, arg)
			}
		}
	}
	if diff := cmp.Diff([]string{"system:node:test", "system:nodes"}, users[kubelet]); diff != "" {
		t.Errorf("kubelet is not the node that it says it is: -want +got:\n%s", diff)
	}
}
