// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/proc"
)

func TestAwait(t *testing.T) {
	t.Parallel()
	notYet := errors.New("not yet")
	gone := errors.New("exit status 7")
	told := errors.New("told to stop")
	cases := map[string]struct {
		reason string
		limit  time.Duration
		check  func(calls int) error
		ended  map[string]error
		cancel bool
		want   error
		says   []string
	}{
		"There": {
			reason: "a check that succeeds at last", limit: time.Minute,
			check: func(calls int) error {
				if calls < 2 {
					return notYet
				}
				return nil
			},
		},
		"Late": {
			reason: "the message holds the limit, the last reason and the end of the log", limit: time.Millisecond,
			check: func(int) error { return notYet },
			want:  notYet, says: []string{"kubelet was not there within 1ms", "kubelet says line 20"},
		},
		"DaemonEnded": {
			reason: "to wait for a daemon that has ended makes no sense", limit: time.Minute,
			check: func(int) error { return notYet }, ended: map[string]error{etcd: gone},
			want: gone, says: []string{"etcd has ended", "etcd says line 20"},
		},
		"Interrupted": {
			reason: "the reason is the interruption", limit: time.Minute, cancel: true,
			check: func(int) error { return notYet },
			want:  told,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newCluster(t)
			for _, name := range []string{etcd, kubelet} {
				var lines strings.Builder
				for i := range 20 {
					fmt.Fprintf(&lines, "%s says line %d\n", name, i+1)
				}
				write(t, lines.String(), c.state.logs(), name+".log")
			}
			for name, err := range tc.ended {
				ended := make(chan error, 1)
				ended <- err
				c.running[name] = proc.Running{Ended: ended}
			}
			ctx, cancel := context.WithCancelCause(t.Context())
			calls := 0
			err := c.await(ctx, kubelet, tc.limit, func(context.Context) error {
				calls++
				if tc.cancel {
					cancel(told)
				}
				return tc.check(calls)
			})
			cancel(nil)
			if !errors.Is(err, tc.want) {
				t.Errorf("%s: await(...) = %v, want %v", tc.reason, err, tc.want)
			}
			for _, want := range tc.says {
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q does not say %q", tc.reason, err, want)
				}
			}
		})
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	c := newCluster(t)
	write(t, strings.Repeat("long line\n", 10000)+"one\ntwo\n", c.state.logs(), "etcd.log")
	got := strings.Split(tail(c.state.logs(), etcd), "\n")
	if len(got) != tailLines+1 || got[len(got)-1] != "two" || !strings.Contains(got[0], "etcd.log") {
		t.Errorf("tail is %q", got)
	}
	if got := tail(c.state.logs(), kubelet); !strings.Contains(got, "no log of kubelet") {
		t.Errorf("tail of no log is %q", got)
	}
}
