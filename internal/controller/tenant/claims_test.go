// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/helm"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
)

const leftClaim = "data-vc-alice-default-0"

// claimOf is the volume claim that the control plane of that release makes.
func claimOf(release string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{
		Namespace: aliceNamespace, Name: "data-" + release + "-0", UID: "uid-claim", Labels: vcluster.ControlPlaneLabels(release),
	}}
}

// TestD12ClaimOfAnEarlierTenant holds that what is on a volume claim that an earlier
// Tenant of the name has left is another's: it is neither used nor deleted, unless its
// adoption is asked for.
func TestD12ClaimOfAnEarlierTenant(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		release *helm.Release
		acts    string
	}{
		"WithItsRelease":    {"the earlier Tenant was let go", releaseOf(alice().Obj()).Obj(), ""},
		"WithoutItsRelease": {"it was uninstalled, which leaves the claim", nil, "helm install vc-alice-default"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			ns := namespaceOf(alice().UID("uid-earlier").Obj()).Obj()
			w := newWorld(t, ns, claimOf("vc-alice-default"))
			w.helm.release = tc.release

			before := read[*corev1.PersistentVolumeClaim](w, w.host, aliceNamespace, leftClaim)
			refused := alice().Obj()

			_, err := w.pass(refused)
			if !errors.Is(err, errConflict) || !strings.Contains(err.Error(), `left from Tenant "kubeopera-system/alice-default", which is gone`) ||
				!strings.Contains(err.Error(), v1alpha1.AnnotationAdopt) || refused.Status.Phase != v1alpha1.PhaseFailed {
				t.Errorf("%s: unasked: %s, %v", tc.reason, refused.Status.Phase, err)
			}

			refused.SetDeletionTimestamp(&metav1.Time{Time: epoch})

			if o := w.mustPass(refused); o.ResourceExists || len(w.journal.take()) > 0 {
				t.Errorf("%s: unasked, it did something: %s", tc.reason, refused.Status.Message)
			}

			asked := alice().Adopts(aliceNamespace).Obj()
			for range 2 {
				w.mustPass(asked)
			}

			if !w.events.has(reasonAdopted) || !owns(asked, read[*corev1.Namespace](w, w.host, "", aliceNamespace)) {
				t.Errorf("%s: asked: %s: %s", tc.reason, asked.Status.Phase, asked.Status.Message)
			}

			got := w.journal.take()
			if acts := strings.Join(withPrefix(got, "helm "), ", "); acts != tc.acts {
				t.Errorf("%s: asked: did %q, want %q", tc.reason, acts, tc.acts)
			}

			if diff := cmp.Diff(before, read[*corev1.PersistentVolumeClaim](w, w.host, aliceNamespace, leftClaim)); diff != "" {
				t.Errorf("%s: the claim was touched: %s", tc.reason, diff)
			}

			w.bringUp(asked)
			w.mustPass(asked)

			if asked.Status.Phase != v1alpha1.PhaseReady {
				t.Errorf("%s: %s: %s", tc.reason, asked.Status.Phase, asked.Status.Message)
			}
		})
	}
}

// TestNoClaimToAdopt holds that a claim of something else is no vCluster's, and that
// one which was uninstalled with its history is held to what it was.
func TestNoClaimToAdopt(t *testing.T) {
	t.Parallel()

	uninstalled := releaseOf(alice().Obj()).Status(helm.StatusUninstalled).Obj()

	cases := map[string]struct {
		reason  string
		claims  []client.Object
		release *helm.Release
		failOn  string
		is      error
		says    string
	}{
		"Others":  {reason: "a claim of another release", claims: []client.Object{claimOf("other")}, is: errConflict, says: "nor a volume claim"},
		"Unknown": {reason: "not to know is no claim", claims: []client.Object{claimOf("vc-alice-default")}, failOn: "list *v1.PersistentVolumeClaimList", is: errInjected, says: "cannot list the volume claims"},
		"History": {
			reason: "its last chart was newer", claims: []client.Object{claimOf("vc-alice-default")}, release: uninstalled,
			is: vcluster.ErrImmutableValue, says: "vcluster.chartVersion",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			w := newWorld(t, append(tc.claims, bareNamespace(aliceNamespace).Obj())...)
			w.helm.release, w.reads.failOn = tc.release, tc.failOn

			if _, err := w.pass(alice().Chart("0.35.0").Adopts(aliceNamespace).Obj()); !errors.Is(err, tc.is) || !strings.Contains(err.Error(), tc.says) || len(w.journal.take()) > 0 {
				t.Errorf("%s: %v", tc.reason, err)
			}
		})
	}
}

// withPrefix are those of the actions that begin so.
func withPrefix(actions []string, prefix string) []string {
	var out []string

	for _, a := range actions {
		if strings.HasPrefix(a, prefix) {
			out = append(out, a)
		}
	}

	return out
}
