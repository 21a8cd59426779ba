// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

func TestNewTenant(t *testing.T) {
	t.Parallel()

	one, same, other := newTenant(rand.New(rand.NewPCG(1, 2)), false), newTenant(rand.New(rand.NewPCG(1, 2)), false), newTenant(rand.New(rand.NewPCG(1, 3)), true)
	if diff := cmp.Diff(one, same, cmpopts.IgnoreFields(v1alpha1.TenantSpec{}, "UserID")); diff != "" {
		t.Errorf("The same numbers make the same Tenant: -one, +same:\n%s", diff)
	}

	if one.Name == other.Name || one.Spec.CloudSpaceID == other.Spec.CloudSpaceID {
		t.Errorf("Others make another: got %s and %s", one.Name, other.Name)
	}

	if one.Spec.Flux == nil || other.Spec.Flux != nil {
		t.Error("Only a whole one has Flux")
	}
}

func TestAgain(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	was := newTenant(r, true)
	ids := map[bool]int{}

	for range 20 {
		is := again(r, was)
		if is.Name != was.Name || is.Spec.TenantName != was.Spec.TenantName || is.Spec.Flux != nil {
			t.Fatalf("It has the names of the first: want %s, got %s", was.Name, is.Name)
		}

		ids[is.Spec.CloudSpaceID == was.Spec.CloudSpaceID]++
	}

	if ids[true] == 0 || ids[false] == 0 {
		t.Errorf("Its id is now the same and now another: got %v", ids)
	}
}

func TestLives(t *testing.T) {
	t.Parallel()

	r := rand.New(rand.NewPCG(1, 2))
	l := &lives{}
	one, two := newTenant(r, false), newTenant(r, false)
	one.UID, two.UID = "1", "2"
	two.Spec.CloudSpaceID = one.Spec.CloudSpaceID

	l.began(one)
	l.began(two)
	l.becameReady(one)
	l.ended(one)

	if now := l.now(); len(now) != 1 || now[0].GetUID() != two.GetUID() {
		t.Errorf("now(): want the second, got %v", now)
	}

	if got := l.cloudSpaces(); l.count() != 2 || len(got) != 1 || !got[one.Spec.CloudSpaceID] {
		t.Errorf("Two Tenants of one CloudSpace: got %d, %v", l.count(), got)
	}
}
