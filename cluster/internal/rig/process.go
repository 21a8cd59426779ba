// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// stopLimit is how long a process may take to end in order.
const stopLimit = 20 * time.Second

// Process is a program that runs as a child of this process. It dies with its
// parent. It is ended by one goroutine, and may be looked at by others.
type Process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when the command has ended
}

// StartProcess runs the command, which appends what it says to the file.
func StartProcess(c *exec.Cmd, log string) (*Process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644) //nolint:gosec // A person may read it.
	if err != nil {
		return nil, fmt.Errorf("cannot open the log of %q: %w", c.Path, err)
	}

	c.Stdout, c.Stderr = out, out
	// In a group of its own it does not hear the interrupt that is meant for its
	// parent, which still needs it to clean up.
	c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL, Setpgid: true}

	p, started := &Process{command: c, ended: make(chan struct{})}, make(chan error, 1)

	// On a thread that lives as long as the command does: the kernel kills a child
	// when the thread ends that made it.
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = out.Close() }()

		err := c.Start()
		started <- err

		if err == nil {
			// How it ended is in ProcessState.
			_ = c.Wait()
			close(p.ended)
		}
	}()

	if err := <-started; err != nil {
		return nil, fmt.Errorf("cannot start %q: %w", c.Path, err)
	}

	return p, nil
}

// PID is its process id.
func (p *Process) PID() int { return p.command.Process.Pid }

// Runs says whether it has not ended.
func (p *Process) Runs() bool { return p.err() == nil }

// err says how it ended; nil as long as it runs.
func (p *Process) err() error {
	select {
	case <-p.ended:
		return fmt.Errorf("it has ended: %s", p.command.ProcessState)
	default:
		return nil
	}
}

// End sends it the signal and returns when it is gone. It fails when that takes long,
// and it had to be killed.
func (p *Process) End(with syscall.Signal) error {
	if err := p.command.Process.Signal(with); errors.Is(err, os.ErrProcessDone) {
		return nil
	} else if err != nil {
		return fmt.Errorf("cannot send %s to %q: %w", with, p.command.Path, err)
	}

	select {
	case <-p.ended:
		return nil
	case <-time.After(stopLimit):
	}

	if err := p.command.Process.Kill(); err != nil {
		return fmt.Errorf("cannot kill %q: %w", p.command.Path, err)
	}

	<-p.ended

	return fmt.Errorf("%q did not end within %s after %s and was killed", p.command.Path, stopLimit, with)
}
