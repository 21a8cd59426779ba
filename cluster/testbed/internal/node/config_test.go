// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func render(t *testing.T) map[string][]byte {
	t.Helper()
	out, err := Render(Settings{Name: "n1", State: "/state/n1", CgroupRoot: "/pods/n1", CNIPlugins: "/cni", PauseImage: "example.org/pause:1"})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRenderKubelet(t *testing.T) {
	t.Parallel()
	var got struct {
		CgroupRoot               string   `json:"cgroupRoot"`
		CgroupDriver             string   `json:"cgroupDriver"`
		ContainerRuntimeEndpoint string   `json:"containerRuntimeEndpoint"`
		ClusterDNS               []string `json:"clusterDNS"`
		TLSCertFile              string   `json:"tlsCertFile"`
		FailCgroupV1             *bool    `json:"failCgroupV1"`
	}
	if err := yaml.Unmarshal(render(t)["kubelet.yaml"], &got); err != nil {
		t.Fatal(err)
	}
	want := got
	want.CgroupRoot, want.CgroupDriver = "/pods/n1", "cgroupfs"
	want.ContainerRuntimeEndpoint = "unix:///run/containerd/containerd.sock"
	want.ClusterDNS, want.TLSCertFile = []string{DNS}, "/state/n1/pki/kubelet-server.crt"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got.FailCgroupV1 == nil || *got.FailCgroupV1 {
		t.Error("the kubelet refuses cgroup v1")
	}
}

func TestRenderIsWellFormed(t *testing.T) {
	t.Parallel()
	out := render(t)
	if len(out) != len(files) {
		t.Errorf("%d files are rendered, want %d", len(out), len(files))
	}
	for name, b := range out {
		if strings.Contains(string(b), "{{") || strings.Contains(string(b), "<no value>") {
			t.Errorf("%s has a gap:\n%s", name, b)
		}
		switch filepath.Ext(name) {
		case ".yaml":
			var v map[string]any
			if err := yaml.UnmarshalStrict(b, &v); err != nil || v["kind"] == nil {
				t.Errorf("%s is no object: %v", name, err)
			}
		case ".conflist":
			if !json.Valid(b) {
				t.Errorf("%s is no JSON:\n%s", name, b)
			}
		}
	}
	containerd := string(out["containerd.toml"])
	for _, want := range []string{
		`root = "/state/n1/containerd"`, `sandbox_image = "example.org/pause:1"`, `restrict_oom_score_adj = true`,
		`bin_dir = "/cni"`, `conf_dir = "/state/n1/config/cni"`, `config_path = "/state/n1/config/certs.d"`,
	} {
		if !strings.Contains(containerd, want) {
			t.Errorf("containerd.toml lacks %s", want)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	s := Settings{Name: "n1", State: t.TempDir()}
	if err := Write(s); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(s.State, "config", "certs.d", "_default", "hosts.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `server = "http://10.89.0.1:5000"`; !strings.Contains(string(b), want) {
		t.Errorf("hosts.toml lacks %s:\n%s", want, b)
	}
}

func TestAddresses(t *testing.T) {
	t.Parallel()
	in := func(subnet, address string) bool {
		return netip.MustParsePrefix(subnet).Contains(netip.MustParseAddr(address))
	}
	for _, address := range []string{ServiceIP, DNS} {
		if !in(ServiceSubnet, address) {
			t.Errorf("%s is no address of a service", address)
		}
	}
	if in(PodSubnet, IP) || in(ServiceSubnet, IP) || !in(CIDR, IP) {
		t.Errorf("%s is no address of the node alone", IP)
	}
}

// A socket's path may have 107 bytes, and is the longest under a long name.
func TestSocketPath(t *testing.T) {
	t.Parallel()
	path := "/var/lib/kubeopera-testbed/" + strings.Repeat("n", 32) + "/private/" +
		strings.ReplaceAll(strings.Trim(ContainerdState, "/"), "/", "-") + strings.TrimPrefix(ContainerdSocket, ContainerdState)
	if len(path) > 107 {
		t.Errorf("%q has %d bytes", path, len(path))
	}
}
