// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package localpods

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"
)

const (
	address = "10.88.0.7"
	result  = `{"kind": "cniCacheV1", "cniArgs": [["IgnoreUnknown", "1"], ["K8S_POD_NAMESPACE", "shop"], ["K8S_POD_NAME", %q]]}`
)

// keep writes what the CNI plugins keep of a pod.
func keep(t *testing.T, n Node, owner, made string) {
	t.Helper()

	for file, content := range map[string]string{
		filepath.Join("networks", "pods", address): owner, filepath.Join("results", "pods-1f2e-eth0"): made,
	} {
		file = filepath.Join(n.Folder, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o750); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestKey(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		owner   string
		made    string
		address string
		want    string
	}{
		"Pod":      {reason: "the address is the pod's", owner: "1f2e\r\neth0", made: fmt.Sprintf(result, "web"), address: address, want: "shop/web"},
		"Other":    {reason: "nobody has the address", owner: "1f2e\r\neth0", made: fmt.Sprintf(result, "web"), address: "10.88.0.8"},
		"NoResult": {reason: "the plugin has not ended yet", owner: "3d4c\r\neth0", made: fmt.Sprintf(result, "web"), address: address},
		"HalfFile": {reason: "the plugin is about to write", owner: "1f2e", made: fmt.Sprintf(result, "web"), address: address},
		"NoJSON":   {reason: "the result is half written", owner: "1f2e\r\neth0", made: `{"cniArgs": [["K8S_`, address: address},
		"NoPod":    {reason: "something that is no pod has the address", owner: "1f2e\r\neth0", made: `{"cniArgs": []}`, address: address},
		"NoIP":     {reason: "what is no address leads to no file", owner: "1f2e\r\neth0", made: fmt.Sprintf(result, "web"), address: "../pods/" + address},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			n := Node{Folder: t.TempDir(), Network: "pods"}
			keep(t, n, tc.owner, tc.made)

			if got := n.Key(tc.address); got != tc.want {
				t.Errorf("%s: Key(%q) = %q, want %q", tc.reason, tc.address, got, tc.want)
			}
		})
	}
}

func pod(name string, phase corev1.PodPhase, addresses ...string) *corev1.Pod {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name}, Status: corev1.PodStatus{Phase: phase}}
	for _, a := range addresses {
		p.Status.PodIPs = append(p.Status.PodIPs, corev1.PodIP{IP: a})
	}

	return p
}

func TestByIndex(t *testing.T) {
	t.Parallel()

	const byAddress = "address"

	cases := map[string]struct {
		reason string
		node   string
		pods   []*corev1.Pod
		want   []string
	}{
		"Started": {
			reason: "the API server does not know yet that the pod has the address", node: "new",
			pods: []*corev1.Pod{pod("new", corev1.PodPending)}, want: []string{"new"},
		},
		"UsedAgain": {
			reason: "a pod that has ended had the address before", node: "new",
			pods: []*corev1.Pod{pod("old", corev1.PodSucceeded, address), pod("new", corev1.PodPending)}, want: []string{"new"},
		},
		"Unheard": {
			reason: "the node has a pod that the API server has not told of", node: "new",
			pods: []*corev1.Pod{pod("old", corev1.PodSucceeded, address)}, want: []string{"old"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			n := Node{Folder: t.TempDir(), Network: "pods"}
			keep(t, n, "1f2e\r\neth0", fmt.Sprintf(result, tc.node))

			x := Informer{PodInformer: informers.NewSharedInformerFactory(fake.NewClientset(), 0).Core().V1().Pods(), Node: n}.Informer()

			if err := x.AddIndexers(cache.Indexers{byAddress: func(o any) ([]string, error) {
				var out []string
				for _, a := range o.(*corev1.Pod).Status.PodIPs {
					out = append(out, a.IP)
				}

				return out, nil
			}}); err != nil {
				t.Fatal(err)
			}

			for _, p := range tc.pods {
				if err := x.GetIndexer().Add(p); err != nil {
					t.Fatal(err)
				}
			}

			found, err := x.GetIndexer().ByIndex(byAddress, address)
			if err != nil {
				t.Fatal(err)
			}

			var got []string
			for _, o := range found {
				got = append(got, o.(*corev1.Pod).GetName())
			}

			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want +got:\n%s", tc.reason, diff)
			}

			all, err := x.GetIndexer().ByIndex(cache.NamespaceIndex, "shop")
			if err != nil || len(all) != len(tc.pods) {
				t.Errorf("%d pods of %d are in their namespace: %v", len(all), len(tc.pods), err)
			}
		})
	}
}

func TestSilent(t *testing.T) {
	t.Parallel()

	var heard bool

	c := fake.NewClientset(pod("web", corev1.PodRunning, address))
	f := informers.NewSharedInformerFactory(c, 0)
	x := Informer{PodInformer: f.Core().V1().Pods()}.Informer()

	if _, err := x.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { heard = true }}); err != nil {
		t.Fatal(err)
	}

	ctx, cancel := context.WithCancel(t.Context())
	f.Start(ctx.Done())
	f.WaitForCacheSync(ctx.Done())

	if _, ok, err := x.GetIndexer().GetByKey("shop/web"); !ok || err != nil {
		t.Errorf("the pod is known: %t, %v", ok, err)
	}

	// Who is told is told when it has ended.
	cancel()
	f.Shutdown()

	if heard {
		t.Error("a change was told of")
	}
}
