// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// valid returns settings that the provider can work with.
func valid(t *testing.T) Config {
	t.Helper()
	return Config{
		APIBaseURL:       "http://kubeopera-api:8090",
		ChartVersion:     "0.21.2",
		FluxChartVersion: "2.18.3",
		Environment:      "production",
		Poll:             time.Minute,
		Sync:             time.Hour,
		MaxReconcileRate: 100,
		ChartCache:       filepath.Join(t.TempDir(), "charts"),
		MetricsAddress:   ":8080",
		ProbeAddress:     ":8081",
		PprofAddress:     "0",
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		reason string
		change func(*Config)
	}{
		"Defaults":        {"What is set when nothing is set works.", func(*Config) {}},
		"HTTPSAndPath":    {"The API may lie below a path.", func(c *Config) { c.APIBaseURL = "https://example.org/kubeopera" }},
		"OldestChart":     {"The range has this end.", func(c *Config) { c.ChartVersion = "0.20.0" }},
		"NewestChart":     {"And this one.", func(c *Config) { c.ChartVersion = "0.36.1" }},
		"Image":           {"An image with a digest is one.", func(c *Config) { c.AdvisorImage = "ghcr.io/kubeopera/app-advisor@sha256:" + strings.Repeat("a", 64) }},
		"Credentials":     {"Both are set.", func(c *Config) { c.ClientID, c.ClientSecret = "provider", "hunter2" }},
		"NoServers":       {"Both may be turned off.", func(c *Config) { c.MetricsAddress, c.ProbeAddress = "0", "0" }},
		"Loopback":        {"They may listen on one address only.", func(c *Config) { c.MetricsAddress = "127.0.0.1:8080" }},
		"IPv6":            {"Of either family.", func(c *Config) { c.MetricsAddress = "[::1]:8080" }},
		"LeaseNamespace":  {"The lease may lie anywhere.", func(c *Config) { c.PodNamespace = "kubeopera-system" }},
		"SmallestNumbers": {"The smallest numbers are allowed.", func(c *Config) { c.Poll, c.Sync, c.MaxReconcileRate = 5*time.Second, time.Minute, 1 }},
		"NoEnvironment":   {"Without an environment there is no label.", func(c *Config) { c.Environment = "" }},
		"NoChangeLogs":    {"A socket that is not used may be anything.", func(c *Config) { c.ChangeLogsSocket = "socket" }},
		"ChangeLogs":      {"The socket may come later.", func(c *Config) { c.ChangeLogs, c.ChangeLogsSocket = true, "/nowhere/socket" }},
		"CacheThere":      {"The chart cache survives a restart.", func(c *Config) { c.ChartCache = filepath.Dir(c.ChartCache) }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := valid(t)
			folder := c.ChartCache
			tc.change(&c)
			if err := c.Validate(); err != nil {
				t.Errorf("%s\nValidate(): %v", tc.reason, err)
			}
			if made, _ := filepath.Glob(filepath.Join(filepath.Dir(folder), "*")); len(made) > 0 {
				t.Errorf("A check makes nothing, got %v", made)
			}
		})
	}
}

func TestValidateRefuses(t *testing.T) {
	t.Parallel()
	const secret = "hunter2"
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	cases := map[string]struct {
		reason string
		change func(*Config)
		// want is what the message must hold: the setting and the remedy.
		want []string
	}{
		"URLScheme":      {"It is spoken to by HTTP.", func(c *Config) { c.APIBaseURL = "ftp://x" }, []string{"--kubeopera-api-base-url (KUBEOPERA_API_BASE_URL)", "such as http://", "leave it empty"}},
		"URLNoScheme":    {"A host alone does not say how.", func(c *Config) { c.APIBaseURL = "kubeopera-api:8090" }, []string{"KUBEOPERA_API_BASE_URL", "such as http://"}},
		"URLNoHost":      {"A port alone does not say where.", func(c *Config) { c.APIBaseURL = "http://:8090" }, []string{"KUBEOPERA_API_BASE_URL", "such as http://"}},
		"URLBadPort":     {"The message must not repeat a password.", func(c *Config) { c.APIBaseURL = "http://u:" + secret + "@x:port" }, []string{"KUBEOPERA_API_BASE_URL", "port", "such as http://"}},
		"URLCredentials": {"Credentials have settings of their own.", func(c *Config) { c.APIBaseURL = "http://u:" + secret + "@x" }, []string{"KUBEOPERA_API_BASE_URL", "SERVICE_CLIENT_ID"}},
		"URLQuery":       {"Paths are put behind it.", func(c *Config) { c.APIBaseURL = "http://x/?a=" + secret }, []string{"KUBEOPERA_API_BASE_URL", "query"}},
		"URLSchemeQuery": {"A token behind it is not repeated.", func(c *Config) { c.APIBaseURL = "ftp://u:" + secret + "@x/?a=" + secret }, []string{"KUBEOPERA_API_BASE_URL", "such as http://"}},
		"TokenURL":       {"It is an address too.", func(c *Config) { c.TokenURL = "login" }, []string{"--kubeopera-token-url (KUBEOPERA_TOKEN_URL)", "such as https://"}},
		"FluxRange":      {"A range is not exact.", func(c *Config) { c.FluxChartVersion = "2" }, []string{"--flux-chart-version (FLUX_CHART_VERSION)", "such as 2."}},
		"FluxEmpty":      {"There must be one.", func(c *Config) { c.FluxChartVersion = "" }, []string{"FLUX_CHART_VERSION", "such as 2."}},
		"ChartOld":       {"Its values have another layout.", func(c *Config) { c.ChartVersion = "0.19.9" }, []string{"--vcluster-chart-version (VCLUSTER_CHART_VERSION)", "0.20.0 to 0.36.x"}},
		"ChartNew":       {"Its schema is not known.", func(c *Config) { c.ChartVersion = "0.37.0" }, []string{"VCLUSTER_CHART_VERSION", "0.20.0 to 0.36.x"}},
		"ChartRange":     {"A range is not exact.", func(c *Config) { c.ChartVersion = "0.36" }, []string{"VCLUSTER_CHART_VERSION", "such as 0.21.2"}},
		"ChartEmpty":     {"There must be one.", func(c *Config) { c.ChartVersion = "" }, []string{"VCLUSTER_CHART_VERSION", "such as 0.21.2"}},
		"Image":          {"It must be an image.", func(c *Config) { c.AdvisorImage = "App Advisor" }, []string{"--advisor-image (ADVISOR_IMAGE)", "leave it empty"}},
		"IDAlone":        {"An id without secret is half of it.", func(c *Config) { c.ClientID = "provider" }, []string{"--service-client-secret (SERVICE_CLIENT_SECRET)", "set both or none"}},
		"SecretAlone":    {"So is a secret without id.", func(c *Config) { c.ClientSecret = secret }, []string{"--service-client-id (SERVICE_CLIENT_ID)", "set both or none"}},
		"Environment":    {"It becomes a label.", func(c *Config) { c.Environment = "my prod" }, []string{"--environment (ENVIRONMENT)", "such as production", "leave it empty"}},
		"PollShort":      {"It would do nothing but look.", func(c *Config) { c.Poll = 5*time.Second - 1 }, []string{"--poll (POLL)", `less than "5s"`, "such as 1m"}},
		"PollNegative":   {"Time does not go back.", func(c *Config) { c.Poll = -time.Second }, []string{"POLL", "such as 1m"}},
		"SyncShort":      {"It would do nothing but look.", func(c *Config) { c.Sync = time.Minute - 1 }, []string{"--sync (SYNC)", `less than "1m0s"`, "such as 1h"}},
		"RateZero":       {"Nothing would happen.", func(c *Config) { c.MaxReconcileRate = 0 }, []string{"--max-reconcile-rate (MAX_RECONCILE_RATE)", "such as 100"}},
		"RateHuge":       {"So many workers would take all memory.", func(c *Config) { c.MaxReconcileRate = 1001 }, []string{"MAX_RECONCILE_RATE", "such as 100"}},
		"PodNamespace":   {"It must be a namespace's name.", func(c *Config) { c.PodNamespace = "A" }, []string{"--pod-namespace (POD_NAMESPACE)", "kubeopera-system"}},
		"Metrics":        {"It must be an address.", func(c *Config) { c.MetricsAddress = "8080" }, []string{"--metrics-bind-address (METRICS_BIND_ADDRESS)", "such as :8080"}},
		"MetricsPort":    {"Ports end at 65535.", func(c *Config) { c.MetricsAddress = ":65536" }, []string{"METRICS_BIND_ADDRESS", "such as :8080"}},
		"Profiles":       {"It must be an address.", func(c *Config) { c.PprofAddress = "localhost" }, []string{"--pprof-bind-address (PPROF_BIND_ADDRESS)", "such as :8080"}},
		"Probes":         {"It must be an address.", func(c *Config) { c.ProbeAddress = "" }, []string{"--health-probe-bind-address (HEALTH_PROBE_BIND_ADDRESS)", "such as :8080"}},
		"Socket":         {"It is not relative to where the provider was started.", func(c *Config) { c.ChangeLogs, c.ChangeLogsSocket = true, "socket" }, []string{"--changelogs-socket-path (CHANGELOGS_SOCKET_PATH)", "such as /var/run/", "--enable-changelogs (ENABLE_CHANGELOGS)"}},
		"SocketEmpty":    {"There must be one.", func(c *Config) { c.ChangeLogs = true }, []string{"CHANGELOGS_SOCKET_PATH", "such as /var/run/"}},
		"CacheEmpty":     {"Charts must lie somewhere.", func(c *Config) { c.ChartCache = "" }, []string{"--chart-cache (CHART_CACHE)", "may write to"}},
		"CacheFile":      {"A file is no folder.", func(c *Config) { c.ChartCache = file }, []string{"CHART_CACHE", "may write to"}},
		"CacheBelowFile": {"Nothing lies below a file.", func(c *Config) { c.ChartCache = filepath.Join(file, "charts") }, []string{"CHART_CACHE", "may write to"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := valid(t)
			tc.change(&c)
			err := c.Validate()
			if err == nil {
				t.Fatalf("%s\nValidate(): accepted", tc.reason)
			}
			for _, w := range tc.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%s\nwant message with %q, got %q", tc.reason, w, err)
				}
			}
			if strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), secret) {
				t.Errorf("want one line without secrets, got %q", err)
			}
		})
	}
}

func TestSecret(t *testing.T) {
	t.Parallel()
	c := valid(t)
	c.ClientSecret = "hunter2"

	asJSON, err := json.Marshal(c)
	if err != nil {
		t.Fatalf("json.Marshal(...): %v", err)
	}
	logs := &bytes.Buffer{}
	NewLogger(logs, false).Info("settings", "config", c, "secret", c.ClientSecret)
	NewLogger(logs, true).Info("settings", "config", c, "secret", c.ClientSecret)

	for name, got := range map[string]string{
		"JSON": string(asJSON), "Log": logs.String(),
		"%v": fmt.Sprintf("%v", c), "%+v": fmt.Sprintf("%+v", c), "%#v": fmt.Sprintf("%#v", c),
	} {
		if !strings.Contains(got, "[hidden]") || strings.Contains(got, "hunter2") {
			t.Errorf("The secret must not be shown in %s: %s", name, got)
		}
	}
}

func TestNewLogger(t *testing.T) {
	t.Parallel()
	out := &bytes.Buffer{}
	log := NewLogger(out, false)
	log.V(1).Info("detail")
	log.Info("hello", "tenant", "alice")

	got := map[string]any{}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("Without debug, details are left out and a line is one JSON object.\njson.Unmarshal(%q): %v", out, err)
	}
	if got["msg"] != "hello" || got["tenant"] != "alice" {
		t.Errorf("want message and values in the object, got %v", got)
	}
	if _, err := time.Parse(time.RFC3339Nano, fmt.Sprint(got["ts"])); err != nil {
		t.Errorf("want a time that people can read: %v", err)
	}

	out.Reset()
	NewLogger(out, true).V(1).Info("detail")
	if !strings.Contains(out.String(), "detail") || json.Valid(out.Bytes()) {
		t.Errorf("With debug, details are there, for people to read; got %q", out)
	}
}
