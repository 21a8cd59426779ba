// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// headerTimeout bounds how long a prober may take to ask.
const headerTimeout = 10 * time.Second

// readiness says whether the provider is ready, and what it waits for. It is safe
// for concurrent use.
type readiness struct {
	log logr.Logger

	mu    sync.Mutex
	ready bool
	waits []string
}

func newReadiness(log logr.Logger) *readiness {
	r := &readiness{log: log}
	r.doing("the provider's rights are being reviewed")
	return r
}

// doing says what takes a moment only, and is not for the log.
func (r *readiness) doing(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready, r.waits = false, []string{what}
}

// waitFor says what the provider waits for. The log says so when that changes,
// with the remedy.
func (r *readiness) waitFor(remedy string, things ...string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ready && slices.Equal(r.waits, things) {
		return
	}
	r.ready, r.waits = false, things
	r.log.Info("Not ready; "+remedy, "waitsFor", things)
}

// done says that the provider is ready.
func (r *readiness) done() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ready, r.waits = true, nil
	r.log.Info("Ready")
}

// ServeHTTP is the readiness probe. Unlike that of controller-runtime it says why,
// one reason a line.
func (r *readiness) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	r.mu.Lock()
	ready, waits := r.ready, r.waits
	r.mu.Unlock()
	if ready {
		_, _ = fmt.Fprint(w, "ok")
		return
	}
	http.Error(w, strings.Join(append([]string{"not ready"}, waits...), "\n"), http.StatusServiceUnavailable)
}

// addProbes serves both probes at the address; 0 serves none.
func addProbes(mgr ctrl.Manager, address string, ready http.Handler) error {
	if address == "0" {
		return nil
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen for probes on %q: %w", address, err)
	}
	mux := http.NewServeMux()
	mux.Handle("/healthz", healthz.CheckHandler{Checker: healthz.Ping})
	mux.Handle("/readyz", ready)
	err = mgr.Add(&manager.Server{
		Name:     "probes",
		Server:   &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout},
		Listener: l,
	})
	if err != nil {
		return fmt.Errorf("cannot add the probes: %w", err)
	}
	return nil
}
