// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package function

import (
	"strings"
	"testing"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/resource"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/testing/protocmp"
	"google.golang.org/protobuf/types/known/structpb"
)

const (
	cloudSpace = `{"apiVersion": "platform.kubeopera.io/v1alpha1", "kind": "CloudSpace",
		"metadata": {"namespace": "team-alice", "name": "staging", "uid": "7e9d3a1b-0000-4000-8000-000000000002"},
		"spec": {"userID": "alice", "spaceName": "alice-staging"}}`
	withoutUser = `{"metadata": {"namespace": "team-alice", "name": "staging", "uid": "7e9d3a1b"}, "spec": {}}`
	readyTenant = `{"apiVersion": "kubeopera.io/v1alpha1", "kind": "Tenant", "metadata": {"name": "staging-7e9d3a1b"},
		"spec": {"userID": "alice", "tenantName": "alice-staging", "cloudSpaceID": "x"},
		"status": {"phase": "Ready", "conditions": [{"type": "Ready", "status": "True"}]}}`
	xCloudSpace = `{"apiVersion": "claims.kubeopera.io/v1alpha1", "kind": "XCloudSpace",
		"metadata": {"name": "staging-x7k2p", "uid": "7e9d3a1b-0000-4000-8000-000000000002"},
		"spec": {"userID": "alice", "spaceName": "alice-staging", "claimRef": {"namespace": "team-alice"}}}`
	readyQuota = `{"status": {"conditions": [{"type": "Ready", "status": "True"}]}}`
)

// state has these resources, by their names in the composition.
func state(xr string, composed map[string]string) *fnv1.State {
	s := &fnv1.State{Composite: &fnv1.Resource{Resource: resource.MustStructJSON(xr)}, Resources: map[string]*fnv1.Resource{}}
	for name, o := range composed {
		s.Resources[name] = &fnv1.Resource{Resource: resource.MustStructJSON(o)}
	}

	return s
}

func TestFatal(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason   string
		observed *fnv1.State
		want     string
		// accepted is the status of that condition; none when the spec was not read.
		accepted []fnv1.Status
	}{
		"NoXR":    {"Nothing is known of an XR that is empty.", &fnv1.State{}, "spec is not an object", []fnv1.Status{fnv1.Status_STATUS_CONDITION_FALSE}},
		"Invalid": {"A spec that cannot be made is named.", state(withoutUser, nil), "spec.userID is not set", []fnv1.Status{fnv1.Status_STATUS_CONDITION_FALSE}},
		"BadTenant": {
			"What exists but cannot be read must not be made anew, or be taken for gone.",
			state(cloudSpace, map[string]string{"tenant": `{"spec": {"tenantName": 7}}`}), `cannot read the composed resource "tenant"`, nil,
		},
		"BadQuota": {
			"So with each of them.",
			state(cloudSpace, map[string]string{"quota": `{"spec": {"hard": {"pods": "many"}}}`}), `cannot read the composed resource "quota"`, nil,
		},
		"BadAdvisor": {
			"So with each of them.",
			state(cloudSpace, map[string]string{"advisor": `{"spec": {"replicas": "many"}}`}), `cannot read the composed resource "advisor"`, nil,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			rsp, err := New(logging.NewNopLogger()).RunFunction(t.Context(), &fnv1.RunFunctionRequest{Observed: tc.observed})
			if err != nil {
				t.Fatalf("%s\nRunFunction(...): %v", tc.reason, err)
			}

			results := rsp.GetResults()
			if len(results) != 1 || results[0].GetSeverity() != fnv1.Severity_SEVERITY_FATAL || !strings.Contains(results[0].GetMessage(), tc.want) {
				t.Errorf("%s\nRunFunction(...): want one fatal result with %q, got %v", tc.reason, tc.want, results)
			}

			var accepted []fnv1.Status
			for _, c := range rsp.GetConditions() {
				if c.GetType() == TypeAccepted && c.GetTarget() == fnv1.Target_TARGET_COMPOSITE_AND_CLAIM {
					accepted = append(accepted, c.GetStatus())
				}
			}

			if diff := cmp.Diff(tc.accepted, accepted); diff != "" {
				t.Errorf("A team reads it at the claim.\nRunFunction(...): condition %s: -want, +got:\n%s", TypeAccepted, diff)
			}
		})
	}
}

// A function before this one in a pipeline may want more, and has it.
func TestPipeline(t *testing.T) {
	t.Parallel()

	desired := state(`{"status": {"region": "north"}}`, map[string]string{"bucket": `{"kind": "Bucket"}`})
	desired.Composite.ConnectionDetails = map[string][]byte{"bucket": []byte("b")}
	fctx := &structpb.Struct{Fields: map[string]*structpb.Value{"a": structpb.NewStringValue("b")}}
	req := &fnv1.RunFunctionRequest{Meta: &fnv1.RequestMeta{Tag: "t"}, Observed: state(cloudSpace, nil), Desired: desired, Context: fctx}

	rsp, err := New(logging.NewNopLogger()).RunFunction(t.Context(), req)
	if err != nil {
		t.Fatalf("RunFunction(...): %v", err)
	}

	want := resource.MustStructJSON(`{"status": {"region": "north", "phase": "Pending", "message": "the Tenant is not there yet", "spaceName": "alice-staging"}}`)
	if diff := cmp.Diff(want, rsp.GetDesired().GetComposite().GetResource(), protocmp.Transform()); diff != "" {
		t.Errorf("The status of others stays.\nRunFunction(...): -want, +got:\n%s", diff)
	}

	if diff := cmp.Diff(map[string][]byte{"bucket": []byte("b")}, rsp.GetDesired().GetComposite().GetConnectionDetails()); diff != "" {
		t.Errorf("The details of others stay.\nRunFunction(...): -want, +got:\n%s", diff)
	}

	if rsp.GetDesired().GetResources()["bucket"] == nil {
		t.Error("The composed resources of others stay: without, they would be deleted.")
	}

	if diff := cmp.Diff(fctx, rsp.GetContext(), protocmp.Transform()); diff != "" || rsp.GetMeta().GetTag() != "t" {
		t.Errorf("Context and tag are handed on.\nRunFunction(...): tag %q, -want, +got:\n%s", rsp.GetMeta().GetTag(), diff)
	}
}

// No event tells Crossplane of a Secret, so that it is to ask again.
func TestAwaitsDetails(t *testing.T) {
	t.Parallel()

	all := map[string]string{"tenant": readyTenant, "quota": readyQuota}
	cases := map[string]struct {
		reason   string
		observed *fnv1.State
		details  map[string][]byte
		ttl      time.Duration
		ready    fnv1.Ready
	}{
		"Awaited":    {"It is asked again soon.", state(xCloudSpace, all), nil, 5 * time.Second, fnv1.Ready_READY_FALSE},
		"There":      {"Nothing is awaited.", state(xCloudSpace, all), map[string][]byte{"kubeconfig": []byte("k"), "endpoint": []byte("e")}, time.Minute, fnv1.Ready_READY_TRUE},
		"NotAwaited": {"Without a claim nothing is awaited.", state(cloudSpace, all), nil, time.Minute, fnv1.Ready_READY_TRUE},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tc.observed.Resources["tenant"].ConnectionDetails = tc.details

			rsp, err := New(logging.NewNopLogger()).RunFunction(t.Context(), &fnv1.RunFunctionRequest{Observed: tc.observed})
			if err != nil {
				t.Fatalf("%s\nRunFunction(...): %v", tc.reason, err)
			}

			if got := rsp.GetMeta().GetTtl().AsDuration(); got != tc.ttl {
				t.Errorf("%s\nRunFunction(...): want a TTL of %s, got %s", tc.reason, tc.ttl, got)
			}

			if got := rsp.GetDesired().GetComposite().GetReady(); got != tc.ready {
				t.Errorf("%s\nRunFunction(...): want %s, got %s", tc.reason, tc.ready, got)
			}
		})
	}
}
