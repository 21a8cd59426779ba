// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// New returns a registry that stores what is pushed in folder and serves, below
// that, the content of the shared folders, which it does not change.
func New(logger *log.Logger, folder string, shared ...string) (http.Handler, error) {
	all := append([]string{folder}, shared...)
	b := blobs{}
	for _, f := range all {
		b.folders = append(b.folders, filepath.Join(f, "blobs"))
	}
	h := registry.New(registry.WithBlobHandler(b), registry.Logger(logger), registry.WithReferrersSupport(true))
	for i := len(all) - 1; i >= 0; i-- {
		if err := replay(filepath.Join(all[i], "manifests"), h); err != nil {
			return nil, err
		}
	}
	return recorder{next: h, folder: filepath.Join(folder, "manifests")}, nil
}

// Serve serves the registry in plain HTTP on the listener until ctx ends.
func Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	stop := context.AfterFunc(ctx, func() { _ = s.Close() })
	defer stop()
	if err := s.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve registry: %w", err)
	}
	return nil
}

// Run is the registry's daemon: it serves on the address until ctx ends and
// logs each request to standard output.
func Run(ctx context.Context, address, folder string, shared ...string) error {
	h, err := New(log.New(os.Stdout, "", log.LstdFlags|log.Lmicroseconds), folder, shared...)
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	return Serve(ctx, l, h)
}
