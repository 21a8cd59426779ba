// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"
)

const poll = 100 * time.Millisecond

// await calls check until it succeeds. It fails when the limit has passed or a
// started daemon has ended, with the last reason that check gave and the end of
// the component's log.
func (c *Cluster) await(ctx context.Context, component string, limit time.Duration, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("%s was not there within %s", component, limit))
	defer cancel()
	for {
		last := check(ctx)
		if last == nil {
			return nil
		}
		if name, err := c.ended(); name != "" {
			return fmt.Errorf("%s has ended: %w\n%s", name, err, tail(c.state.logs(), name))
		}
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return context.Cause(ctx)
			}
			return fmt.Errorf("%w: %w\n%s", context.Cause(ctx), last, tail(c.state.logs(), component))
		case <-time.After(poll):
		}
	}
}

// ended returns the name of a daemon that was started and runs no more.
func (c *Cluster) ended() (string, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for name, r := range c.running {
		select {
		case err := <-r.Ended:
			if err == nil {
				err = errors.New("exit status 0")
			}
			return name, err
		default:
		}
	}
	return "", nil
}

const (
	tailLines = 15
	tailBytes = 8 << 10
)

// tail returns the last lines of the component's log, under a line that says
// where they come from.
func tail(logs, component string) string {
	file := filepath.Join(logs, component+".log")
	b, err := readEnd(file)
	if err != nil {
		return fmt.Sprintf("(no log of %s: %v)", component, err)
	}
	lines := bytes.Split(bytes.TrimSpace(b), []byte("\n"))
	if len(lines) > tailLines {
		lines = lines[len(lines)-tailLines:]
	}
	return fmt.Sprintf("--- end of %s:\n%s", file, bytes.Join(lines, []byte("\n")))
}

func readEnd(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Size() > tailBytes {
		if _, err := f.Seek(-tailBytes, io.SeekEnd); err != nil {
			return nil, err
		}
	}
	return io.ReadAll(f)
}
