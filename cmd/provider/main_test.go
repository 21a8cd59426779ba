// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/internal/app"
)

func defaults(cache string) app.Config {
	return app.Config{
		APIBaseURL:       "http://kubeopera-api:8090",
		ChartVersion:     "0.21.2",
		FluxChartVersion: "2.18.3",
		Environment:      "production",
		Poll:             time.Minute,
		Sync:             time.Hour,
		MaxReconcileRate: 100,
		ChangeLogsSocket: "/var/run/changelogs/changelogs.sock",
		ChartCache:       cache,
		MetricsAddress:   ":8080",
		ProbeAddress:     ":8081",
		PprofAddress:     "0",
		Version:          "dev",
	}
}

// all are all settings, with values that are no defaults.
func all(cache string) app.Config {
	return app.Config{
		APIBaseURL:       "https://api.example.org",
		TokenURL:         "https://login.example.org/token",
		ChartVersion:     "0.36.1",
		FluxChartVersion: "2.19.0",
		AdvisorImage:     "example.org/advisor:v1",
		ClientID:         "provider",
		ClientSecret:     "hunter2",
		Environment:      "staging",
		Poll:             30 * time.Second,
		Sync:             2 * time.Hour,
		MaxReconcileRate: 3,
		LeaderElection:   true,
		PodNamespace:     "kubeopera-system",
		ChangeLogs:       true,
		ChangeLogsSocket: "/run/changes.sock",
		ChartCache:       cache,
		MetricsAddress:   "127.0.0.1:9090",
		ProbeAddress:     "0",
		PprofAddress:     "127.0.0.1:6060",
		Version:          "dev",
	}
}

// withEnv sets these of the provider's variables, and no other that the machine
// may have.
func withEnv(t *testing.T, env map[string]string) {
	t.Helper()
	p, err := kong.New(&flags{}, kong.DefaultEnvars(""), vars())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Model.Flags {
		for _, name := range f.Envs {
			t.Setenv(name, env[name]) // So that it is put back when the test ends.
			if _, ok := env[name]; ok {
				continue
			}
			if err := os.Unsetenv(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestParse(t *testing.T) {
	cache := filepath.Join(t.TempDir(), "charts")
	cases := map[string]struct {
		reason string
		env    map[string]string
		args   []string
		want   app.Config
		debug  bool
	}{
		"Defaults": {
			reason: "With nothing set, the documented defaults hold.",
			want:   defaults(defaultChartCache()),
		},
		"Environment": {
			reason: "Each setting is an environment variable.",
			env: map[string]string{
				"KUBEOPERA_API_BASE_URL": "https://api.example.org", "KUBEOPERA_TOKEN_URL": "https://login.example.org/token",
				"VCLUSTER_CHART_VERSION": "0.36.1", "FLUX_CHART_VERSION": "2.19.0", "ADVISOR_IMAGE": "example.org/advisor:v1",
				"SERVICE_CLIENT_ID": "provider", "SERVICE_CLIENT_SECRET": "hunter2", "ENVIRONMENT": "staging",
				"DEBUG": "true", "POLL": "30s", "SYNC": "2h", "MAX_RECONCILE_RATE": "3",
				"LEADER_ELECTION": "true", "POD_NAMESPACE": "kubeopera-system", "CHART_CACHE": cache,
				"ENABLE_CHANGELOGS": "true", "CHANGELOGS_SOCKET_PATH": "/run/changes.sock",
				"METRICS_BIND_ADDRESS": "127.0.0.1:9090", "HEALTH_PROBE_BIND_ADDRESS": "0", "PPROF_BIND_ADDRESS": "127.0.0.1:6060",
			},
			want:  all(cache),
			debug: true,
		},
		"Flags": {
			reason: "Each setting is a flag.",
			args: []string{
				"--kubeopera-api-base-url=https://api.example.org", "--kubeopera-token-url=https://login.example.org/token",
				"--vcluster-chart-version=0.36.1", "--flux-chart-version=2.19.0", "--advisor-image=example.org/advisor:v1",
				"--service-client-id=provider", "--service-client-secret=hunter2", "--environment=staging",
				"--debug", "--poll=30s", "--sync=2h", "--max-reconcile-rate=3",
				"--leader-election", "--pod-namespace=kubeopera-system", "--chart-cache", cache,
				"--enable-changelogs", "--changelogs-socket-path=/run/changes.sock",
				"--metrics-bind-address=127.0.0.1:9090", "--health-probe-bind-address=0", "--pprof-bind-address=127.0.0.1:6060",
			},
			want:  all(cache),
			debug: true,
		},
		"Short": {
			reason: "The short forms are those of other providers.",
			args:   []string{"-d", "-s", "1h", "-l"},
			want: func() app.Config {
				c := defaults(defaultChartCache())
				c.LeaderElection = true
				return c
			}(),
			debug: true,
		},
		"NoReports": {
			reason: "An empty address turns reports off.",
			env:    map[string]string{"KUBEOPERA_API_BASE_URL": ""},
			args:   []string{"--chart-cache", cache},
			want: func() app.Config {
				c := defaults(cache)
				c.APIBaseURL = ""
				return c
			}(),
		},
		"FlagWins": {
			reason: "A flag wins over the environment.",
			env:    map[string]string{"MAX_RECONCILE_RATE": "1", "CHART_CACHE": "/proc/nowhere"},
			args:   []string{"--max-reconcile-rate=100", "--chart-cache", cache},
			want:   defaults(cache),
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			withEnv(t, tc.env)
			f, err := parse(tc.args)
			if err != nil {
				t.Fatalf("%s\nparse(...): %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, f.config()); diff != "" {
				t.Errorf("%s\nparse(...): -want, +got:\n%s", tc.reason, diff)
			}
			if f.Debug != tc.debug {
				t.Errorf("%s\nparse(...): want debug %t, got %t", tc.reason, tc.debug, f.Debug)
			}
		})
	}
}

func TestRunRefuses(t *testing.T) {
	cases := map[string]struct {
		reason string
		env    map[string]string
		args   []string
		want   []string
	}{
		"BadFlag":       {"A value of the wrong form.", nil, []string{"--poll=soon"}, []string{"--poll: ", `"soon" is not a duration; set it to one such as 1m`}},
		"BadEnv":        {"The variable is named when the value came from it.", map[string]string{"POLL": "soon"}, nil, []string{"--poll", `POLL="soon"`}},
		"BadNumber":     {"A number is a number.", map[string]string{"MAX_RECONCILE_RATE": "ten"}, nil, []string{"--max-reconcile-rate", `"ten" is not a number; set it to one such as 100`, "MAX_RECONCILE_RATE"}},
		"BadBool":       {"Yes or no.", map[string]string{"LEADER_ELECTION": "maybe"}, nil, []string{"--leader-election", "LEADER_ELECTION"}},
		"BadValue":      {"A value that the provider cannot work with.", map[string]string{"POLL": "1s"}, nil, []string{"--poll (POLL)", `less than "5s"`}},
		"UnknownFlag":   {"A flag that is none, without the secret that it was to set.", nil, []string{"--service-client-key=hunter2"}, []string{"--service-client-key"}},
		"SecretAlone":   {"The secret itself is not shown.", map[string]string{"SERVICE_CLIENT_SECRET": "hunter2"}, nil, []string{"--service-client-id (SERVICE_CLIENT_ID)"}},
		"StrayArgument": {"An argument that belongs to nothing.", nil, []string{"start"}, []string{"start"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			withEnv(t, tc.env)
			out := &bytes.Buffer{}
			if got := run(t.Context(), tc.args, out); got != exitBadValue {
				t.Errorf("%s\nrun(...): want exit code %d, got %d", tc.reason, exitBadValue, got)
			}
			for _, w := range tc.want {
				if !strings.Contains(out.String(), w) {
					t.Errorf("%s\nwant message with %q, got %q", tc.reason, w, out)
				}
			}
			if strings.Count(out.String(), "\n") != 1 || strings.Contains(out.String(), "hunter2") {
				t.Errorf("%s\nwant one line without secrets, got %q", tc.reason, out)
			}
		})
	}
}

func TestRunWithoutCluster(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "none")
	rubbish := filepath.Join(t.TempDir(), "rubbish")
	if err := os.WriteFile(rubbish, []byte("current-context: x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct{ reason, kubeconfig, want string }{
		"NoFile":  {"The file is named.", absent, strconv.Quote(absent) + ", which does not exist or is empty; set it to"},
		"Rubbish": {"So is what is wrong with it.", rubbish, `no kubeconfig that can be used; set it to another`},
		"Unset":   {"The setting is named.", "", "set KUBECONFIG to a kubeconfig"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			withEnv(t, nil)
			t.Setenv("KUBECONFIG", tc.kubeconfig)
			t.Setenv("HOME", t.TempDir())
			t.Setenv("KUBERNETES_SERVICE_HOST", "")
			out := &bytes.Buffer{}
			if got := run(t.Context(), []string{"--chart-cache", t.TempDir()}, out); got != exitBadValue {
				t.Errorf("No cluster is a bad value.\nrun(...): want exit code %d, got %d", exitBadValue, got)
			}
			if !strings.Contains(out.String(), tc.want) || strings.Contains(out.String(), "KUBERNETES_MASTER") {
				t.Errorf("%s\nwant message with %q, got %q", tc.reason, tc.want, out)
			}
		})
	}
}

func TestHelp(t *testing.T) {
	withEnv(t, map[string]string{"SERVICE_CLIENT_SECRET": "hunter2"})
	out := &bytes.Buffer{}
	code := -1
	// The run ends here, and goes on in the test only; its error says nothing.
	_, _ = parse([]string{"--help"}, kong.Writers(out, out), kong.Exit(func(c int) { code = c }))
	if code != 0 {
		t.Errorf("Help is no failure: want exit code 0, got %d", code)
	}
	for _, want := range []string{"--kubeopera-api-base-url", "KUBEOPERA_API_BASE_URL", "0.21.2", "SERVICE_CLIENT_SECRET", "HEALTH_PROBE_BIND_ADDRESS"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("Help names each flag, variable and default: no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("Help shows no secret:\n%s", out)
	}
}

// The table of settings in the README is for those who do not start the program.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	parser, err := kong.New(&flags{}, kong.DefaultEnvars(""), vars())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range parser.Model.Flags {
		if f.Name == "help" {
			continue
		}
		flag := "`--" + f.Name + "`"
		if f.Short != 0 {
			flag += ", `-" + string(f.Short) + "`"
		}
		row := "| " + flag + " | `" + f.Envs[0] + "` | "
		if f.HasDefault && f.Name != "chart-cache" {
			row += "`" + f.Default + "` | "
		}
		if !strings.Contains(string(readme), row) {
			t.Errorf("Each setting has a row in the README: want %q", row)
		}
	}
}

// TestCollectSooner holds that the heap grows by half only, and that GOGC decides when it
// is set.
func TestCollectSooner(t *testing.T) {
	t.Cleanup(func() { debug.SetGCPercent(100) })
	t.Setenv("GOGC", "70")
	debug.SetGCPercent(70)
	collectSooner()

	if got := debug.SetGCPercent(100); got != 70 {
		t.Errorf("with GOGC=70 it is %d", got)
	}

	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}

	collectSooner()

	if got := debug.SetGCPercent(100); got != gcPercent {
		t.Errorf("without GOGC it is %d, want %d", got, gcPercent)
	}
}
