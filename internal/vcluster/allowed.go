// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package vcluster

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// ErrOverrideNotAllowed says that overrides set what a Tenant may not set. It is followed by the paths.
var ErrOverrideNotAllowed = errors.New("not allowed to a Tenant")

// AllowAll in the place of a path allows overrides of everything.
const AllowAll = "*"

// defaultAllowed are the paths that a Tenant may override unless told otherwise. A Tenant is written by
// those whom it is to wall in, and the chart is installed with the rights of the host's credentials. So
// what is not known to be harmless in each supported chart is not here: images, arguments, environment and
// volumes of the control plane, its security contexts, accounts and roles, labels and annotations, which
// tell the host's controllers what to do, names under which the host exposes it, what syncs more kinds or
// patches those that are synced, and network policies, which add to the wall's own. Nothing here adds a
// rule to a role, since the provider may hold no more than what those of its own values grant.
var defaultAllowed = []string{
	// How large the platform's own pods are. The wall grows with them, and a Tenant names its quota itself.
	"controlPlane.statefulSet.resources",
	"controlPlane.distro.k8s.resources",
	"controlPlane.distro.k3s.resources",
	"controlPlane.backingStore.etcd.deploy.statefulSet.resources",
	"controlPlane.coredns.deployment.resources",
	"sync.toHost.pods.rewriteHosts.initContainer.resources",

	// How many there are, but for the control plane itself, whose role then also elects a leader. CoreDNS runs
	// inside, where the tenant could scale it as well.
	"controlPlane.backingStore.etcd.deploy.statefulSet.highAvailability.replicas",
	"controlPlane.coredns.deployment.replicas",
	"controlPlane.coredns.enabled",

	// Where its own data lies, in claims of its own namespace: one that the tenant's pods could claim as well.
	"controlPlane.statefulSet.persistence.volumeClaim",
	"controlPlane.backingStore.etcd.deploy.enabled",
	"controlPlane.backingStore.etcd.deploy.statefulSet.persistence.volumeClaim",

	// How often it is asked whether it lives, and in which form it logs.
	"controlPlane.statefulSet.probes",
	"logging.encoding",

	// For which names its certificate is good, which its own CA signs.
	"controlPlane.proxy.extraSANs",

	// Which kinds it writes into its own namespace, among those that the provider's own values sync.
	"sync.toHost.services.enabled",
	"sync.toHost.endpoints.enabled",
	"sync.toHost.endpointSlices.enabled",
	"sync.toHost.persistentVolumeClaims.enabled",
	"sync.toHost.configMaps.enabled",
	"sync.toHost.configMaps.all",
	"sync.toHost.secrets.enabled",
	"sync.toHost.secrets.all",
	"sync.toHost.ingresses.enabled",
	"sync.toHost.serviceAccounts.enabled",
	"sync.toHost.pods.enabled",
	"sync.toHost.pods.useSecretsForSATokens",
	"sync.toHost.pods.rewriteHosts.enabled",

	// Whether events of its own namespace are shown inside.
	"sync.fromHost.events.enabled",
}

// checkAllowed errs with an ErrOverrideNotAllowed unless everything in which merged differs from own lies at
// an allowed path or below one. Allowed of nil means defaultAllowed. A list is compared as a whole, and an
// empty map that own does not have is a difference. Helm deletes a default of the chart for a null, and templates
// take what is not there for something else than its default. The chart writes some texts into its manifests
// as they are, so that a line break in one could add to them what it likes. Neither is allowed, wherever it
// stands, but by AllowAll.
func checkAllowed(own, merged map[string]any, allowed []string) error {
	if allowed == nil {
		allowed = defaultAllowed
	}

	if slices.Contains(allowed, AllowAll) {
		return nil
	}

	var refused, removed, broken []string

	for _, d := range differences(own, merged) {
		switch {
		case !allows(allowed, d.path):
			refused = append(refused, showPath(d.path))
		case holdsNull(d.value):
			removed = append(removed, showPath(d.path))
		case breaksLines(d.path) || breaksLines(d.value):
			broken = append(broken, showPath(d.path))
		}
	}

	var words []string
	if len(refused) > 0 {
		words = append(words, list(refused))
	}

	if len(removed) > 0 {
		words = append(words, "a null, which takes a default of the chart away, in "+list(removed))
	}

	if len(broken) > 0 {
		words = append(words, "a line break or another control character in "+list(broken))
	}

	if words == nil {
		return nil
	}

	return fmt.Errorf("%w: %s", ErrOverrideNotAllowed, strings.Join(words, "; "))
}

// difference is one value that differs, by the keys that lead to it.
type difference struct {
	path  []string
	value any
}

// missing is the value of what is not there any more. The chart's default takes its place.
type missing struct{}

// differences finds what differs, in the order of the keys. Only what is a map on both sides, or is added
// as a map that holds something, is looked into.
func differences(own, merged map[string]any) []difference {
	var out []difference

	for _, key := range slices.Sorted(maps.Keys(union(own, merged))) {
		before, had := own[key]
		after, has := merged[key]
		left, isLeft := before.(map[string]any)
		right, isRight := after.(map[string]any)

		switch {
		case isRight && (isLeft || !had && len(right) > 0):
			for _, d := range differences(left, right) {
				out = append(out, difference{append([]string{key}, d.path...), d.value})
			}
		case !has:
			out = append(out, difference{[]string{key}, missing{}})
		case !had || show(before) != show(after):
			out = append(out, difference{[]string{key}, after})
		}
	}

	return out
}

func union(a, b map[string]any) map[string]any {
	out := maps.Clone(a)
	if out == nil {
		out = map[string]any{}
	}

	maps.Copy(out, b)

	return out
}

// allows says whether one of the allowed paths is the path or leads to it. A dot in a key separates nothing.
func allows(allowed, path []string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		keys := strings.Split(a, ".")
		return len(keys) <= len(path) && slices.Equal(keys, path[:len(keys)])
	})
}

// holdsNull says whether v is a null, or holds one.
func holdsNull(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return slices.ContainsFunc(v, holdsNull)
	case map[string]any:
		for _, below := range v {
			if holdsNull(below) {
				return true
			}
		}
	}

	return false
}

// breaksLines says whether a text anywhere in v, keys included, holds what YAML may take for the end of a line.
func breaksLines(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.ContainsFunc(v, func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' })
	case []string:
		return slices.ContainsFunc(v, func(s string) bool { return breaksLines(s) })
	case []any:
		return slices.ContainsFunc(v, breaksLines)
	case map[string]any:
		for key, below := range v {
			if breaksLines(key) || breaksLines(below) {
				return true
			}
		}
	}

	return false
}

// Bounds of a message that names paths, of which the longest that the chart knows has some 100 characters.
const (
	maxShownPaths = 10
	maxShownPath  = 160
)

var plainKey = regexp.MustCompile(`^[A-Za-z0-9_/-]+$`)

// showPath joins keys by dots, with quotes around what is not plain, and cuts off what is too long.
func showPath(path []string) string {
	words := make([]string, 0, len(path))
	length := 0

	for _, key := range path {
		if len(key) > maxShownPath {
			key = strings.ToValidUTF8(key[:maxShownPath], "") + "..."
		}

		if !plainKey.MatchString(key) {
			key = fmt.Sprintf("%q", key)
		}

		words = append(words, key)

		if length += len(key); length > maxShownPath {
			return strings.Join(words, ".") + "..."
		}
	}

	return strings.Join(words, ".")
}

func list(paths []string) string {
	if more := len(paths) - maxShownPaths; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(paths[:maxShownPaths], ", "), more)
	}

	return strings.Join(paths, ", ")
}
