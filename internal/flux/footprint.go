// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package flux

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/quota"
)

// installed holds what the pods of releases need, by manifest.
var installed = newMemo[quota.Allowance]()

// Installed is what the pods of a release need as it is. It reads equal manifests
// once.
func Installed(r *helm.Release) (quota.Allowance, error) {
	key := fmt.Sprintf("%x", sha256.Sum256([]byte(r.Manifest)))

	out, err := installed.get(key, func() (quota.Allowance, error) {
		objs, err := helm.ManifestObjects(r)
		if err != nil {
			return quota.Allowance{}, err
		}

		return quota.AllowanceOf(objs)
	})
	if err != nil {
		return quota.Allowance{}, fmt.Errorf("cannot tell what the installed Flux needs: %w", err)
	}

	// What is kept must not be shared.
	return out.Plus(quota.Allowance{}), nil
}

// footprints holds what was rendered, since that takes long and every pass asks.
var footprints = newMemo[quota.Allowance]()

// Footprint is what the pods of the chart need with these values, when it is
// installed by a client with helm.WithoutSurge. It renders the chart once for
// equal contents and values. The error wraps helm.ErrValuesRefused if the chart
// does not take them, or names the object that cannot be counted.
func Footprint(c *helm.Chart, values map[string]any) (quota.Allowance, error) {
	raw, err := json.Marshal(values)
	if err != nil {
		return quota.Allowance{}, fmt.Errorf("cannot read the values of Flux: %w", err)
	}

	key := fmt.Sprintf("%s %x", c.Digest(), sha256.Sum256(raw))

	out, err := footprints.get(key, func() (quota.Allowance, error) {
		objs, err := c.Render(ReleaseName, Namespace, values, helm.WithoutSurge())
		if err != nil {
			return quota.Allowance{}, err
		}

		return quota.AllowanceOf(objs)
	})
	if err != nil {
		return quota.Allowance{}, fmt.Errorf("cannot tell what Flux needs: %w", err)
	}

	// What is kept must not be shared.
	return out.Plus(quota.Allowance{}), nil
}
