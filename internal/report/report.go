// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package report tells kubeopera-api the state of CloudSpaces: what a report is,
// how it is put there, and where one waits that outlives its Tenant.
package report

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

// Report is the state of one CloudSpace at one time.
type Report struct {
	// TenantUID is the UID of the Tenant that was observed.
	TenantUID types.UID `json:"tenantUID"`
	// CloudSpaceID is the id under which kubeopera-api knows the CloudSpace.
	CloudSpaceID string `json:"cloudSpaceID"`
	// Status that is reported.
	Status v1alpha1.ReportState `json:"status"`
	// Message in words. It may be empty.
	Message string `json:"message,omitempty"`
	// VClusterName is the name of the vCluster.
	VClusterName string `json:"vclusterName"`
	// Generation of the Tenant that was observed.
	Generation int64 `json:"generation"`
	// ObservedAt is when the Tenant came into this state. It counts in
	// microseconds, as the API server stores it.
	ObservedAt time.Time `json:"observedAt"`
}

// Of is the report of the Tenant that s describes, whether or not the Tenant
// carries it.
func Of(t *v1alpha1.Tenant, s v1alpha1.ReportStatus) Report {
	return Report{
		TenantUID:    t.GetUID(),
		CloudSpaceID: t.Spec.CloudSpaceID,
		Status:       s.Status,
		Message:      s.Message,
		VClusterName: vcluster.ReleaseName(t.Spec.TenantName),
		Generation:   s.Generation,
		ObservedAt:   s.ObservedAt.Time,
	}
}

// Pending is the report that the Tenant carries and that was not accepted yet.
// It is false when there is none.
func Pending(t *v1alpha1.Tenant) (Report, bool) {
	s := t.Status.Report
	if s == nil || s.AcceptedAt != nil {
		return Report{}, false
	}

	return Of(t, *s), true
}

// Key tells reports apart: it is the same for the same report, also after a
// restart, and another each time that a Tenant comes into a state.
func (r Report) Key() string {
	sum := sha256.New()

	for _, part := range []string{
		string(r.TenantUID), string(r.Status), strconv.FormatInt(r.Generation, 10), r.observedAt(), r.Message,
	} {
		// No part can pass for the end of one and the beginning of the next.
		sum.Write([]byte(strconv.Quote(part)))
	}

	return hex.EncodeToString(sum.Sum(nil))
}

func (r Report) observedAt() string {
	return r.ObservedAt.UTC().Format(metav1.RFC3339Micro)
}

// Older orders reports by when they were observed, and those of the same time by
// their Tenant.
func Older(a, b Report) int {
	if c := a.ObservedAt.Compare(b.ObservedAt); c != 0 {
		return c
	}

	return strings.Compare(string(a.TenantUID), string(b.TenantUID))
}
