// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
)

func TestNodeReady(t *testing.T) {
	t.Parallel()
	node := func(conditions ...corev1.NodeCondition) *corev1.Node {
		return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "test"}, Status: corev1.NodeStatus{Conditions: conditions}}
	}
	pressure := corev1.NodeCondition{Type: corev1.NodeDiskPressure, Status: corev1.ConditionTrue}
	cases := map[string]struct {
		reason  string
		objects []runtime.Object
		want    string
		ok      bool
	}{
		"Ready":       {reason: "the condition says so", objects: []runtime.Object{node(pressure, corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionTrue})}, ok: true},
		"NotReady":    {reason: "the message says what is missing", objects: []runtime.Object{node(corev1.NodeCondition{Type: corev1.NodeReady, Status: corev1.ConditionFalse, Message: "no network"})}, want: "no network"},
		"NoCondition": {reason: "another condition that is true proves nothing", objects: []runtime.Object{node(pressure)}, want: "no condition"},
		"NoNode":      {reason: "the kubelet has not come yet", want: "not found"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := nodeReady(fake.NewClientset(tc.objects...), "test")(t.Context())
			if (err == nil) != tc.ok {
				t.Fatalf("%s: nodeReady(...) = %v", tc.reason, err)
			}
			if err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%s: %q does not say %q", tc.reason, err, tc.want)
			}
		})
	}
}

func TestStorageThere(t *testing.T) {
	t.Parallel()
	class := func(name string) runtime.Object {
		return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}}
	}
	if err := storageThere(fake.NewClientset(class("standard")))(t.Context()); err != nil {
		t.Errorf("storageThere(...) = %v", err)
	}
	if err := storageThere(fake.NewClientset(class("other")))(t.Context()); !apierrors.IsNotFound(err) {
		t.Errorf("storageThere(...) with another class = %v, want that it is not found", err)
	}
}

func TestAPIReady(t *testing.T) {
	t.Parallel()
	ready := false
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/readyz" || !ready {
			http.Error(w, "[-]poststarthook/rbac/bootstrap-roles failed", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(s.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL})
	if err != nil {
		t.Fatal(err)
	}
	if err := apiReady(client)(t.Context()); err == nil || !strings.Contains(err.Error(), "bootstrap-roles") {
		t.Errorf("apiReady(...) = %v, want what the server is still about", err)
	}
	ready = true
	if err := apiReady(client)(t.Context()); err != nil {
		t.Errorf("apiReady(...) = %v", err)
	}
}

func TestContainerdReady(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	if err := c.containerdReady(t.Context()); err == nil {
		t.Error("containerd is ready, though it was never started")
	}
	write(t, "", filepath.Dir(c.containerdSocket()), "x")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", c.containerdSocket())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	if err := c.containerdReady(t.Context()); err != nil {
		t.Errorf("containerdReady(...) = %v", err)
	}
}

func TestHealthNamesTheDaemon(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	write(t, `{"pid":1,"start":1}`, c.state.pids(), etcd+".json")
	if err := c.Health(context.Background()); err == nil || !strings.Contains(err.Error(), "etcd does not run") {
		t.Errorf("Health(...) = %v, want the daemon that has ended", err)
	}
}
