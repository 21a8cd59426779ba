// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package helm

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

func TestH10FailedHookIsNamed(t *testing.T) {
	cases := map[string]struct {
		reason  string
		hook    func(b *bed)
		timeout time.Duration
		says    string
	}{
		"Fails":     {reason: "its Job fails", hook: func(b *bed) { b.finish(batchv1.JobFailed) }, timeout: time.Minute, says: "no luck"},
		"NeverEnds": {reason: "its Job ends never", hook: func(*bed) {}, timeout: 2 * time.Second, says: "time"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBed(t)
			b.hookTimeout = tc.timeout
			chart := b.app("1.0.0", withTemplate("h.yaml", fmt.Sprintf(hookYAML, "pre-install,pre-upgrade")))

			// Nothing of the release is made, however often it is tried.
			for i, write := range []writeFn{b.Install, b.Upgrade, b.Upgrade} {
				err := b.throughHook(write, chart, func() { tc.hook(b) })
				if err == nil || !strings.Contains(err.Error(), `Job "vc-a-hook"`) || !strings.Contains(err.Error(), "pre-install") || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("%s: want the hook's name and %q, got %v", tc.reason, tc.says, err)
				}
				if got := b.state(); got.Revision != i+1 || got.Status != StatusFailed || !strings.Contains(got.Description, `Job "vc-a-hook"`) {
					t.Errorf("%s: got revision %d, %s, %q", tc.reason, got.Revision, got.Status, got.Description)
				}
				if b.uid("apps/v1", "Deployment", "vc-a") != "" {
					t.Fatalf("%s: it was installed without its hook", tc.reason)
				}
			}

			b.hookTimeout = time.Minute
			b.must(b.throughHook(b.Upgrade, chart, func() { b.finish(batchv1.JobComplete) }))
			if got := b.state(); got.Status != StatusDeployed || b.uid("apps/v1", "Deployment", "vc-a") == "" {
				t.Errorf("%s: the hook succeeded, got %s", tc.reason, got.Status)
			}

			// What runs is upgraded over a failed upgrade, whose hook has the same name.
			for _, condition := range []batchv1.JobConditionType{batchv1.JobFailed, batchv1.JobComplete} {
				err := b.throughHook(b.Upgrade, chart, func() { b.finish(condition) })
				if failed := condition == batchv1.JobFailed; (err != nil) != failed || (failed && !strings.Contains(err.Error(), "pre-upgrade")) {
					t.Errorf("%s: the hook of an upgrade is %s: got %v", tc.reason, condition, err)
				}
			}
		})
	}
}

// writeFn is an install or an upgrade by a client.
type writeFn func(ctx context.Context, name string, c *Chart, values map[string]any) (*Release, error)

// throughHook writes the release, and runs then once its hook has begun anew.
func (b *bed) throughHook(write writeFn, c *Chart, then func()) error {
	b.Helper()
	before := b.uid("batch/v1", "Job", "vc-a-hook")
	done := make(chan error, 1)
	go func() {
		_, err := write(b.Context(), testRelease, c, nil)
		done <- err
	}()
	awaitTrue(b.T, "the hook has begun", func() bool {
		now := b.uid("batch/v1", "Job", "vc-a-hook")
		return now != "" && now != before
	})
	then()
	return <-done
}

// finish the Job of the hook, as its controller would.
func (b *bed) finish(condition batchv1.JobConditionType) {
	b.Helper()
	j := &batchv1.Job{}
	b.must(b.kube.Get(b.Context(), types.NamespacedName{Namespace: b.namespace, Name: "vc-a-hook"}, j))
	now := metav1.Now()
	j.Status.StartTime = &now
	first := batchv1.JobFailureTarget
	if condition == batchv1.JobComplete {
		first = batchv1.JobSuccessCriteriaMet
		j.Status.CompletionTime = &now
	}
	for _, c := range []batchv1.JobConditionType{first, condition} {
		j.Status.Conditions = append(j.Status.Conditions, batchv1.JobCondition{
			Type: c, Status: corev1.ConditionTrue, Reason: "no luck", Message: "no luck", LastTransitionTime: now,
		})
	}
	b.must(b.kube.Status().Update(b.Context(), j))
}
