// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"
	"io"
	"strings"

	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/storage/driver"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

const (
	// recordType is the type of the Secrets that Helm keeps releases in.
	recordType corev1.SecretType = "helm.sh/release.v1"
	// recordPrefix begins their names; the release and its revision follow.
	recordPrefix = "sh.helm.release.v1."
	// recordKey holds the release, compressed and in base64.
	recordKey = "release"
	// labelSynced is on what a virtual cluster has synced to its host. It is that of
	// package vcluster, whose tests need this one.
	labelSynced = "vcluster.loft.sh/managed-by"
	// maxRecord is how large a release may be once it is unpacked, in bytes. A Secret
	// holds 1 MiB, which can be made to unpack into hundreds.
	maxRecord = 16 << 20
	// notKept is the only template of a chart in a record. Without any, whoever upgrades with
	// that chart would take all objects of the release away.
	notKept = `{{ fail (printf "the release record does not keep chart %s %s: get it from where it came from" .Chart.Name .Chart.Version) }}`
)

// recordSelector selects the records of the release.
func recordSelector(name string) string {
	return labels.Set{"owner": "helm", "name": name}.String()
}

// notSynced narrows a selector of Secrets to those that no virtual cluster has synced to
// its host. How many of these have the labels of a record, and how large they are, is the
// tenant's to choose: a list that holds them may be longer than is read of an answer.
func notSynced(selector string) string { return selector + ",!" + labelSynced }

// isRecord says whether a Secret has the name that Helm gives to the records of the
// release that its labels name. The labels alone say nothing: what a virtual cluster
// syncs to its host keeps the labels that the tenant gave it, but gets a longer name.
func isRecord(m *metav1.ObjectMeta) bool {
	revision, ok := strings.CutPrefix(m.Name, recordPrefix+m.Labels["name"]+".v")

	return ok && revision != "" && strings.Trim(revision, "0123456789") == ""
}

// checkRecord refuses a record that unpacks into more than maxRecord. One that does not
// unpack at all is for Helm to complain of.
func checkRecord(s *corev1.Secret) error {
	raw, err := base64.StdEncoding.DecodeString(string(s.Data[recordKey]))
	if err != nil {
		return nil //nolint:nilerr // See above.
	}

	zipped, err := gzip.NewReader(bytes.NewReader(raw))
	if err != nil {
		return nil //nolint:nilerr // See above.
	}

	if n, _ := io.Copy(io.Discard, io.LimitReader(zipped, maxRecord+1)); n > maxRecord {
		return fmt.Errorf("release record %q in namespace %q unpacks into more than %d MiB: delete the Secret", s.Name, s.Namespace, maxRecord>>20)
	}

	return nil
}

// trimmed is a driver that stores of a release's chart only what is asked of it after
// it was rendered: its metadata, its lock and its default values. Templates, files and
// schema would be nine tenths of a record (ADR 27). What is stored cannot be rendered.
type trimmed struct{ driver.Driver }

// Create stores a new revision.
func (d trimmed) Create(key string, r *release.Release) error {
	return d.Driver.Create(key, trim(r))
}

// Update stores a revision as it is now.
func (d trimmed) Update(key string, r *release.Release) error {
	return d.Driver.Update(key, trim(r))
}

func trim(r *release.Release) *release.Release {
	if r.Chart == nil {
		return r
	}

	out := *r
	out.Chart = &chart.Chart{
		Metadata: r.Chart.Metadata, Lock: r.Chart.Lock, Values: r.Chart.Values,
		Templates: []*chart.File{{Name: "templates/not-kept.yaml", Data: []byte(notKept)}},
	}

	return &out
}
