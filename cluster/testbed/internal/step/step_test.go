// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package step

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	now := time.Unix(0, 0)
	l := newLog(&out, func() time.Time { return now })

	now = now.Add(time.Second)
	if err := l.Do("first", func() error { now = now.Add(1500 * time.Millisecond); return nil }); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("broken")
	if err := l.Do("second", func() error { now = now.Add(time.Minute); return broken }); !errors.Is(err, broken) {
		t.Errorf("Do(...) = %v, want what the step returned", err)
	}
	l.Printf("%s is said", "a word")

	want := "[   2.5s] first 1.5s\n[  62.5s] second FAILED after 60.0s\n[  62.5s] a word is said\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
