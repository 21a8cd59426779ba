// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package registry

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A manifest is one manifest upload as it was made.
type manifest struct {
	// Path is the path of the request, /v2/REPOSITORY/manifests/REFERENCE.
	Path        string `json:"path"`
	ContentType string `json:"contentType"`
	Body        []byte `json:"body"`
}

// recorder stores each manifest that is put through it in a folder, because the
// registry behind it keeps manifests in memory only.
type recorder struct {
	next   http.Handler
	folder string
}

func (r recorder) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if req.Method != http.MethodPut || !strings.Contains(req.URL.Path, "/manifests/") {
		r.next.ServeHTTP(w, req)
		return
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	m := manifest{Path: req.URL.Path, ContentType: req.Header.Get("Content-Type"), Body: body}
	if err := store(r.folder, m); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	req.Body = io.NopCloser(bytes.NewReader(body))
	r.next.ServeHTTP(w, req)
}

func store(folder string, m manifest) error {
	b, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("cannot store manifest: %w", err)
	}
	if err := os.MkdirAll(folder, 0o750); err != nil {
		return fmt.Errorf("cannot store manifest: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, url.PathEscape(m.Path)), b, 0o600); err != nil {
		return fmt.Errorf("cannot store manifest: %w", err)
	}
	return nil
}

// replay puts every manifest of the folder into the registry. A folder that
// does not exist holds none.
func replay(folder string, h http.Handler) error {
	manifests, err := load(folder)
	if err != nil {
		return err
	}
	for _, m := range manifests {
		req := httptest.NewRequest(http.MethodPut, m.Path, bytes.NewReader(m.Body))
		req.Header.Set("Content-Type", m.ContentType)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, req)
		if rec.Code != http.StatusCreated {
			return fmt.Errorf("cannot load manifest %q: %s", m.Path, rec.Body)
		}
	}
	return nil
}

// load returns the manifests of the folder, indexes last: the registry takes an
// index only when it has what the index lists.
func load(folder string) ([]manifest, error) {
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read manifests: %w", err)
	}
	var images, indexes []manifest
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("cannot read manifest: %w", err)
		}
		var m manifest
		if err := json.Unmarshal(b, &m); err != nil {
			return nil, fmt.Errorf("cannot read manifest %q: %w", e.Name(), err)
		}
		if types.MediaType(m.ContentType).IsIndex() {
			indexes = append(indexes, m)
		} else {
			images = append(images, m)
		}
	}
	return append(images, indexes...), nil
}
