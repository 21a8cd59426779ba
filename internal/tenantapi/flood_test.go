// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/kubeopera/provider-kubeopera/internal/answers"
)

// TestFlood holds that a tenant's API cannot fill the provider's memory by what it
// answers, whichever client asks.
func TestFlood(t *testing.T) {
	t.Parallel()

	part := []byte(strings.Repeat(" ", 1<<20))

	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")

		for range answers.OfTenant.Bytes>>20 + 8 {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)

	a := get(t, NewPool(), "one", kubeconfig(t, s, "good"))

	for name, ask := range map[string]func() error{
		"probe": func() error { return a.Probe(t.Context()) },
		"list":  func() error { return a.Live.List(t.Context(), &appsv1.DeploymentList{}) },
		"helm": func() error {
			releases, err := a.Helm()
			if err == nil {
				_, err = releases.Client("flux-system").Get(t.Context(), "flux")
			}

			return err
		},
	} {
		if err := ask(); !errors.Is(err, answers.ErrTooLong) || !strings.Contains(err.Error(), s.URL) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
