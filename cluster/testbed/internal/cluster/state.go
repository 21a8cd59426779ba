// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package cluster brings the one-node cluster up and takes it down.
package cluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// state is the folder of one cluster. Its name and place come from the user.
type state string

func (s state) path(elem ...string) string {
	return filepath.Join(append([]string{string(s)}, elem...)...)
}

func (s state) logs() string       { return s.path("logs") }
func (s state) pids() string       { return s.path("pids") }
func (s state) pki() string        { return s.path("pki") }
func (s state) volumes() string    { return s.path("volumes") }
func (s state) bin() string        { return s.path("bin") }
func (s state) kubectl() string    { return s.path("bin", "kubectl") }
func (s state) kubeconfig() string { return s.path("kubeconfig") }
func (s state) auditLog() string   { return s.path("audit.log") }
func (s state) lock() string       { return s.path("lock") }
func (s state) marker() string     { return s.path("cluster.json") }

// private is the folder that lies over the place in the node's mount namespace.
func (s state) private(place string) string {
	return s.path("private", strings.ReplaceAll(strings.Trim(place, "/"), "/", "-"))
}

// kept are what outlives the cluster: the logs, for a look at what went wrong,
// and the lock, because its file must not change while someone waits for it.
var kept = map[string]bool{"logs": true, "logs.previous": true, "lock": true}

// turnLogs makes room for the logs of a new start and keeps those of the last.
func (s state) turnLogs() error {
	previous := s.path("logs.previous")
	if err := os.RemoveAll(previous); err != nil {
		return fmt.Errorf("cannot remove old logs: %w", err)
	}
	if err := os.Rename(s.logs(), previous); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot keep last logs: %w", err)
	}
	return nil
}

// clear removes all but what is kept.
func (s state) clear() error {
	entries, err := os.ReadDir(string(s))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("cannot list %q: %w", string(s), err)
	}
	marker := filepath.Base(s.marker())
	for _, e := range entries {
		if kept[e.Name()] || e.Name() == marker {
			continue
		}
		if err := os.RemoveAll(s.path(e.Name())); err != nil {
			return fmt.Errorf("cannot remove state: %w", err)
		}
	}
	// The marker goes last: as long as it is there, the rest is known to be ours.
	if err := os.RemoveAll(s.marker()); err != nil {
		return fmt.Errorf("cannot remove state: %w", err)
	}
	return nil
}

// A marker says that a cluster is ours, and how far it got.
type marker struct {
	Name string `json:"name"`
	// Boot tells this run of the machine from others: process ids and inodes
	// mean nothing beyond it.
	Boot string `json:"boot"`
	// Network is the inode of the network namespace, 0 until it is made.
	Network uint64 `json:"network,omitempty"`
	// Complete says that the cluster came up whole.
	Complete bool `json:"complete"`
	// Made is when it came up.
	Made time.Time `json:"made,omitzero"`
	// Programs identifies what the cluster runs.
	Programs string `json:"programs"`
}

// readMarker returns nil when there is none. A marker that was cut off by a
// crash still says that what is there is ours.
func (s state) readMarker() (*marker, error) {
	b, err := os.ReadFile(s.marker())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read marker: %w", err)
	}
	m := &marker{}
	if err := json.Unmarshal(b, m); err != nil {
		return &marker{}, nil
	}
	return m, nil
}

func (s state) writeMarker(m marker) error {
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot write marker: %w", err)
	}
	temp := s.marker() + ".part"
	if err := os.WriteFile(temp, b, 0o600); err != nil {
		return fmt.Errorf("cannot write marker: %w", err)
	}
	if err := os.Rename(temp, s.marker()); err != nil {
		return fmt.Errorf("cannot write marker: %w", err)
	}
	return nil
}

// bootID identifies this run of the machine.
func bootID() (string, error) {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return "", fmt.Errorf("cannot tell this boot from others: %w", err)
	}
	return strings.TrimSpace(string(b)), nil
}

var nameRule = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?$`)

// checkName refuses a name that could not name a node, a folder and a control
// group alike.
func checkName(name string) error {
	if !nameRule.MatchString(name) {
		return fmt.Errorf("cannot use --name %q: use up to 32 lower-case letters, digits and dashes, with no dash at either end", name)
	}
	return nil
}
