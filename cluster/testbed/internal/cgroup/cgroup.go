// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package cgroup makes the control group below which the kubelet puts the pods
// of one cluster, so that they can be told from all other processes.
package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Root is where the kernel shows control groups.
const Root = "/sys/fs/cgroup"

// A Tree is one control group in each hierarchy of the machine. With cgroup v2
// there is one hierarchy, with v1 one a controller.
type Tree struct {
	root string
	path string
}

// New returns the Tree of the control group with this path, such as /a/b, below
// root.
func New(root, path string) Tree { return Tree{root: root, path: path} }

// Path is the control group's path, as the kubelet wants it.
func (t Tree) Path() string { return t.path }

func (t Tree) unified() bool {
	_, err := os.Stat(filepath.Join(t.root, "cgroup.controllers"))
	return err == nil
}

// hierarchies are the roots of the hierarchies. A link such as cpu -> cpu,cpuacct
// leads to one that is listed as well.
func (t Tree) hierarchies() ([]string, error) {
	if t.unified() {
		return []string{t.root}, nil
	}
	entries, err := os.ReadDir(t.root)
	if err != nil {
		return nil, fmt.Errorf("cannot list control groups: %w", err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, filepath.Join(t.root, e.Name()))
		}
	}
	return out, nil
}

// Create makes the control group in each hierarchy.
func (t Tree) Create() error {
	hs, err := t.hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		if err := t.create(h); err != nil {
			return err
		}
	}
	return nil
}

func (t Tree) create(hierarchy string) error {
	dir := hierarchy
	for part := range strings.SplitSeq(strings.Trim(t.path, "/"), "/") {
		if t.unified() {
			if err := delegate(dir); err != nil {
				return err
			}
		}
		parent := dir
		dir = filepath.Join(dir, part)
		if err := os.Mkdir(dir, 0o750); err != nil && !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("cannot make control group: %w", err)
		}
		if err := inheritCPUs(parent, dir); err != nil {
			return err
		}
	}
	return nil
}

// needed are the controllers without which the kubelet does not start.
var needed = []string{"cpu", "cpuset", "memory", "pids"}

// delegate lets the children of a v2 control group use its controllers.
func delegate(dir string) error {
	file := filepath.Join(dir, "cgroup.subtree_control")
	for _, c := range needed {
		if err := os.WriteFile(file, []byte("+"+c), 0o600); err != nil {
			return fmt.Errorf("cannot delegate controller %q: %w", c, err)
		}
	}
	return nil
}

// inheritCPUs fills a new v1 cpuset, which can hold no process while it is empty.
func inheritCPUs(parent, dir string) error {
	for _, name := range []string{"cpuset.cpus", "cpuset.mems"} {
		own, err := os.ReadFile(filepath.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) || len(strings.TrimSpace(string(own))) > 0 {
			continue
		}
		b, err := os.ReadFile(filepath.Join(parent, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return fmt.Errorf("cannot read cpuset: %w", err)
		}
		if strings.TrimSpace(string(b)) == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
			return fmt.Errorf("cannot fill cpuset: %w", err)
		}
	}
	return nil
}

// Processes lists the ids of the processes in the control group and below.
func (t Tree) Processes() ([]int, error) {
	var out []int
	err := t.walk(func(dir string) error {
		b, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("cannot list processes of control group: %w", err)
		}
		for s := range strings.FieldsSeq(string(b)) {
			pid, err := strconv.Atoi(s)
			if err != nil {
				return fmt.Errorf("cannot read process id %q: %w", s, err)
			}
			out = append(out, pid)
		}
		return nil
	})
	slices.Sort(out)
	return slices.Compact(out), err
}

// Remove removes the control group, those below it, and its parents as long as
// nothing else is in them. No process may be left in it.
func (t Tree) Remove() error {
	var dirs []string
	if err := t.walk(func(dir string) error { dirs = append(dirs, dir); return nil }); err != nil {
		return err
	}
	for _, dir := range slices.Backward(dirs) {
		if err := os.Remove(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove control group: %w", err)
		}
	}
	hs, err := t.hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		for p := filepath.Dir(t.path); p != "/"; p = filepath.Dir(p) {
			if os.Remove(filepath.Join(h, p)) != nil {
				break
			}
		}
	}
	return nil
}

// walk calls f for the control group and all below it, parents first.
func (t Tree) walk(f func(dir string) error) error {
	hs, err := t.hierarchies()
	if err != nil {
		return err
	}
	for _, h := range hs {
		err := filepath.WalkDir(filepath.Join(h, t.path), func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			if !d.IsDir() {
				return nil
			}
			return f(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
