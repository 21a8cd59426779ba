// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	corev1 "k8s.io/api/core/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// onlyObserved says why something that is not there is not made.
const onlyObserved = "and none is made as long as spec.managementPolicies only observe"

func observed(t xpv2.ConditionType, message string) xpv2.Condition {
	return xpv2.Condition{Type: t, Status: corev1.ConditionTrue, Reason: v1alpha1.ReasonObserved, Message: message}
}

// absent says that there is nothing that could be looked at or changed.
func (f *facts) absent() string {
	if f.boundary.namespace != nil {
		return fmt.Sprintf("there is no vCluster: namespace %q on the host cluster holds no Helm release %q, %s",
			f.names.namespace, f.names.release, onlyObserved)
	}

	return fmt.Sprintf("there is no vCluster: the host cluster has no namespace %q, and spec.managementPolicies do not allow to create it", f.names.namespace)
}

// observedBoundary is the stage of a Tenant that only looks.
func (f *facts) observedBoundary() xpv2.Condition {
	ct := v1alpha1.TypeBoundaryReady

	switch {
	case f.boundary.namespace == nil:
		return notDone(ct, v1alpha1.ReasonFailed, f.absent())
	case f.goingAway():
		return notDone(ct, v1alpha1.ReasonFailed, fmt.Sprintf("someone deleted namespace %q on the host cluster", f.names.namespace))
	default:
		return observed(ct, "")
	}
}

// observedRelease is the stage of a Tenant that only looks. Its message is what
// policies that allow an update would change.
func (f *facts) observedRelease() xpv2.Condition {
	ct := v1alpha1.TypeReleaseDeployed

	switch {
	case !f.installed():
		return notDone(ct, v1alpha1.ReasonFailed, f.absent())
	case f.workload.ready:
		return observed(ct, f.outlook())
	case f.state == releaseFailed:
		return notDone(ct, v1alpha1.ReasonFailed, f.reason)
	case f.state == releaseLocked || f.state == releaseStale || f.state == releaseDrifted:
		return notDone(ct, v1alpha1.ReasonProgressing, f.reason)
	default:
		return observed(ct, f.outlook())
	}
}

// observedStage is that of Flux where nothing may be made.
func (f *fluxFacts) observedStage() xpv2.Condition {
	ct := v1alpha1.TypeFluxReady

	switch {
	case f.release == nil:
		return skipped(ct, "there is no Flux, "+onlyObserved)
	case f.healthy:
		return observed(ct, "")
	default:
		return notDone(ct, v1alpha1.ReasonProgressing, "Flux: "+cmp.Or(f.health, f.reason))
	}
}

// outlook says how the release differs from the spec; empty when it does not.
func (f *facts) outlook() string {
	if f.invalid != nil {
		return "the spec cannot become a release: " + f.invalid.Error()
	}

	if err := refuse(f.release, f.desired); err != nil {
		return "an update to the spec as it is would be refused: " + err.Error()
	}

	var words []string
	if f.release.ChartVersion != f.desired.chartVersion {
		words = append(words, fmt.Sprintf("chart version %s would become %s", f.release.ChartVersion, f.desired.chartVersion))
	}

	taken, set := differences(f.release.Values, f.desired.values)
	if len(taken) > 0 {
		words = append(words, "these of its values would be taken away: "+strings.Join(taken, ", "))
	}

	if len(set) > 0 {
		words = append(words, "these would be set: "+strings.Join(set, ", "))
	}

	return strings.Join(words, "; ")
}

// differences are the paths of the values that only have has, and of those that want
// has otherwise, sorted. The values themselves may be secret.
func differences(have, want map[string]any) (taken, set []string) {
	differ("", decoded(have), decoded(want), func(path string, wanted bool) {
		if wanted {
			set = append(set, path)
		} else {
			taken = append(taken, path)
		}
	})

	return taken, set
}

// decoded are values in the form in which they are stored.
func decoded(values map[string]any) map[string]any {
	out := map[string]any{}

	raw, err := json.Marshal(values)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}

	if err != nil {
		return values
	}

	return out
}

func differ(below string, have, want map[string]any, tell func(path string, wanted bool)) {
	keys := map[string]bool{}
	for k := range have {
		keys[k] = true
	}

	for k := range want {
		keys[k] = true
	}

	for _, k := range slices.Sorted(maps.Keys(keys)) {
		a, inHave := have[k]
		b, inWant := want[k]
		left, leftIsMap := a.(map[string]any)
		right, rightIsMap := b.(map[string]any)

		switch {
		case inHave == inWant && reflect.DeepEqual(a, b):
		case (leftIsMap || !inHave) && (rightIsMap || !inWant) && len(left)+len(right) > 0:
			differ(below+k+".", left, right, tell)
		default:
			tell(below+k, inWant)
		}
	}
}
