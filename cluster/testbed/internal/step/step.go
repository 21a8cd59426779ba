// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package step tells a person what is being done and how long each step took.
package step

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// A Log prints steps. It may be used by several goroutines at once.
type Log struct {
	mu    sync.Mutex
	w     io.Writer
	now   func() time.Time
	start time.Time
}

// New returns a Log that writes to w and counts the time from now on.
func New(w io.Writer) *Log { return newLog(w, time.Now) }

func newLog(w io.Writer, now func() time.Time) *Log {
	return &Log{w: w, now: now, start: now()}
}

// Do runs f as the named step and prints its end, with the time it took.
// A step that takes long enough to make a person wonder is announced as well.
func (l *Log) Do(name string, f func() error) error {
	began := l.now()
	announce := time.AfterFunc(announceAfter, func() { l.Printf("%s ...", name) })
	err := f()
	announce.Stop()
	took := l.now().Sub(began)
	if err != nil {
		l.Printf("%s FAILED after %s", name, seconds(took))
		return err
	}
	l.Printf("%s %s", name, seconds(took))
	return nil
}

const announceAfter = 2 * time.Second

// Elapsed is the time since the Log was made.
func (l *Log) Elapsed() time.Duration { return l.now().Sub(l.start) }

// Printf prints one line, after the time since the Log was made.
func (l *Log) Printf(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "[%7s] %s\n", seconds(l.Elapsed()), fmt.Sprintf(format, args...))
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.1fs", d.Seconds()) }
