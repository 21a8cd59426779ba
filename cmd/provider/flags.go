// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/alecthomas/kong"

	"github.com/kubeopera/provider-kubeopera/internal/app"
	"github.com/kubeopera/provider-kubeopera/internal/flux"
)

// flags are the settings. The environment variable of each is its flag's name
// in capitals, with _ for -.
type flags struct {
	Debug bool `short:"d" help:"Log more, and for people to read instead of JSON."`

	KubeoperaAPIBaseURL string `name:"kubeopera-api-base-url" default:"http://kubeopera-api:8090" placeholder:"URL" help:"Address of kubeopera-api, empty to report nothing [${default}]."`
	KubeoperaTokenURL   string `name:"kubeopera-token-url" placeholder:"URL" help:"Where its OAuth tokens come from [the address above with /oauth/token]."`
	ServiceClientID     string `placeholder:"ID" help:"The provider's client id at kubeopera-api."`
	ServiceClientSecret string `placeholder:"SECRET" help:"Its secret. Prefer the environment variable: a command line can be read by others."`

	VclusterChartVersion string `name:"vcluster-chart-version" default:"0.21.2" placeholder:"VERSION" help:"vCluster chart of Tenants that name none, 0.20 to 0.36 [${default}]."`
	FluxChartVersion     string `default:"${flux}" placeholder:"VERSION" help:"flux2 chart of Tenants that name none [${default}]."`
	AdvisorImage         string `placeholder:"IMAGE" help:"Image of the App Advisor in CloudSpaces that name none, empty to run none there."`
	Environment          string `default:"production" placeholder:"NAME" help:"Environment that CloudSpaces are labelled with, empty for no label [${default}]."`

	Poll             time.Duration `default:"1m" placeholder:"TIME" help:"How often a Ready Tenant is looked at, at least 5s [${default}]."`
	Sync             time.Duration `short:"s" default:"1h" placeholder:"TIME" help:"How often the caches hand out all that they hold once more, at least 1m [${default}]."`
	MaxReconcileRate int           `default:"100" placeholder:"N" help:"How many reconciles may start in a second. A tenth of that may run at once, of each kind [${default}]."`

	LeaderElection bool   `short:"l" help:"Let only one of several replicas work."`
	PodNamespace   string `placeholder:"NAME" help:"Namespace of the leader's lease and of reports that outlive their Tenant [the pod's own, or kubeopera-system outside of a cluster]."`

	EnableChangelogs     bool   `help:"Tell a change log service of each change that is made (alpha)."`
	ChangelogsSocketPath string `default:"${socket}" placeholder:"PATH" help:"Unix socket of that service, usually a sidecar's [${default}]."`

	ChartCache             string `default:"${charts}" placeholder:"FOLDER" help:"Folder that charts are kept in, an emptyDir in a pod [${default}]."`
	MetricsBindAddress     string `default:":8080" placeholder:"ADDRESS" help:"Where /metrics is served, 0 for nowhere [${default}]."`
	HealthProbeBindAddress string `default:":8081" placeholder:"ADDRESS" help:"Where /healthz and /readyz are served, 0 for nowhere [${default}]."`
	PprofBindAddress       string `default:"0" placeholder:"ADDRESS" help:"Where profiles are served at /debug/pprof, such as 127.0.0.1:6060, 0 for nowhere [${default}]."`
}

// vars are the defaults that are not known to the flags themselves.
func vars() kong.Vars {
	return kong.Vars{"charts": defaultChartCache(), "flux": flux.DefaultChartVersion, "socket": app.DefaultChangeLogsSocket}
}

func defaultChartCache() string {
	return filepath.Join(os.TempDir(), "kubeopera-charts")
}

func (f *flags) config() app.Config {
	return app.Config{
		APIBaseURL:       f.KubeoperaAPIBaseURL,
		TokenURL:         f.KubeoperaTokenURL,
		ChartVersion:     f.VclusterChartVersion,
		FluxChartVersion: f.FluxChartVersion,
		AdvisorImage:     f.AdvisorImage,
		ClientID:         f.ServiceClientID,
		ClientSecret:     app.Secret(f.ServiceClientSecret),
		Environment:      f.Environment,
		Poll:             f.Poll,
		Sync:             f.Sync,
		MaxReconcileRate: f.MaxReconcileRate,
		LeaderElection:   f.LeaderElection,
		PodNamespace:     f.PodNamespace,
		ChangeLogs:       f.EnableChangelogs,
		ChangeLogsSocket: f.ChangelogsSocketPath,
		ChartCache:       f.ChartCache,
		MetricsAddress:   f.MetricsBindAddress,
		ProbeAddress:     f.HealthProbeBindAddress,
		PprofAddress:     f.PprofBindAddress,
		Version:          version,
	}
}
