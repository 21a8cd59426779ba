// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/apimachinery/pkg/util/wait"
)

// stopLimit is how long the provider may take to stop in order.
const stopLimit = 40 * time.Second

// Where the provider says that it is ready, unless the environment says so.
const (
	probeVariable = "HEALTH_PROBE_BIND_ADDRESS"
	probeAddress  = "127.0.0.1:8081"
)

// A slot is the place of the one provider of this demo: a file with its process
// id. The provider holds the file locked as long as it lives, so that a process
// which got the id later is never taken for it.
type slot struct{ file *os.File }

// takeSlot stops the provider of an earlier run, if there is one, and says so.
func takeSlot(ctx context.Context, path string, say func(string, ...any)) (*slot, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("cannot open file for the process id: %w", err)
	}
	s := &slot{file: file}
	if err := s.vacate(ctx, say); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

func (s *slot) vacate(ctx context.Context, say func(string, ...any)) error {
	free, err := s.lock(ctx)
	if free || err != nil {
		return err
	}
	b := make([]byte, 32)
	n, _ := s.file.ReadAt(b, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(b[:n])))
	if err != nil {
		return fmt.Errorf("cannot read process id of the running provider from %s: %w", s.file.Name(), err)
	}
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("cannot stop the running provider, process %d: %w", pid, err)
		}
		waiting, cancel := context.WithTimeout(ctx, stopLimit)
		err := wait.PollUntilContextCancel(waiting, retryEvery, true, s.lock)
		cancel()
		if err == nil {
			say("stopped the provider of the earlier run (process %d)", pid)
			return nil
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return fmt.Errorf("cannot stop the running provider, process %d", pid)
}

// lock says false as long as a provider holds the file.
func (s *slot) lock(context.Context) (bool, error) {
	err := unix.Flock(int(s.file.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("cannot lock %s: %w", s.file.Name(), err)
	}
	return true, nil
}

// Close gives the slot up, unless a provider holds it.
func (s *slot) Close() { _ = s.file.Close() }

// A provider is the running program.
type provider struct {
	pid int
	log string
	// ended gets why the program ended.
	ended <-chan error
}

// start starts bin/provider, which outlives the demo.
func (s *slot) start(testbed bool) (*provider, error) {
	path := filepath.Join(folder, "provider.log")
	log, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("cannot make the provider's log: %w", err)
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command("bin/provider")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{s.file}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// What the environment says wins.
	cmd.Env = append([]string{
		"CHART_CACHE=" + filepath.Join(folder, "charts"), probeVariable + "=" + probeAddress,
		"POD_NAMESPACE=" + namespace, "KUBEOPERA_API_BASE_URL=", // There is none that could be told.
	}, os.Environ()...)
	if testbed {
		cmd.Env = append(cmd.Env, "VCLUSTER_CHART_VERSION="+testbedChart, "ADVISOR_IMAGE="+testbedAdvisor)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start the provider: %w", err)
	}
	if err := s.record(cmd.Process.Pid); err != nil {
		return nil, errors.Join(err, cmd.Process.Kill())
	}
	ended := make(chan error, 1)
	go func() {
		err := cmp.Or(cmd.Wait(), errors.New("exit status 0"))
		ended <- fmt.Errorf("the provider ended, %w: %s", err, lastLine(path))
	}()
	return &provider{pid: cmd.Process.Pid, log: path, ended: ended}, nil
}

// await returns when the provider is ready, or with the reason why it ended.
func (p *provider) await(ctx context.Context) error {
	url := "http://" + cmp.Or(os.Getenv(probeVariable), probeAddress) + "/readyz"
	return wait.PollUntilContextCancel(ctx, retryEvery, true, func(ctx context.Context) (bool, error) {
		select {
		case err := <-p.ended:
			return false, err
		default:
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			return false, fmt.Errorf("cannot ask whether the provider is ready: %w", err)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, nil
		}
		return resp.StatusCode == http.StatusOK, resp.Body.Close()
	})
}

func (s *slot) record(pid int) error {
	if err := s.file.Truncate(0); err != nil {
		return fmt.Errorf("cannot record process id: %w", err)
	}
	if _, err := s.file.WriteAt([]byte(strconv.Itoa(pid)+"\n"), 0); err != nil {
		return fmt.Errorf("cannot record process id: %w", err)
	}
	return nil
}

// lastLine is where a provider that ended says why.
func lastLine(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(b)), "\n")
	return lines[len(lines)-1]
}
