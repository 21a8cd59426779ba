// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// LabelReport marks the ConfigMaps of the outbox. Its value is what they report.
const LabelReport = "kubeopera.io/report"

// keyReport is the key of an entry's ConfigMap that holds the report as JSON.
const keyReport = "report.json"

// ErrNoOutbox says that the namespace of the outbox does not exist or is being
// deleted: there is no place in which a report could wait.
var ErrNoOutbox = errors.New("there is no outbox")

// outboxLabels are on each entry, besides its cloudSpaceID.
func outboxLabels() labels.Set {
	return labels.Set{LabelReport: string(v1alpha1.ReportDeleted)}
}

// OutboxCache keeps all ConfigMaps but those of the outbox out of a cache.
func OutboxCache(namespace string) cache.ByObject {
	return cache.ByObject{Namespaces: map[string]cache.Config{
		namespace: {LabelSelector: labels.SelectorFromSet(outboxLabels())},
	}}
}

// Outbox holds the reports that a CloudSpace is deleted until they are accepted.
// They outlive their Tenants as ConfigMaps, so that no deletion waits for
// kubeopera-api.
type Outbox struct {
	kube      client.Writer
	live      client.Reader
	namespace string
}

// NewOutbox keeps its ConfigMaps in the namespace. It must read them live: a
// cache may not have that of a Tenant yet whose successor it has.
func NewOutbox(kube client.Writer, live client.Reader, namespace string) *Outbox {
	return &Outbox{kube: kube, live: live, namespace: namespace}
}

// Holds is true for a ConfigMap of the outbox.
func (o *Outbox) Holds(c client.Object) bool {
	return c.GetNamespace() == o.namespace && c.GetLabels()[LabelReport] == string(v1alpha1.ReportDeleted)
}

// Add a report that the CloudSpace is deleted. It is there when nil is returned.
// A Tenant has one: a second is dropped. It errs with ErrNoOutbox when none can
// ever be added.
func (o *Outbox) Add(ctx context.Context, r Report) error {
	if r.Status != v1alpha1.ReportDeleted {
		return fmt.Errorf("cannot put a report of status %q into the outbox, only %q", r.Status, v1alpha1.ReportDeleted)
	}

	raw, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("cannot encode a report: %w", err)
	}

	err = o.kube.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: o.namespace,
			Name:      nameOf(r),
			Labels: map[string]string{
				LabelReport:             string(v1alpha1.ReportDeleted),
				v1alpha1.LabelTenantID:  r.CloudSpaceID,
				v1alpha1.LabelManagedBy: v1alpha1.ManagedBy,
			},
		},
		Immutable: ptr.To(true),
		Data:      map[string]string{keyReport: string(raw)},
	})

	switch {
	case err == nil, kerrors.IsAlreadyExists(err):
		return nil
	case kerrors.IsNotFound(err), kerrors.HasStatusCause(err, corev1.NamespaceTerminatingCause):
		return fmt.Errorf("%w in namespace %q: %w", ErrNoOutbox, o.namespace, err)
	default:
		return fmt.Errorf("cannot put the report of CloudSpace %q into the outbox: %w", r.CloudSpaceID, err)
	}
}

// Entry is a report in the outbox.
type Entry struct {
	Report

	configMap *corev1.ConfigMap
}

// Damaged is a ConfigMap of the outbox that holds no report.
type Damaged struct {
	ConfigMap *corev1.ConfigMap
	// Err says what is wrong, names the ConfigMap, and says what to do.
	Err error
}

// Entries are the reports of one CloudSpace, the oldest first, and the ConfigMaps
// that should be one and are not. The empty id finds those that name no CloudSpace.
func (o *Outbox) Entries(ctx context.Context, cloudSpaceID string) ([]Entry, []Damaged, error) {
	l := &corev1.ConfigMapList{}
	if err := o.live.List(ctx, l, client.InNamespace(o.namespace), client.MatchingLabelsSelector{Selector: selectorOf(cloudSpaceID)}); err != nil {
		return nil, nil, fmt.Errorf("cannot list the outbox in namespace %q: %w", o.namespace, err)
	}

	var (
		entries []Entry
		damaged []Damaged
	)

	for i := range l.Items {
		c := &l.Items[i]

		r, err := reportIn(c)
		if err != nil {
			damaged = append(damaged, Damaged{ConfigMap: c, Err: fmt.Errorf(
				"cannot report what ConfigMap %q holds: %w; mend it by a new one, or delete it to give the report up", client.ObjectKeyFromObject(c), err)})

			continue
		}

		entries = append(entries, Entry{Report: r, configMap: c})
	}

	slices.SortFunc(entries, func(a, b Entry) int { return Older(a.Report, b.Report) })

	return entries, damaged, nil
}

func selectorOf(cloudSpaceID string) labels.Selector {
	s := labels.SelectorFromSet(outboxLabels())

	op, values := selection.Equals, []string{cloudSpaceID}
	if cloudSpaceID == "" {
		op, values = selection.DoesNotExist, nil
	}

	r, err := labels.NewRequirement(v1alpha1.LabelTenantID, op, values)
	if err != nil {
		return labels.Nothing() // No label can have this value.
	}

	return s.Add(*r)
}

// reportIn reads a report. Only one that the provider itself could have written
// counts.
func reportIn(c *corev1.ConfigMap) (Report, error) {
	var r Report
	if err := json.Unmarshal([]byte(c.Data[keyReport]), &r); err != nil {
		return r, fmt.Errorf("%s is not JSON of a report: %w", keyReport, err)
	}

	id := c.GetLabels()[v1alpha1.LabelTenantID]

	switch {
	case r.Status != v1alpha1.ReportDeleted:
		return r, fmt.Errorf("its status is %q and not %q", r.Status, v1alpha1.ReportDeleted)
	case c.GetName() != nameOf(r):
		return r, fmt.Errorf("its name does not belong to the tenantUID %q", r.TenantUID)
	case id == "" || id != r.CloudSpaceID:
		return r, fmt.Errorf("its label %s is %q and its cloudSpaceID is %q", v1alpha1.LabelTenantID, id, r.CloudSpaceID)
	case r.ObservedAt.IsZero():
		return r, errors.New("it has no observedAt")
	default:
		return r, nil
	}
}

func nameOf(r Report) string { return "report-" + string(r.TenantUID) }

// Remove an entry that was accepted. It is no error that it is gone already.
func (o *Outbox) Remove(ctx context.Context, e Entry) error {
	err := o.kube.Delete(ctx, e.configMap, client.Preconditions{UID: ptr.To(e.configMap.GetUID())})
	if err != nil && !kerrors.IsNotFound(err) && !kerrors.IsConflict(err) {
		return fmt.Errorf("cannot remove ConfigMap %q from the outbox: %w", client.ObjectKeyFromObject(e.configMap), err)
	}

	return nil
}
