// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	ctrl "sigs.k8s.io/controller-runtime"

	reports "github.com/kubeopera/provider-kubeopera/internal/controller/report"
	"github.com/kubeopera/provider-kubeopera/internal/controller/tenant"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// addReports adds the controller that tells kubeopera-api, and returns where
// reports wait that outlive their Tenant; nil when nothing is to be reported.
func addReports(mgr ctrl.Manager, c Config, o controller.Options) (*report.Outbox, error) {
	if outboxNamespace(c) == "" {
		return nil, nil
	}
	api, err := report.NewClient(report.Options{
		BaseURL:      c.APIBaseURL,
		TokenURL:     c.TokenURL,
		ClientID:     c.ClientID,
		ClientSecret: string(c.ClientSecret),
	})
	if err != nil {
		return nil, err
	}
	outbox := report.NewOutbox(mgr.GetClient(), mgr.GetAPIReader(), outboxNamespace(c))
	err = reports.Setup(mgr, reports.Options{
		Options:         o,
		Client:          api,
		Outbox:          outbox,
		CloudSpaceIndex: tenant.IndexCloudSpaceID,
	})
	if err != nil {
		return nil, fmt.Errorf("cannot set up the controller of reports: %w", err)
	}
	return outbox, nil
}

// outboxNamespace is where reports wait that outlive their Tenant; empty when
// nothing is to be reported.
func outboxNamespace(c Config) string {
	if c.APIBaseURL == "" {
		return ""
	}
	return podNamespace(c.PodNamespace, podNamespaceFile)
}
