// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/Masterminds/semver/v3"
	"github.com/google/go-containerregistry/pkg/name"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/kubeopera/provider-kubeopera/internal/flux"
	"github.com/kubeopera/provider-kubeopera/internal/redact"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const (
	// maxRate bounds MaxReconcileRate: each worker takes memory.
	maxRate = 1000
	// minPoll and minSync bound Poll and Sync: each Tenant that is looked at
	// costs requests to its host and to its own API.
	minPoll = 5 * time.Second
	minSync = time.Minute

	writableFolder = "set it to a folder that the provider may write to"
)

// DefaultChangeLogsSocket is where the sidecar for change logs usually listens.
const DefaultChangeLogsSocket = "/var/run/changelogs/changelogs.sock"

// Config is everything that an administrator can set.
type Config struct {
	// APIBaseURL of kubeopera-api, without a trailing path of its API. Empty
	// reports nothing.
	APIBaseURL string
	// TokenURL is where its OAuth tokens come from. Empty means {APIBaseURL}/oauth/token.
	TokenURL string
	// ChartVersion of the vCluster chart for Tenants that name none.
	ChartVersion string
	// FluxChartVersion of the flux2 chart for Tenants that name none.
	FluxChartVersion string
	// AdvisorImage of Tenants that name none. Empty runs no App Advisor there.
	AdvisorImage string
	// ClientID and ClientSecret are the provider's own at kubeopera-api. Either
	// both are set or none.
	ClientID     string
	ClientSecret Secret
	// Environment that CloudSpaces are labelled with. Empty means no label.
	Environment string

	// Poll is how often a Ready Tenant is looked at, at least 5s.
	Poll time.Duration
	// Sync is how often everything in the caches is looked at again, at least 1m.
	Sync time.Duration
	// MaxReconcileRate is how many reconciles may start in a second. A tenth of that may
	// run at once, of each kind.
	MaxReconcileRate int

	// LeaderElection lets only one of several replicas work.
	LeaderElection bool
	// PodNamespace holds the leader's lease, and the reports that outlive their
	// Tenant. Empty means the pod's own namespace, or kubeopera-system outside of a
	// cluster.
	PodNamespace string

	// ChangeLogs tells the service behind ChangeLogsSocket of each change that is
	// made for a managed resource.
	ChangeLogs bool
	// ChangeLogsSocket is the path of a unix socket. It may come later than the
	// provider.
	ChangeLogsSocket string

	// ChartCache is the folder that downloaded charts are kept in.
	ChartCache string

	// MetricsAddress and ProbeAddress are host:port to listen on; 0 turns it off.
	MetricsAddress string
	ProbeAddress   string
	// PprofAddress is such an address for profiles of the running provider.
	PprofAddress string

	// Version of the provider, as change logs name it.
	Version string
}

// Secret is text that no message and no log ever shows.
type Secret string

// String hides the text.
func (Secret) String() string { return redact.Hidden }

// GoString hides the text.
func (Secret) GoString() string { return redact.Hidden }

// MarshalText hides the text.
func (Secret) MarshalText() ([]byte, error) { return []byte(redact.Hidden), nil }

// Validate finds the first value that the provider cannot work with. The error
// is one line that names the setting and what to set it to. It changes nothing.
func (c Config) Validate() error {
	checks := []struct {
		flag  string
		check func() error
	}{
		{"kubeopera-api-base-url", func() error { return checkURL(c.APIBaseURL, "http://kubeopera-api:8090") }},
		{"kubeopera-token-url", func() error { return checkURL(c.TokenURL, "https://login.example.org/oauth/token") }},
		{"vcluster-chart-version", func() error { return checkChartVersion(c.ChartVersion) }},
		{"flux-chart-version", func() error { return checkFluxVersion(c.FluxChartVersion) }},
		{"advisor-image", func() error { return checkImage(c.AdvisorImage) }},
		{"service-client-id", func() error { return checkSet(c.ClientID, string(c.ClientSecret), "service-client-secret") }},
		{"service-client-secret", func() error { return checkSet(string(c.ClientSecret), c.ClientID, "service-client-id") }},
		{"environment", func() error { return checkLabelValue(c.Environment) }},
		{"poll", func() error { return checkInterval(c.Poll, minPoll, "1m") }},
		{"sync", func() error { return checkInterval(c.Sync, minSync, "1h") }},
		{"max-reconcile-rate", func() error { return checkRate(c.MaxReconcileRate) }},
		{"pod-namespace", func() error { return checkNamespace(c.PodNamespace) }},
		{"changelogs-socket-path", func() error { return checkSocket(c.ChangeLogs, c.ChangeLogsSocket) }},
		{"metrics-bind-address", func() error { return checkAddress(c.MetricsAddress) }},
		{"health-probe-bind-address", func() error { return checkAddress(c.ProbeAddress) }},
		{"pprof-bind-address", func() error { return checkAddress(c.PprofAddress) }},
		{"chart-cache", func() error { return checkFolder(c.ChartCache) }},
	}
	for _, s := range checks {
		if err := s.check(); err != nil {
			return fmt.Errorf("%s: %w", setting(s.flag), err)
		}
	}
	return nil
}

// setting names a setting in both of its forms.
func setting(flag string) string {
	return "--" + flag + " (" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_")) + ")"
}

func checkURL(s, example string) error {
	if s == "" {
		return nil
	}
	remedy := "set it to an address such as " + example + ", or leave it empty"

	u, err := url.Parse(s)
	if err != nil {
		// The URL's own error repeats the URL, and with it a password in it.
		if e := (&url.Error{}); errors.As(err, &e) {
			err = e.Err
		}
		return fmt.Errorf("not a URL: %w; %s", err, remedy)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Hostname() == "" {
		return fmt.Errorf("%q is not a URL with http or https and a host; %s", redact.Address(s), remedy)
	}
	if u.User != nil {
		return fmt.Errorf("%q holds credentials; remove them and use %s and %s instead",
			redact.Address(s), setting("service-client-id"), setting("service-client-secret"))
	}
	if u.RawQuery != "" || u.Fragment != "" {
		return fmt.Errorf("%q holds a query or a fragment; %s", redact.Address(s), remedy)
	}
	return nil
}

func checkChartVersion(s string) error {
	if _, err := vcluster.ParseChartVersion(s); err != nil {
		return fmt.Errorf("%q is not a version of the vCluster chart that is supported; set it to one from %s, such as 0.21.2",
			s, vcluster.SupportedCharts)
	}
	return nil
}

func checkFluxVersion(s string) error {
	if _, err := semver.StrictNewVersion(strings.TrimPrefix(s, "v")); err != nil {
		return fmt.Errorf("%q is not an exact version of the flux2 chart; set it to one such as %s", s, flux.DefaultChartVersion)
	}
	return nil
}

func checkImage(s string) error {
	if s == "" {
		return nil
	}
	if _, err := name.ParseReference(s); err != nil {
		return fmt.Errorf("%q is not an image; set it to one such as ghcr.io/kubeopera/app-advisor:v1.0.0, or leave it empty", s)
	}
	return nil
}

// checkSet finds a value that is missing while the one it belongs to is set.
func checkSet(value, other, otherFlag string) error {
	if value == "" && other != "" {
		return fmt.Errorf("empty while %s is set; set both or none", setting(otherFlag))
	}
	return nil
}

func checkLabelValue(s string) error {
	if len(validation.IsValidLabelValue(s)) > 0 {
		return fmt.Errorf("%q cannot be a label's value; set it to at most 63 letters, digits, '-', '_' and '.', with a letter or digit at both ends, such as production, or leave it empty for no label", s)
	}
	return nil
}

func checkInterval(d, least time.Duration, example string) error {
	if d < least {
		return fmt.Errorf("%q is less than %q; set it to a duration such as %s", d, least, example)
	}
	return nil
}

func checkRate(n int) error {
	if n < 1 || n > maxRate {
		return fmt.Errorf("%d is not from 1 to %d; set it to a number such as 100", n, maxRate)
	}
	return nil
}

func checkNamespace(s string) error {
	if s != "" && len(validation.IsDNS1123Label(s)) > 0 {
		return fmt.Errorf("%q is not the name of a namespace; set it to one such as kubeopera-system, or leave it empty", s)
	}
	return nil
}

// checkSocket finds a path that no connection can be made to, wherever the
// provider was started.
func checkSocket(used bool, path string) error {
	if !used || filepath.IsAbs(path) {
		return nil
	}
	return fmt.Errorf("%q is not an absolute path; set it to one such as %s, or %s to off", path, DefaultChangeLogsSocket, setting("enable-changelogs"))
}

func checkAddress(s string) error {
	if s == "0" {
		return nil
	}
	_, port, err := net.SplitHostPort(s)
	if err == nil {
		_, err = net.LookupPort("tcp", port)
	}
	if err != nil {
		return fmt.Errorf("%q is not host:port; set it to an address such as :8080, or to 0 to turn it off", s)
	}
	return nil
}

// checkFolder finds a path that can never be a folder. Whether it can be written
// to shows when the chart cache is opened.
func checkFolder(dir string) error {
	if dir == "" {
		return errors.New("empty; " + writableFolder)
	}
	switch i, err := os.Stat(dir); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w; %s", err, writableFolder)
	case !i.IsDir():
		return fmt.Errorf("%q is a file; %s", dir, writableFolder)
	}
	return nil
}
