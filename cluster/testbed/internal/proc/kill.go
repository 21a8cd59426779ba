// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

const killPoll = 50 * time.Millisecond

// Kill ends every process that find returns, and again until it returns none,
// because a process can start another while it is being ended. It returns those
// that it ended, and gives up when ctx ends, naming a process that is left.
func Kill(ctx context.Context, find func() ([]Record, error)) ([]Record, error) {
	var ended []Record
	for {
		left, err := find()
		if err != nil || len(left) == 0 {
			return ended, err
		}
		ended = append(ended, left...)
		for _, r := range left {
			kill(r)
		}
		select {
		case <-ctx.Done():
			return ended, fmt.Errorf("cannot end %d processes, process %d among them: %w", len(left), left[0].PID, context.Cause(ctx))
		case <-time.After(killPoll):
		}
	}
}

// AwaitReaped waits, no longer than the limit, until the ended processes are no
// longer listed. That is up to their parents, so it is no error if some stay.
func AwaitReaped(records []Record, limit time.Duration) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(killPoll) {
		if !slices.ContainsFunc(records, func(r Record) bool { return listed(Proc, r) }) {
			return
		}
	}
}

// kill ends exactly the recorded process: the handle is taken before the record
// is compared, so that the id cannot pass to another process in between.
func kill(r Record) {
	fd, err := unix.PidfdOpen(r.PID, 0)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(fd) }()
	if !r.Alive(Proc) {
		return
	}
	_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
}
