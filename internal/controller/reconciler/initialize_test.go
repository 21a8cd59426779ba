// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"testing"

	"github.com/crossplane/crossplane-runtime/v2/pkg/meta"
	"github.com/google/go-cmp/cmp"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestInitialize(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason  string
		given   func(*v1alpha1.Tenant)
		changed bool
		want    map[string]string
	}{
		"New": {
			reason: "a new object is named", given: func(*v1alpha1.Tenant) {}, changed: true,
			want: map[string]string{meta.AnnotationKeyExternalName: "name"},
		},
		"Named": {
			reason: "a name that is there stays", given: func(tn *v1alpha1.Tenant) { meta.SetExternalName(tn, "imported") },
			want: map[string]string{meta.AnnotationKeyExternalName: "imported"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tn := &v1alpha1.Tenant{}
			tc.given(tn)

			if got := Initialize(tn, "name"); got != tc.changed {
				t.Errorf("%s: changed: %t", tc.reason, got)
			}

			if diff := cmp.Diff(tc.want, tn.GetAnnotations()); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}
		})
	}
}
