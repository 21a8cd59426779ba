// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package host

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/internal/answers"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// TestR4LoadBalancerWithoutAHost holds that who answers in the host's stead says of
// nothing that it is gone: neither of a namespace nor of a release.
func TestR4LoadBalancerWithoutAHost(t *testing.T) {
	t.Parallel()

	for name, say := range map[string]func(http.ResponseWriter){
		"R4: a page": func(w http.ResponseWriter) { http.Error(w, "<h1>404</h1>", http.StatusNotFound) },
		"R4: an empty object": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, "{}")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if body, ok := discovery[r.URL.Path]; ok {
					w.Header().Set("Content-Type", "application/json")
					_, _ = io.WriteString(w, body)

					return
				}

				say(w)
			}))
			t.Cleanup(s.Close)

			h, err := newHost(t.Context(), &rest.Config{Host: s.URL}, func(types.NamespacedName, bool) {})
			if err != nil {
				t.Fatal(err)
			}

			if err := h.Live.Get(t.Context(), client.ObjectKey{Name: "x"}, &corev1.Namespace{}); err == nil || kerrors.IsNotFound(err) {
				t.Errorf("a namespace: %v", err)
			}

			if _, err := h.Helm.Client("x").Get(t.Context(), "y"); err == nil || errors.Is(err, helm.ErrReleaseNotFound) {
				t.Errorf("a release: %v", err)
			}
		})
	}
}

// TestFlood holds that a host cannot fill the provider's memory by what it answers.
func TestFlood(t *testing.T) {
	t.Parallel()

	part := []byte(strings.Repeat(" ", 1<<20))

	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")

		if body, ok := discovery[r.URL.Path]; ok {
			_, _ = io.WriteString(w, body)
			return
		}

		if _, cached := watchPaths[r.URL.Path]; cached {
			w.WriteHeader(http.StatusForbidden)
			return
		}

		for range answers.OfHost.Bytes>>20 + 8 {
			if _, err := w.Write(part); err != nil {
				return
			}
		}
	}))
	t.Cleanup(s.Close)

	h, err := newHost(t.Context(), &rest.Config{Host: s.URL}, func(types.NamespacedName, bool) {})
	if err != nil {
		t.Fatal(err)
	}

	if err := h.Live.Get(t.Context(), client.ObjectKey{Name: "x"}, &corev1.Namespace{}); !errors.Is(err, answers.ErrTooLong) || !strings.Contains(err.Error(), s.URL) {
		t.Errorf("a namespace: %v", err)
	}

	if _, err := h.Helm.Client("x").Get(t.Context(), "y"); !errors.Is(err, answers.ErrTooLong) {
		t.Errorf("a release: %v", err)
	}
}
