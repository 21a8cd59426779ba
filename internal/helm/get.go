// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (c *client) Get(ctx context.Context, name string) (*Release, error) {
	m, err := c.newest(ctx, name)
	if err != nil {
		return nil, err
	}
	r, err := c.read(ctx, name, m)
	if err != nil {
		return nil, err
	}
	return toRelease(r, m), nil
}

func (c *client) ResourceVersion(ctx context.Context, name string) (string, error) {
	m, err := c.newest(ctx, name)
	if err != nil {
		return "", err
	}
	return m.GetResourceVersion(), nil
}

// recordsOf lists the metadata of the records of a release.
func (c *client) recordsOf(ctx context.Context, name string) ([]metav1.ObjectMeta, error) {
	records, err := c.records(ctx, name)
	return slices.DeleteFunc(records, func(m metav1.ObjectMeta) bool { return !isRecord(&m) }), err
}

// newest returns the metadata of the record of the newest revision.
func (c *client) newest(ctx context.Context, name string) (*metav1.ObjectMeta, error) {
	records, err := c.recordsOf(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("cannot list the records of release %q in namespace %q: %w", name, c.namespace, err)
	}

	var out *metav1.ObjectMeta
	last := 0
	for i := range records {
		rev, err := revision(&records[i])
		if err != nil {
			return nil, err
		}
		if rev > last {
			out, last = &records[i], rev
		}
	}
	if out == nil {
		return nil, fmt.Errorf("%w: %q in namespace %q", ErrReleaseNotFound, name, c.namespace)
	}
	return out, nil
}

func revision(m *metav1.ObjectMeta) (int, error) {
	rev, err := strconv.Atoi(m.Labels["version"])
	if err != nil || rev < 1 {
		return 0, fmt.Errorf("release record %q in namespace %q has no revision in its label %q: restore the label or delete the Secret",
			m.Name, m.Namespace, "version")
	}
	return rev, nil
}

// read decodes one record. It queries rather than gets: Helm's driver panics
// when it gets a damaged one.
func (c *client) read(ctx context.Context, name string, m *metav1.ObjectMeta) (*release.Release, error) {
	found, err := c.store(ctx).Query(map[string]string{
		"owner": "helm", "name": name, "version": m.Labels["version"],
	})
	if errors.Is(err, driver.ErrReleaseNotFound) {
		return nil, fmt.Errorf("%w: %q in namespace %q", ErrReleaseNotFound, name, c.namespace)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read release record %q in namespace %q: %w", m.Name, c.namespace, err)
	}
	for _, r := range found {
		if r.Info != nil {
			return r, nil
		}
	}
	return nil, fmt.Errorf("release record %q in namespace %q is damaged: restore the Secret or delete it", m.Name, c.namespace)
}
