// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/kubeopera/provider-kubeopera/cluster/internal/figures"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

func TestLeak(t *testing.T) {
	t.Parallel()

	early := rest{Tenants: 30, Footprint: rig.Footprint{Goroutines: 370, Descriptors: 13, Heap: 13 << 20, Resident: 105 << 20}}
	cases := map[string]struct {
		reason string
		// more is what there is beyond early, after so many more Tenants.
		more rest
		want []string
	}{
		"Same":     {"What it had it may have.", rest{}, nil},
		"Less":     {"Less is no leak.", rest{Tenants: 50, Footprint: rig.Footprint{Goroutines: -99, Descriptors: -9, Heap: -1 << 20, Resident: -1 << 20}}, nil},
		"Measured": {"So much was added when nothing leaked.", rest{Tenants: 16, Footprint: rig.Footprint{Goroutines: 1, Heap: 1.9 * (1 << 20), Resident: 7 << 20}}, nil},
		"Events":   {"What is remembered of the events of each is no leak.", rest{Tenants: 50, Footprint: rig.Footprint{Heap: 50 * 32 << 10}}, nil},
		"EventsOfNone": {
			"Events of Tenants that there were not are one.", rest{Footprint: rig.Footprint{Heap: moreHeap + 1}}, []string{"bytes of heap", "after 0 Tenants"},
		},
		"Goroutine":  {"One is left behind by each eighth Tenant.", rest{Tenants: 50, Footprint: rig.Footprint{Goroutines: 50 / 8}}, []string{"376 goroutines", "early 370", "at most 5 more after 50 Tenants"}},
		"Descriptor": {"One is left behind by each twelfth Tenant.", rest{Tenants: 50, Footprint: rig.Footprint{Descriptors: 50 / 12}}, []string{"17 open descriptors"}},
		"Client":     {"A client for its API is left behind by each Tenant.", rest{Tenants: 50, Footprint: rig.Footprint{Heap: 50 * 100 << 10}}, []string{"bytes of heap"}},
		"Resident":   {"What Go does not count leaks by 1 MiB a Tenant.", rest{Tenants: 50, Footprint: rig.Footprint{Resident: 50 << 20}}, []string{"resident"}},
		"All":        {"Each is named.", rest{Tenants: 1, Footprint: rig.Footprint{Goroutines: 99, Descriptors: 99, Heap: 1 << 30, Resident: 1 << 30}}, []string{"goroutines", "descriptors", "heap", "resident"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			late := rest{Tenants: early.Tenants + tc.more.Tenants, Footprint: rig.Footprint{
				Goroutines: early.Goroutines + tc.more.Goroutines, Descriptors: early.Descriptors + tc.more.Descriptors,
				Heap: early.Heap + tc.more.Heap, Resident: early.Resident + tc.more.Resident,
			}}

			err := leak(early, late)
			if errors.Is(err, errLeak) != (tc.want != nil) {
				t.Errorf("%s\nleak(...): want %q, got %v", tc.reason, tc.want, err)
			}

			for _, want := range tc.want {
				if !strings.Contains(fmt.Sprint(err), want) {
					t.Errorf("%s\nleak(...): want %q, got %v", tc.reason, want, err)
				}
			}
		})
	}
}

func TestRecoveryOf(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		all  []time.Duration
		want recovery
	}{
		"None": {nil, recovery{}},
		"Odd":  {[]time.Duration{9 * time.Second, time.Second, 2 * time.Second}, recovery{Times: 3, Median: 2, Max: 9}},
		"Even": {[]time.Duration{4 * time.Second, time.Second, 2 * time.Second, 9 * time.Second}, recovery{Times: 4, Median: 3, Max: 9}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if diff := cmp.Diff(tc.want, recoveryOf(tc.all)); diff != "" {
				t.Errorf("recoveryOf(...): -want, +got:\n%s", diff)
			}
		})
	}
}

// diaryOf something right and something wrong.
func diaryOf(out *bytes.Buffer) *diary {
	d := newDiary(out)
	d.operation("delete the Service", "soak-a")
	d.recovered("delete the Service", "soak-a", 1500*time.Millisecond)
	d.fault("kubeopera-api hangs")
	d.wrong("Tenant soak-b is still there", "and why")

	return d
}

func TestResult(t *testing.T) {
	t.Parallel()

	var out bytes.Buffer

	s := &soak{
		flags: flags{Time: time.Hour, Seed: 42, Tenants: 4}, facts: rig.Facts{Cores: 2, Kubernetes: "v1.36.3"}, diary: diaryOf(&out), lives: &lives{},
		proxy: &rig.FaultProxy{}, kubeopera: &rig.FakeKubeoperaAPI{}, began: time.Now(), kills: 7,
		early: &rest{Tenants: 30, Footprint: rig.Footprint{Goroutines: 81}}, late: &rest{Tenants: 85, Footprint: rig.Footprint{Goroutines: 83}},
	}
	r := s.result()

	for _, want := range []string{"seed 42", "7 kills", "2 cores", "v1.36.3", "delete the Service", "1.5 s", "kubeopera-api hangs", "81 goroutines", "83 goroutines", "after 55 Tenants"} {
		if got := r.table(); !strings.Contains(got, want) {
			t.Errorf("table(): want %q in it, got\n%s", want, got)
		}
	}

	for _, want := range []string{"soak-a: delete the Service", "fault: kubeopera-api hangs", "WRONG: Tenant soak-b is still there\nand why"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("The diary has what was done: want %q, got\n%s", want, out.String())
		}
	}

	if err := r.verdict(); !errors.Is(err, errWrong) || !strings.Contains(err.Error(), "Tenant soak-b is still there") {
		t.Errorf("verdict(): want what was wrong, got %v", err)
	}

	r.Wrongs = nil
	if err := r.verdict(); err != nil {
		t.Errorf("verdict(): want none, got %v", err)
	}

	for what, take := range map[string]func(r *result){
		"kill": func(r *result) { r.Kills = 0 }, "fault": func(r *result) { r.Faults = nil }, "recovery": func(r *result) { r.Overall = recovery{} },
		"rest": func(r *result) { r.Bounds = nil }, "Tenant between its rests": func(r *result) { r.Bounds = &rest{} },
	} {
		less := r
		take(&less)

		if err := less.verdict(); !errors.Is(err, errNothing) {
			t.Errorf("verdict() without a %s: got %v", what, err)
		}
	}

	file := filepath.Join(t.TempDir(), "soak.json")
	if err := figures.Write(file, r); err != nil {
		t.Fatal(err)
	}

	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}

	var back result
	if err := json.Unmarshal(raw, &back); err != nil {
		t.Fatal(err)
	}

	if diff := cmp.Diff(r, back, cmpopts.IgnoreUnexported(rig.Footprint{})); diff != "" {
		t.Errorf("The figures are in the file: -want, +got:\n%s", diff)
	}
}

func TestFlags(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		f    flags
		want string
	}{
		"Least":    {flags{Time: leastTime, Tenants: 1}, ""},
		"TooShort": {flags{Time: time.Minute, Tenants: 4}, "--time"},
		"None":     {flags{Time: time.Hour}, "--tenants"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := tc.f.Validate()
			if (err == nil) != (tc.want == "") || err != nil && !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Validate(): want %q, got %v", tc.want, err)
			}
		})
	}
}
