// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// staysSo says that the look came to what it has to come to until something changes:
// the Tenant is Ready, and nothing is to be done, waited for or warned of. That has to be
// stored: a status that is written in this pass may still be refused.
func (e *external) staysSo(t *v1alpha1.Tenant, f *facts) bool {
	if !equality.Semantic.DeepEqual(e.before, t.Status) {
		return false
	}

	if !f.settled() || e.waking || t.GetCondition(xpv2.TypeReady).Status != corev1.ConditionTrue {
		return false
	}

	for _, c := range t.Status.Conditions {
		if c.Status != corev1.ConditionTrue || c.Reason == v1alpha1.ReasonPendingChange || c.Reason == v1alpha1.ReasonExpiring {
			return false
		}
	}

	return true
}

// lookAgain has the Tenant looked at after that time, whatever changes.
func (e *external) lookAgain(after time.Duration) {
	e.waking = true
	e.wakeAfter(after)
}

// lookingHelm is a client whose reads a look remembers. What a pass has read it does not
// read again before it writes.
type lookingHelm struct {
	helm.Client

	look *glance.Look
	// read is the release of that name, or why there is none.
	read map[string]releaseRead
}

// releaseRead is what Get returned.
type releaseRead struct {
	release *helm.Release
	err     error
}

func newLookingHelm(c helm.Client, l *glance.Look) lookingHelm {
	return lookingHelm{Client: c, look: l, read: map[string]releaseRead{}}
}

// Get reads the newest revision, unless this pass has done so.
func (h lookingHelm) Get(ctx context.Context, name string) (*helm.Release, error) {
	if r, ok := h.read[name]; ok {
		return r.release, r.err
	}

	r, err := h.Client.Get(ctx, name)

	version := ""
	if err == nil {
		version = r.ResourceVersion
	}

	failed := ignoreNotFound(err)
	if failed == nil {
		h.read[name] = releaseRead{r, err}
	}

	c := h.Client // The look outlives what was read.
	h.look.Asked(version, failed, func(ctx context.Context) (string, error) {
		version, err := c.ResourceVersion(ctx, name)
		return version, ignoreNotFound(err)
	})

	return r, err
}

func (h lookingHelm) Install(ctx context.Context, name string, c *helm.Chart, values map[string]any) (*helm.Release, error) {
	delete(h.read, name)
	return h.Client.Install(ctx, name, c, values)
}

func (h lookingHelm) Upgrade(ctx context.Context, name string, c *helm.Chart, values map[string]any) (*helm.Release, error) {
	delete(h.read, name)
	return h.Client.Upgrade(ctx, name, c, values)
}

func (h lookingHelm) Uninstall(ctx context.Context, name string) error {
	delete(h.read, name)
	return h.Client.Uninstall(ctx, name)
}

func (h lookingHelm) Unlock(ctx context.Context, r *helm.Release) error {
	delete(h.read, r.Name)
	return h.Client.Unlock(ctx, r)
}

// ignoreNotFound takes a release that is not there for one without a version.
func ignoreNotFound(err error) error {
	if errors.Is(err, helm.ErrReleaseNotFound) {
		return nil
	}

	return err
}
