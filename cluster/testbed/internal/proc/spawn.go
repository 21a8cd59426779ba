// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// A Daemon is a process that outlives this one.
type Daemon struct {
	// Name names the daemon's log and record.
	Name string
	// Command is the program with its arguments.
	Command []string
	// Env is added to a minimal environment.
	Env []string
}

// A Running is a daemon that this process started.
type Running struct {
	Record
	// Ended gives the reason when the daemon ends, which it is not meant to.
	Ended <-chan error
}

// Start starts the daemon in a session of its own, with its output in
// logs/NAME.log, and records it in the folder records.
func Start(d Daemon, logs, records string) (Running, error) {
	out, err := os.OpenFile(filepath.Join(logs, d.Name+".log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return Running{}, fmt.Errorf("cannot open log of %s: %w", d.Name, err)
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(d.Command[0], d.Command[1:]...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.Dir = "/"
	cmd.Env = append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root"}, d.Env...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return Running{}, fmt.Errorf("cannot start %s: %w", d.Name, err)
	}
	ended := make(chan error, 1)
	// It may have ended already, which whoever waits for it will be told.
	_, start, err := stat(Proc, cmd.Process.Pid)
	r := Record{PID: cmd.Process.Pid, Start: start}
	if err == nil {
		err = Save(records, d.Name, r)
	}
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return Running{}, err
	}
	go func() { ended <- cmd.Wait() }()
	return Running{Record: r, Ended: ended}, nil
}
