// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconcilertest

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource/fake"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Manager is a fake one without a cache: it reads all from its client.
type Manager struct{ fake.Manager }

// NewManager makes one that has that client.
func NewManager(c client.Client, s *runtime.Scheme) *Manager {
	return &Manager{fake.Manager{Client: c, Scheme: s}}
}

// GetAPIReader is its client.
func (m *Manager) GetAPIReader() client.Reader { return m.Client }
