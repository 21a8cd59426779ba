// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/quantity"
)

// ErrImmutableValue says that a change must not reach Helm, because vCluster or the host refuses it or
// because it loses the tenant's data.
var ErrImmutableValue = errors.New("refused change of a running virtual cluster")

// Release is one side of an upgrade.
type Release struct {
	// ChartVersion is the version of the vCluster chart.
	ChartVersion string
	// Values are the values that are given to Helm; what they leave out has the chart's default.
	Values map[string]any
}

// Refused returns an ErrImmutableValue when the running release must not be upgraded to the wanted one.
// The error lists each such field with its old and new value and the remedy. It compares what takes
// effect, so that leaving a default out and writing it down are the same.
//
// Refused are another distribution (also by a chart that lacks the running one), another backing store,
// persistence switched on or off, every change of a volume claim, which Kubernetes forbids, a change of
// namespace syncing, and going back over a minor version of the chart or of Kubernetes: vCluster and the
// API server read what older versions wrote, not what newer ones did. Going back within a minor is a
// rollback and allowed. vCluster itself would move k3s to k8s once, and some stores to etcd; both have no
// way back and are refused as well.
//
// A version that is not supported, on either side, is an ErrUnsupportedChartVersion.
func Refused(running, wanted Release) error {
	from, err := ParseChartVersion(running.ChartVersion)
	if err != nil {
		return fmt.Errorf("cannot upgrade the running release: %w", err)
	}

	to, err := ParseChartVersion(wanted.ChartVersion)
	if err != nil {
		return err
	}

	changes := chartChanges(from, to)
	changes = append(changes, distroChanges(running.Values, wanted.Values, to)...)
	changes = append(changes, storeChanges(running.Values, wanted.Values)...)
	changes = append(changes, claimChanges(running.Values, wanted.Values)...)
	changes = append(changes, fieldChanges(running.Values, wanted.Values, fixedFields)...)

	if len(changes) == 0 {
		return nil
	}

	words := make([]string, len(changes))
	for i, c := range changes {
		words[i] = c.String()
	}

	return fmt.Errorf("%w: %s", ErrImmutableValue, strings.Join(words, "; "))
}

// Remedies, by what is at stake.
const (
	remedyNewTenant = "put the old value back, or make a new Tenant and move the workloads to it"
	remedyNoK3s     = "charts after 0.32 have no k3s: stay on 0.32 or older, or make a new Tenant and move the workloads to it"
	remedyNoWayBack = "stay on this minor version or a newer one"
)

// change is one refused change.
type change struct {
	field    string
	old, new any
	remedy   string
}

// String says what cannot be changed and what to do.
func (c change) String() string {
	return fmt.Sprintf("cannot change %s from %s to %s: %s", c.field, show(c.old), show(c.new), c.remedy)
}

// show prints a value as it stands in a values file.
func show(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprintf("%q", fmt.Sprint(v))
	}

	return string(b)
}

// chartChanges finds a chart that is older by a minor version.
func chartChanges(from, to ChartVersion) []change {
	if from.version.Minor() <= to.version.Minor() {
		return nil
	}

	return []change{{"vcluster.chartVersion", from.String(), to.String(), remedyNoWayBack}}
}

// distroChanges finds another distribution, or the same one with an older minor version of Kubernetes.
func distroChanges(running, wanted map[string]any, to ChartVersion) []change {
	before, after := DistroOf(running), DistroOf(wanted)
	if before == after {
		return kubernetesChanges(running, wanted, after)
	}

	remedy := remedyNewTenant
	if before == v1alpha1.DistroK3s && !to.hasDistro(v1alpha1.DistroK3s) {
		remedy = remedyNoK3s
	}

	return []change{{"controlPlane.distro", before, after, remedy}}
}

// DistroOf is the distribution that values lead to. The chart takes k8s when none is switched on.
func DistroOf(values map[string]any) v1alpha1.Distro {
	if on := enabledDistros(values); len(on) > 0 {
		return v1alpha1.Distro(on[0])
	}

	return v1alpha1.DistroK8s
}

// kubernetesChanges finds an older minor version of Kubernetes where both sides name one.
func kubernetesChanges(running, wanted map[string]any, distro v1alpha1.Distro) []change {
	field, before := kubernetesVersion(running, distro)
	_, after := kubernetesVersion(wanted, distro)

	if before == nil || after == nil || before.Minor() <= after.Minor() {
		return nil
	}

	return []change{{field, before.Original(), after.Original(), remedyNoWayBack}}
}

// kubernetesVersion is the version that values name and the field that names it, or nil.
func kubernetesVersion(values map[string]any, distro v1alpha1.Distro) (string, *semver.Version) {
	for _, path := range [][]string{{"version"}, {"image", "tag"}} {
		path = append([]string{"controlPlane", "distro", string(distro)}, path...)
		named, _ := at(values, path...).(string)

		if v, err := semver.NewVersion(named); err == nil {
			return strings.Join(path, "."), v
		}
	}

	return "", nil
}

// storeChanges finds another backing store.
func storeChanges(running, wanted map[string]any) []change {
	before, after := effectiveStore(running), effectiveStore(wanted)
	if before == after {
		return nil
	}

	return []change{{"controlPlane.backingStore", before, after, remedyNewTenant}}
}

// Backing stores, as the path of the switch below controlPlane.backingStore.
const (
	storeEmbeddedEtcd     = "etcd.embedded"
	storeExternalEtcd     = "etcd.external"
	storeDeployedEtcd     = "etcd.deploy"
	storeEmbeddedDatabase = "database.embedded"
	storeExternalDatabase = "database.external"
)

// effectiveStore is the backing store that values lead to, SQLite in the control plane's own volume when
// none is switched on.
func effectiveStore(values map[string]any) string {
	stores := []string{
		storeEmbeddedEtcd, storeExternalEtcd, storeDeployedEtcd,
		storeEmbeddedDatabase, storeExternalDatabase,
	}
	for _, store := range stores {
		path := strings.Split("controlPlane.backingStore."+store+".enabled", ".")
		if at(values, path...) == true {
			return store
		}
	}

	return storeEmbeddedDatabase
}

// field is a value that must stay, with its default in every supported chart.
type field struct {
	path     string
	standard any
}

const (
	persistence = "controlPlane.statefulSet.persistence."
	etcdClaim   = "controlPlane.backingStore.etcd.deploy.statefulSet.persistence.volumeClaim."
)

var (
	// claimFields end in the StatefulSet's volume claim template.
	claimFields = []field{
		{persistence + "volumeClaim.size", defaultVolumeSize},
		{persistence + "volumeClaim.storageClass", ""},
		{persistence + "volumeClaim.accessModes", []any{"ReadWriteOnce"}},
	}
	// etcdClaimFields do the same for an etcd that the chart deploys.
	etcdClaimFields = []field{
		{etcdClaim + "enabled", true},
		{etcdClaim + "size", defaultVolumeSize},
		{etcdClaim + "storageClass", ""},
		{etcdClaim + "accessModes", []any{"ReadWriteOnce"}},
	}
	// fixedFields must stay whatever the store is. A change of what syncs namespaces strands the objects
	// that are synced already.
	fixedFields = []field{
		{persistence + "volumeClaimTemplates", []any{}},
		{persistence + "dataVolume", []any{}},
		{"sync.toHost.namespaces.enabled", false},
		{"sync.toHost.namespaces.mappingsOnly", false},
		{"sync.toHost.namespaces.mappings.byName", map[string]any{}},
		{"experimental.multiNamespaceMode.enabled", false},
	}
)

// claimChanges finds persistence switched on or off, and every change of a volume claim that exists.
func claimChanges(running, wanted map[string]any) []change {
	before, after := hasClaim(running), hasClaim(wanted)
	sameStore := effectiveStore(running) == effectiveStore(wanted)

	switch {
	case before != after && sameStore:
		return []change{{persistence + "volumeClaim.enabled", before, after, remedyNewTenant}}
	case !sameStore:
		return nil
	}

	var changes []change
	if before {
		changes = fieldChanges(running, wanted, claimFields)
	}

	if effectiveStore(running) == storeDeployedEtcd {
		changes = append(changes, fieldChanges(running, wanted, etcdClaimFields)...)
	}

	return changes
}

// claimIfNeeded is the chart's default of volumeClaim.enabled.
const claimIfNeeded = "auto"

// hasClaim says whether the chart gives the control plane a volume claim, and so makes it a StatefulSet.
// Left to itself it does so for the stores that keep their data in the control plane's pod.
func hasClaim(values map[string]any) bool {
	if templates, _ := at(values, strings.Split(persistence+"volumeClaimTemplates", ".")...).([]any); len(templates) > 0 {
		return true
	}

	switch fmt.Sprint(effective(values, field{persistence + "volumeClaim.enabled", claimIfNeeded})) {
	case "true":
		return true
	case claimIfNeeded:
		store := effectiveStore(values)

		return store == storeEmbeddedDatabase || store == storeEmbeddedEtcd
	default:
		return false
	}
}

// SurvivesRestart says that the control plane of a release with these values has its objects again
// after a restart: they are in a volume claim, or not in its pods at all.
func SurvivesRestart(values map[string]any) bool {
	store := effectiveStore(values)

	return hasClaim(values) || (store != storeEmbeddedDatabase && store != storeEmbeddedEtcd)
}

func fieldChanges(running, wanted map[string]any, fields []field) []change {
	var changes []change

	for _, f := range fields {
		before, after := effective(running, f), effective(wanted, f)
		if !equal(before, after) {
			changes = append(changes, change{f.path, before, after, remedyNewTenant})
		}
	}

	return changes
}

// effective is a field's value, or its default. It is nil where a null, there or above, takes the default away.
func effective(values map[string]any, f field) any {
	var node any = values

	for _, key := range strings.Split(f.path, ".") {
		m, ok := node.(map[string]any)
		if !ok {
			return f.standard
		}

		if node, ok = m[key]; !ok {
			return f.standard
		}

		if node == nil {
			return nil
		}
	}

	return node
}

// equal compares two values as Kubernetes does: 5Gi and 5120Mi are the same size, and a number is the same
// whether it was read as an integer or as a float.
func equal(a, b any) bool {
	if show(a) == show(b) {
		return true
	}

	left, errLeft := quantity.Parse(fmt.Sprint(a))
	right, errRight := quantity.Parse(fmt.Sprint(b))

	return errLeft == nil && errRight == nil && left.Cmp(right) == 0
}
