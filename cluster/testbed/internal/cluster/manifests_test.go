// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/images"
)

func TestRenderManifests(t *testing.T) {
	t.Parallel()
	stream, err := renderManifests("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for doc := range strings.SplitSeq(string(stream), "---\n") {
		var o struct {
			Kind        string
			Provisioner string
			Metadata    struct{ Name string }
			Spec        struct{ ClusterIP string }
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v:\n%s", err, doc)
		}
		if o.Kind != "" {
			got[o.Kind+" "+o.Metadata.Name+o.Spec.ClusterIP+o.Provisioner] = true
		}
	}
	want := map[string]bool{
		"ServiceAccount coredns": true, "ClusterRole system:coredns": true, "ClusterRoleBinding system:coredns": true,
		"ConfigMap coredns": true, "Deployment coredns": true,
		"Service kube-dns10.96.0.10":                       true,
		"StorageClass standardtestbed.kubeopera.io/folder": true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if !strings.Contains(string(stream), "image: "+images.CoreDNS) {
		t.Errorf("no pod runs %q", images.CoreDNS)
	}
}

func TestRenderCrossplaneManifests(t *testing.T) {
	t.Parallel()
	stream, err := renderManifests("crossplane/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for doc := range strings.SplitSeq(string(stream), "---\n") {
		var o struct {
			Kind     string
			Metadata struct{ Name string }
			Spec     struct {
				MatchImages  []struct{ Type, Prefix string }
				RewriteImage struct{ Prefix string }
			}
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatalf("%v:\n%s", err, doc)
		}
		for _, m := range o.Spec.MatchImages {
			got[o.Kind+" "+m.Type+" "+m.Prefix] = o.Spec.RewriteImage.Prefix
		}
		if o.Kind == "Namespace" {
			got[o.Kind] = o.Metadata.Name
		}
	}
	want := map[string]string{
		"Namespace":                             "crossplane-system",
		"ImageConfig Prefix ghcr.io/kubeopera/": "10.89.0.1:5000/kubeopera/",
		"ImageConfig Prefix xpkg.crossplane.io/crossplane-contrib/": "10.89.0.1:5000/crossplane-contrib/",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
