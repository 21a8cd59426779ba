// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os/exec"
	"testing"
	"time"
)

func TestCPU(t *testing.T) {
	t.Parallel()

	before := cpu{"etcd (host)": sec(1), "kwok": sec(2)}
	got := cpu{"etcd (host)": sec(2), "kwok": sec(7), "provider": sec(3)}.since(before, 10)

	if want := "kwok 0.50 s, provider 0.30 s, etcd (host) 0.10 s"; got.String() != want || got.whole() != "0.90 s" {
		t.Errorf("got %q of %q, want %q", got, got.whole(), want)
	}

	if none := (cpu{}); none.String() != unmeasured || none.whole() != unmeasured {
		t.Errorf("of nothing: %q of %q", none, none.whole())
	}
}

// TestCPUNow holds that programs that were started count, by the names of their files and
// by whose they are.
func TestCPUNow(t *testing.T) {
	t.Parallel()

	before, err := running()
	if err != nil {
		t.Fatal(err)
	}

	c := exec.Command("sh", "-c", "while :; do :; done")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}

	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})

	after, err := running()
	if err != nil {
		t.Fatal(err)
	}

	o := owners{}
	o.add("host", before, after)

	for deadline := time.Now().Add(time.Minute); ; {
		now, err := o.cpuNow()
		if err != nil {
			t.Fatal(err)
		}

		if now["sh (host)"] > 0 {
			return
		}

		if time.Now().After(deadline) {
			t.Fatalf("what runs takes no time: %v", now)
		}
	}
}
