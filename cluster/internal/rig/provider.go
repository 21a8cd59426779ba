// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// startLimit is enough for the provider's caches to fill on a busy machine.
	startLimit = time.Minute
	// lineLimit is how much of a line of the log is shown, in bytes.
	lineLimit = 400
)

// Provider is the provider's own program, run as a child of this process. It
// dies with its parent. It is started and ended by one goroutine, and may be looked at
// by others.
type Provider struct {
	binary string
	folder string
	env    []string

	mu      sync.Mutex
	process *Process // nil before the first start
	metrics string   // where it serves them
}

// NewProvider prepares to run the program with this kubeconfig, and with settings
// as variables. Unless they say so it reports to nobody. Its files lie in the
// folder, which the caller removes.
func NewProvider(binary, folder string, kubeconfig []byte, settings ...string) (*Provider, error) {
	if _, err := os.Stat(binary); err != nil {
		return nil, fmt.Errorf("cannot find the provider: %w; build it first, or name it in KUBEOPERA_PROVIDER", err)
	}

	file := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(file, kubeconfig, 0o600); err != nil {
		return nil, fmt.Errorf("cannot write the provider's kubeconfig: %w", err)
	}

	return &Provider{
		binary: binary,
		folder: folder,
		// Nothing else: the provider takes its settings from the environment.
		env: append([]string{
			"KUBECONFIG=" + file, "HOME=" + folder, "TMPDIR=" + folder, "PATH=" + os.Getenv("PATH"),
			"POD_NAMESPACE=" + Namespace, "KUBEOPERA_API_BASE_URL=",
		}, settings...),
	}, nil
}

// LogFile holds what the provider says, over all its starts.
func (p *Provider) LogFile() string { return filepath.Join(p.folder, "provider.log") }

// Start runs the program and waits until it is ready.
func (p *Provider) Start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()

	ports, err := freePorts(ctx, 2)
	if err != nil {
		return err
	}

	process, err := StartProcess(p.newCommand(ports), p.LogFile())
	if err != nil {
		return err
	}

	p.mu.Lock()
	p.process, p.metrics = process, "http://"+ports[0]+"/metrics"
	p.mu.Unlock()

	return p.awaitReady(ctx, process, "http://"+ports[1]+"/readyz")
}

// newCommand is the program with its settings. It outlives any context.
func (p *Provider) newCommand(ports []string) *exec.Cmd {
	c := exec.Command(p.binary, //nolint:noctx // Stop and Kill end it.
		"--chart-cache="+filepath.Join(p.folder, "charts"),
		"--metrics-bind-address="+ports[0], "--health-probe-bind-address="+ports[1])
	c.Env = p.env

	return c
}

// Process is that of the last start; nil before the first.
func (p *Provider) Process() *Process {
	p.mu.Lock()
	defer p.mu.Unlock()

	return p.process
}

// Runs says whether the program was started and has not ended.
func (p *Provider) Runs() bool {
	process := p.Process()

	return process != nil && process.Runs()
}

func (p *Provider) awaitReady(ctx context.Context, process *Process, url string) error {
	var last error

	err := wait.PollUntilContextCancel(ctx, pollInterval, true, func(ctx context.Context) (bool, error) {
		if err := process.err(); err != nil {
			return false, err
		}

		_, last = get(ctx, url)

		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the provider was not ready: %w\n%s", errors.Join(err, last), p.Tail(20))
	}

	return nil
}

// Kill ends the program as a crash would: it runs no instruction more. It
// returns when the program is gone.
func (p *Provider) Kill() error { return p.end(syscall.SIGKILL) }

// Stop asks the program to end in order, and fails when it does not.
func (p *Provider) Stop() error { return p.end(syscall.SIGTERM) }

func (p *Provider) end(with syscall.Signal) error {
	process := p.Process()
	if process == nil {
		return nil
	}

	if err := process.End(with); err != nil {
		return fmt.Errorf("cannot end the provider: %w", err)
	}

	return nil
}

// Tail is the end of the provider's log, or why there is none. Long lines, which
// hold stack traces, are cut.
func (p *Provider) Tail(lines int) string { return p.TailOf("", lines) }

// TailOf is the end of what the provider's log says with that word.
func (p *Provider) TailOf(word string, lines int) string {
	raw, err := os.ReadFile(p.LogFile())
	if err != nil {
		return err.Error()
	}

	var all []string

	for l := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		if strings.Contains(l, word) {
			all = append(all, l[:min(len(l), lineLimit)])
		}
	}

	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// Metrics are the provider's counters as they stand.
func (p *Provider) Metrics(ctx context.Context) (Metrics, error) {
	raw, err := p.RawMetrics(ctx)
	if err != nil {
		return nil, err
	}

	return ParseMetrics(bytes.NewReader(raw))
}

// RawMetrics are they as the provider serves them.
func (p *Provider) RawMetrics(ctx context.Context) ([]byte, error) {
	p.mu.Lock()
	from := p.metrics
	p.mu.Unlock()

	raw, err := get(ctx, from)
	if err != nil {
		return nil, fmt.Errorf("cannot read the provider's metrics: %w", err)
	}

	return raw, nil
}

func get(ctx context.Context, url string) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}

	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()

	raw, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", url, resp.Status, bytes.TrimSpace(raw))
	}

	return raw, err
}

// freePorts are addresses of this machine that nobody listens on.
func freePorts(ctx context.Context, n int) ([]string, error) {
	out := make([]string, n)

	for i := range out {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, fmt.Errorf("cannot find a free port: %w", err)
		}
		// Open until all are found, so that they differ.
		defer func() { _ = l.Close() }()

		out[i] = l.Addr().String()
	}

	return out, nil
}
