// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/report"
)

// memory is what this process knows of CloudSpaces, by their id, and no read
// tells it yet. Without it a report could be put twice, and would then be told
// apart by its key only.
type memory struct {
	mu sync.Mutex
	by map[string]*cloudSpace
}

func newMemory() *memory { return &memory{by: map[string]*cloudSpace{}} }

// cloudSpace is the memory of one. Only the worker that has it may use it.
type cloudSpace struct {
	// accepted is the last report of each Tenant that was accepted.
	accepted map[types.UID]acceptance
	// warned are the damaged ConfigMaps of which an event was made, with their
	// resource version.
	warned map[types.UID]string
	// quietUntil is until when kubeopera-api wants to be left alone.
	quietUntil time.Time
}

type acceptance struct {
	key    string
	closed bool // it was the Tenant's last
}

func (m *memory) of(cloudSpaceID string) *cloudSpace {
	m.mu.Lock()
	defer m.mu.Unlock()

	s, ok := m.by[cloudSpaceID]
	if !ok {
		s = &cloudSpace{accepted: map[types.UID]acceptance{}, warned: map[types.UID]string{}}
		m.by[cloudSpaceID] = s
	}

	return s
}

// forget all but the Tenants and the damaged ConfigMaps that still exist.
func (m *memory) forget(cloudSpaceID string, tenants []v1alpha1.Tenant, damaged []report.Damaged) {
	m.mu.Lock()
	defer m.mu.Unlock()

	s, ok := m.by[cloudSpaceID]
	if !ok {
		return
	}

	left := &cloudSpace{accepted: map[types.UID]acceptance{}, warned: map[types.UID]string{}}

	for i := range tenants {
		uid := tenants[i].GetUID()
		if a, ok := s.accepted[uid]; ok {
			left.accepted[uid] = a
		}
	}

	for _, d := range damaged {
		uid := d.ConfigMap.GetUID()
		if v, ok := s.warned[uid]; ok {
			left.warned[uid] = v
		}
	}

	m.by[cloudSpaceID] = left

	if len(left.accepted) == 0 && len(left.warned) == 0 {
		delete(m.by, cloudSpaceID)
	}
}

// accept remembers that the report was accepted.
func (s *cloudSpace) accept(r report.Report) {
	s.accepted[r.TenantUID] = acceptance{key: r.Key(), closed: r.Status == v1alpha1.ReportDeleted}
}

// knows is true for a report that was accepted.
func (s *cloudSpace) knows(r report.Report) bool {
	return s.accepted[r.TenantUID].key == r.Key()
}

// superseded is true for a report whose Tenant has reported since that it is
// deleted.
func (s *cloudSpace) superseded(r report.Report) bool {
	return s.accepted[r.TenantUID].closed && !s.knows(r)
}

// isNews is true once for each version of a damaged ConfigMap.
func (s *cloudSpace) isNews(d report.Damaged) bool {
	uid, version := d.ConfigMap.GetUID(), d.ConfigMap.GetResourceVersion()
	if s.warned[uid] == version {
		return false
	}

	s.warned[uid] = version

	return true
}
