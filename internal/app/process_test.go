// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
)

// settingsEnv holds the settings of a process that is a provider and no test.
const settingsEnv = "KUBEOPERA_TEST_PROVIDER"

// TestMain runs the tests or, in a process that a test has started, a provider: only
// what is a process of its own can be killed.
func TestMain(m *testing.M) {
	raw := os.Getenv(settingsEnv)
	if raw == "" {
		os.Exit(m.Run())
	}
	c := Config{}
	if err := json.Unmarshal([]byte(raw), &c); err != nil {
		fmt.Fprintln(os.Stderr, "cannot read the settings:", err)
		os.Exit(1)
	}
	if err := Run(ctrl.SetupSignalHandler(), c, NewLogger(os.Stderr, false)); err != nil {
		fmt.Fprintln(os.Stderr, "provider:", err)
		os.Exit(1)
	}
}

// replica is a process that is a provider.
type replica struct {
	cmd     *exec.Cmd
	ready   string
	metrics string
}

// startReplica starts a provider on the cluster of a kubeconfig, with these settings
// changed, and waits until it is ready. It is killed when the test ends.
func startReplica(t *testing.T, kubeconfig string, change func(*Config)) *replica {
	t.Helper()
	c := valid(t)
	c.APIBaseURL, c.PodNamespace, c.MaxReconcileRate, c.Poll = "", ownNamespace, 100, minPoll
	c.MetricsAddress, c.ProbeAddress = freeAddress(t), freeAddress(t)
	if change != nil {
		change(&c)
	}
	settings, err := json.Marshal(c)
	if err != nil {
		t.Fatalf("json.Marshal(...): %v", err)
	}
	file := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(file)
	if err != nil {
		t.Fatalf("os.Create(...): %v", err)
	}
	defer func() { _ = log.Close() }()

	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, settingsEnv+"="+string(settings))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("cannot start a provider: %v", err)
	}
	r := &replica{cmd: cmd, ready: "http://" + c.ProbeAddress + "/readyz", metrics: "http://" + c.MetricsAddress + "/metrics"}
	t.Cleanup(func() {
		r.kill()
		if raw, err := os.ReadFile(file); t.Failed() && err == nil {
			t.Logf("the end of a provider's log:\n%s", raw[max(0, len(raw)-4000):])
		}
	})
	eventually(t, "the provider is ready", time.Minute, func(ctx context.Context) bool {
		resp, err := get(ctx, r.ready)
		if err != nil {
			return false
		}
		return resp.Body.Close() == nil && resp.StatusCode == http.StatusOK
	})
	return r
}

// kill the process, without a chance to end in order.
func (r *replica) kill() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// metric is the sum of the samples that begin with the text, 0 when there is none.
func (r *replica) metric(t *testing.T, begins string) float64 {
	t.Helper()
	resp, err := get(t.Context(), r.metrics)
	if err != nil {
		t.Fatalf("cannot read metrics: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	sum := 0.0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if !strings.HasPrefix(lines.Text(), begins) {
			continue
		}
		v, err := strconv.ParseFloat(lines.Text()[strings.LastIndexByte(lines.Text(), ' ')+1:], 64)
		if err != nil {
			t.Fatalf("cannot read metric %q: %v", lines.Text(), err)
		}
		sum += v
	}
	return sum
}

func get(ctx context.Context, url string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	return http.DefaultClient.Do(req)
}

// eventually it is true, within that time.
func eventually(t *testing.T, what string, within time.Duration, ok func(context.Context) bool) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, within, true, func(ctx context.Context) (bool, error) { return ok(ctx), nil })
	if err != nil {
		t.Fatalf("%s: %v", what, err)
	}
}
