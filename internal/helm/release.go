// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"helm.sh/helm/v3/pkg/release"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// Status is the state of one revision of a release.
type Status string

// The states that a revision can be in.
const (
	StatusUnknown         Status = "unknown"
	StatusDeployed        Status = "deployed"
	StatusUninstalled     Status = "uninstalled"
	StatusSuperseded      Status = "superseded"
	StatusFailed          Status = "failed"
	StatusUninstalling    Status = "uninstalling"
	StatusPendingInstall  Status = "pending-install"
	StatusPendingUpgrade  Status = "pending-upgrade"
	StatusPendingRollback Status = "pending-rollback"
)

// Pending says whether a writer is at work on the revision, or died over it.
func (s Status) Pending() bool {
	switch s {
	case StatusPendingInstall, StatusPendingUpgrade, StatusPendingRollback, StatusUninstalling:
		return true
	default:
		return false
	}
}

// Release is one revision of a release as it is stored. It is a copy: changing
// it changes nothing in the cluster.
type Release struct {
	// Name and Namespace of the release.
	Name, Namespace string
	// Revision counts from 1.
	Revision int
	Status   Status
	// Description is what was said of the revision last, such as why it failed,
	// on one line.
	Description string
	// Updated is the last write of this revision.
	Updated time.Time
	// ChartName and ChartVersion of the chart that was installed.
	ChartName, ChartVersion string
	// Values are those that were supplied, without the chart's defaults.
	Values map[string]any
	// Manifest is the rendered YAML, without hooks.
	Manifest string
	// Labels of the stored record other than those of its bookkeeping.
	Labels map[string]string
	// ResourceVersion of the stored record.
	ResourceVersion string
	// Ours says that the chart and the values are those that this provider wrote
	// last, or that someone has rolled back to. It is false for what was written
	// before the provider marked its revisions.
	Ours bool
}

// ManifestObjects returns the objects in the manifest of r that are of one of these kinds,
// or all if none is named, in its order, with lists taken apart. Objects carry the
// namespace that the manifest gives; where it gives none a namespaced object is in
// r.Namespace.
func ManifestObjects(r *Release, kinds ...string) ([]*unstructured.Unstructured, error) {
	out, err := parseManifest([]byte(r.Manifest), kinds...)
	if err != nil {
		return nil, fmt.Errorf("cannot read the manifest of release %q revision %d: %w", r.Name, r.Revision, err)
	}
	return out, nil
}

func parseManifest(raw []byte, kinds ...string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	add := func(u *unstructured.Unstructured) {
		if len(kinds) == 0 || slices.Contains(kinds, u.GetKind()) {
			out = append(out, u)
		}
	}
	docs := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(raw)))
	for {
		doc, err := docs.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
		if len(kinds) > 0 && !mentions(doc, kinds) {
			continue
		}
		u := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(doc, &u.Object); err != nil {
			return nil, err
		}
		if len(u.Object) == 0 {
			continue
		}
		if !u.IsList() {
			add(u)
			continue
		}
		err = u.EachListItem(func(o runtime.Object) error {
			if item, ok := o.(*unstructured.Unstructured); ok {
				add(item)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
}

// mentions says whether the text has one of the kinds anywhere. Parsing it costs more.
func mentions(text []byte, kinds []string) bool {
	return slices.ContainsFunc(kinds, func(k string) bool { return bytes.Contains(text, []byte(k)) })
}

// bookkeeping are the labels by which Helm finds its records.
var bookkeeping = map[string]bool{
	"name": true, "owner": true, "status": true, "version": true, "createdAt": true, "modifiedAt": true,
}

func toRelease(r *release.Release, m *metav1.ObjectMeta) *Release {
	out := &Release{
		Name:      r.Name,
		Namespace: r.Namespace,
		Revision:  r.Version,
		Values:    r.Config,
		Manifest:  r.Manifest,
		Labels:    map[string]string{},
	}
	if out.Values == nil {
		out.Values = map[string]any{}
	}
	if r.Info != nil {
		out.Status = Status(r.Info.Status)
		out.Description = strings.Join(strings.Fields(r.Info.Description), " ")
		out.Updated = r.Info.LastDeployed.Time
		if r.Info.Deleted.After(r.Info.LastDeployed) {
			out.Updated = r.Info.Deleted.Time
		}
	}
	if r.Chart != nil && r.Chart.Metadata != nil {
		out.ChartName = r.Chart.Metadata.Name
		out.ChartVersion = r.Chart.Metadata.Version
	}
	for k, v := range r.Labels {
		if !bookkeeping[k] {
			out.Labels[k] = v
		}
	}
	out.Ours = isOurs(out)
	if m != nil {
		out.Updated = lastWrite(m, out.Updated)
		out.ResourceVersion = m.GetResourceVersion()
	}
	return out
}

// lastWrite is the newest time that the record or the release itself tells.
// Neither is enough: Helm stamps a release only when a revision begins or is
// deleted, and carries old labels over when it records an uninstall.
func lastWrite(m *metav1.ObjectMeta, t time.Time) time.Time {
	later := func(o time.Time) {
		if o.After(t) {
			t = o
		}
	}
	for _, l := range []string{"createdAt", "modifiedAt"} {
		if s, err := strconv.ParseInt(m.Labels[l], 10, 64); err == nil {
			later(time.Unix(s, 0))
		}
	}
	for _, f := range m.ManagedFields {
		if f.Time != nil {
			later(f.Time.Time)
		}
	}
	return t
}
