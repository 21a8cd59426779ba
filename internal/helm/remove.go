// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"
)

func (c *client) Uninstall(ctx context.Context, name string) error {
	// Helm's own way of ignoring an absent release takes every error for
	// absence.
	records, err := c.recordsOf(ctx, name)
	if err != nil {
		return fmt.Errorf("cannot list the records of release %q in namespace %q: %w", name, c.namespace, err)
	}
	if len(records) == 0 {
		return nil
	}

	begun := false
	for i := range records {
		begun = begun || Status(records[i].Labels["status"]) == StatusUninstalling
	}

	log.FromContext(ctx).V(1).Info("Running Helm", "action", "uninstall", "release", name, "namespace", c.namespace)
	err = c.uninstall(ctx, name, begun)
	if err == nil {
		err = c.purge(ctx, name, records)
	}
	countAction(actionUninstall, err)
	if err != nil {
		return fmt.Errorf("cannot uninstall release %q in namespace %q: %w", name, c.namespace, oneLine(err))
	}
	return nil
}

func (c *client) uninstall(ctx context.Context, name string, begun bool) error {
	_, err := c.run(ctx, true, func(cfg *action.Configuration, k *cluster) (*release.Release, error) {
		history, err := cfg.Releases.History(name)
		if errors.Is(err, driver.ErrReleaseNotFound) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		if len(history) == 0 {
			return nil, fmt.Errorf("all its records are damaged, so its objects are not known: restore one of the Secrets labelled %q or delete them all",
				recordSelector(name))
		}

		a := action.NewUninstall(cfg)
		a.Timeout = c.hookTimeout
		a.DisableHooks = begun || c.options.skipHooks
		if _, err := a.Run(name); err != nil {
			return nil, k.deletionError(err)
		}
		return nil, nil
	})
	return err
}

// purge deletes those of the given records that are left: Helm overlooks the
// ones it cannot read. A record that came since is not touched.
func (c *client) purge(ctx context.Context, name string, known []metav1.ObjectMeta) error {
	left, err := c.recordsOf(ctx, name)
	if err != nil {
		return fmt.Errorf("cannot list what records are left: %w", err)
	}
	for i := range left {
		if !slices.ContainsFunc(known, func(m metav1.ObjectMeta) bool { return m.UID == left[i].UID }) {
			continue
		}
		err := c.secrets.Delete(ctx, left[i].Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &left[i].UID}})
		if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsConflict(err) {
			return fmt.Errorf("cannot delete release record %q: %w", left[i].Name, err)
		}
	}
	return nil
}

func (c *client) Unlock(ctx context.Context, r *Release) error {
	m, err := c.newest(ctx, r.Name)
	if err != nil {
		return err
	}
	stored, err := c.read(ctx, r.Name, m)
	if err != nil {
		return err
	}
	now := toRelease(stored, m)
	switch {
	case now.Revision != r.Revision:
		return fmt.Errorf("%w: cannot unlock revision %d of %q, the newest is %d", ErrReleaseChanged, r.Revision, r.Name, now.Revision)
	case !now.Status.Pending():
		return fmt.Errorf("%w: cannot unlock revision %d of %q, it is %s", ErrReleaseChanged, r.Revision, r.Name, now.Status)
	case !now.Updated.Equal(r.Updated):
		return fmt.Errorf("%w: cannot unlock revision %d of %q, it was written at %s", ErrReleaseChanged, r.Revision, r.Name, now.Updated.UTC().Format(time.RFC3339))
	}

	stored.Labels = now.Labels // bookkeeping among them would outlive the update
	stored.SetStatus(release.StatusFailed, fmt.Sprintf("Left %s since %s by a writer that stopped; marked failed so that it can be resumed",
		now.Status, now.Updated.UTC().Format(time.RFC3339)))
	err = c.store(ctx, ifUnchanged(m.ResourceVersion)).Update(stored)
	countAction(actionUnlock, err)
	if apierrors.IsConflict(err) {
		return fmt.Errorf("%w: cannot unlock revision %d of %q, it was just written", ErrReleaseChanged, r.Revision, r.Name)
	}
	if err != nil {
		return fmt.Errorf("cannot unlock revision %d of release %q in namespace %q: %w", r.Revision, r.Name, c.namespace, err)
	}
	return nil
}
