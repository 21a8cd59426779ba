// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package policy

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ErrNobodyListens says that no engine decides on the queue.
var ErrNobodyListens = errors.New("nobody decides on the connections of pods")

// Asked returns how many packets were put into the queue, in the network
// namespace of the process, since the one who listens came.
func Asked(proc string, pid int) (uint64, error) {
	f, err := os.Open(filepath.Join(proc, strconv.Itoa(pid), "net", "netfilter", "nfnetlink_queue"))
	if err != nil {
		return 0, fmt.Errorf("cannot look at the kernel's queues: %w", err)
	}
	defer func() { _ = f.Close() }()

	s := bufio.NewScanner(f)
	for s.Scan() {
		// Queue, listener, waiting, copy mode, copy range, two kinds of drops, and
		// the last packet's number.
		fields := strings.Fields(s.Text())
		if len(fields) < 8 || fields[0] != strconv.Itoa(Queue) {
			continue
		}
		asked, err := strconv.ParseUint(fields[7], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("cannot read the kernel's queue %d: %w", Queue, err)
		}
		return asked, nil
	}
	if err := s.Err(); err != nil {
		return 0, fmt.Errorf("cannot read the kernel's queues: %w", err)
	}
	return 0, ErrNobodyListens
}
