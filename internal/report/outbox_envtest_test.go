// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package report

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/testenv"
)

// What a namespace that does not exist or goes does to the outbox is for the API
// server to say.
func TestOutboxOnAPIServer(t *testing.T) {
	c, err := client.New(testenv.RunControlPlane(t), client.Options{})
	if err != nil {
		t.Fatal(err)
	}

	const uid = "0b8f3c6e-0000-4000-8000-000000000001"

	o := NewOutbox(c, c, "outbox")
	if err := o.Add(t.Context(), deleted(uid, 0)); !errors.Is(err, ErrNoOutbox) {
		t.Errorf("without a namespace: got %v, want ErrNoOutbox", err)
	}

	if got := reportsOf(t, o, "alice-id"); got != nil {
		t.Errorf("without a namespace there is nothing, and no error: got %v", got)
	}

	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "outbox"}}
	if err := c.Create(t.Context(), ns); err != nil {
		t.Fatal(err)
	}

	mustAdd(t, o, deleted(uid, 0), deleted(uid, time.Hour))

	if diff := cmp.Diff([]Report{deleted(uid, 0)}, reportsOf(t, o, "alice-id")); diff != "" {
		t.Errorf("what was put in first comes out; -want, +got:\n%s", diff)
	}

	entries, _, err := o.Entries(t.Context(), "alice-id")
	if err != nil || len(entries) != 1 {
		t.Fatal(entries, err)
	}

	for range 2 {
		if err := o.Remove(t.Context(), entries[0]); err != nil {
			t.Error(err)
		}
	}

	// No controller runs here, so that it stays for ever.
	if err := c.Delete(t.Context(), ns); err != nil {
		t.Fatal(err)
	}

	if err := o.Add(t.Context(), deleted(uid, 0)); !errors.Is(err, ErrNoOutbox) {
		t.Errorf("in a namespace that goes: got %v, want ErrNoOutbox", err)
	}
}
