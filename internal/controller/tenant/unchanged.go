// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"errors"
	"time"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/glance"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
)

// staysSo says that the look came to what it has to come to until something changes:
// the Tenant is Ready, and nothing is to be done, waited for or warned of.
func (e *external) staysSo(t *v1alpha1.Tenant, f *facts) bool {
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

// lookingHelm is a client whose reads a look remembers.
type lookingHelm struct {
	helm.Client

	look *glance.Look
}

// Get reads the newest revision.
func (h lookingHelm) Get(ctx context.Context, name string) (*helm.Release, error) {
	r, err := h.Client.Get(ctx, name)

	version := ""
	if err == nil {
		version = r.ResourceVersion
	}

	h.look.Asked(version, ignoreNotFound(err), func(ctx context.Context) (string, error) {
		version, err := h.ResourceVersion(ctx, name)
		return version, ignoreNotFound(err)
	})

	return r, err
}

// ignoreNotFound takes a release that is not there for one without a version.
func ignoreNotFound(err error) error {
	if errors.Is(err, helm.ErrReleaseNotFound) {
		return nil
	}

	return err
}
