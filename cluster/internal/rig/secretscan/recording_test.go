// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/structpb"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	clienttesting "k8s.io/client-go/testing"
)

const planted = "planted by the test"

// withSecret is a recording without a cluster, that knows what is planted.
func withSecret(t *testing.T) *Recording {
	t.Helper()

	r := newRecording(t.Context(), t.TempDir())
	r.Secrets.LearnValue("the test", []byte(planted))

	return r
}

// tell sends an entry as a provider does.
func tell(t *testing.T, socket, message string) {
	t.Helper()

	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()

	snapshot, err := structpb.NewStruct(map[string]any{"status": map[string]any{"message": message}})
	if err != nil {
		t.Fatal(err)
	}

	_, err = changelogs.NewChangeLogServiceClient(conn).SendChangeLog(t.Context(), &changelogs.SendChangeLogRequest{
		Entry: &changelogs.ChangeLogEntry{Kind: "Tenant", Name: "alice", Snapshot: snapshot},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestRecordingFinds plants the secret in one output after the other.
func TestRecordingFinds(t *testing.T) {
	t.Parallel()

	const (
		log     = "the log"
		metrics = "the metrics"
		objects = "Tenant"
	)

	outputs := []string{log, metrics, objects, ChangeLogs}

	for _, in := range append([]string{"nowhere"}, outputs...) {
		t.Run(in, func(t *testing.T) {
			t.Parallel()

			r := withSecret(t)
			text := func(output string) string {
				if output == in {
					return "x " + planted + " y"
				}

				return "harmless"
			}

			file := filepath.Join(t.TempDir(), "log")
			if err := os.WriteFile(file, []byte(text(log)), 0o600); err != nil {
				t.Fatal(err)
			}

			r.Read(log, file)

			sampled := make(chan struct{}, 1)
			r.Sample(metrics, time.Hour, 0, func(context.Context) ([]byte, error) {
				defer close(sampled)

				return []byte("a 1\n" + text(metrics)), nil
			})

			r.Encode(objects, "Tenant n/alice", map[string]string{"message": text(objects)})

			socket := filepath.Join(t.TempDir(), "s")
			if err := r.ServeChangeLogs(t.Context(), socket); err != nil {
				t.Fatal(err)
			}

			tell(t, socket, text(ChangeLogs))
			<-sampled
			r.Stop()

			res, err := r.Scan()
			if err != nil {
				t.Fatal(err)
			}

			for _, o := range outputs {
				if res.Bytes[o] == 0 {
					t.Errorf("%s was not scanned: %s", o, res.String())
				}
			}

			switch err := res.Err(outputs...); {
			case in == "nowhere" && err != nil:
				t.Errorf("Err(...): %v", err)
			case in != "nowhere" && (!errors.Is(err, ErrFound) || !strings.Contains(err.Error(), in) || strings.Contains(err.Error(), planted)):
				t.Errorf("Err(...): want where it stands, and not what: got %v", err)
			}
		})
	}
}

func TestResultProvesNothing(t *testing.T) {
	t.Parallel()

	cases := map[string]struct {
		reason string
		res    Result
		want   string
	}{
		"NoSecret": {"Nothing could be found.", Result{Bytes: map[string]int64{"the log": 1}}, "no secret"},
		"NoOutput": {"There was nothing to find it in.", Result{Secrets: 1, Bytes: map[string]int64{}}, "the log"},
		"NoInside": {
			"What is inside of vClusters was not searched for.",
			Result{Secrets: 1, Ready: 2, Bytes: map[string]int64{"the log": 1}}, "of 2 vClusters",
		},
		"Inside": {"It was, at least in one.", Result{Secrets: 1, Ready: 2, Inside: 1, Bytes: map[string]int64{"the log": 1}}, ""},
		"Both":   {"It was looked for.", Result{Secrets: 1, Bytes: map[string]int64{"the log": 1}}, ""},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			err := tc.res.Err("the log")
			if tc.want == "" && err != nil || tc.want != "" && (!errors.Is(err, ErrNothing) || !strings.Contains(err.Error(), tc.want)) {
				t.Errorf("%s\nErr(...): want %q, got %v", tc.reason, tc.want, err)
			}
		})
	}
}

// TestRecordingLost holds that what was not recorded is not taken for clean.
func TestRecordingLost(t *testing.T) {
	t.Parallel()

	r := withSecret(t)
	r.Read("the log", filepath.Join(t.TempDir(), "none"))
	r.Stop()

	if _, err := r.Scan(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Scan(): want that there is no log, got %v", err)
	}

	r = withSecret(t)
	r.lose(errLost)
	r.Stop()

	if _, err := r.Scan(); !errors.Is(err, errLost) {
		t.Errorf("Scan(): want that a watch was lost, got %v", err)
	}
}

// TestWatchLost holds that a watch that cannot begin is a gap, but after Stop.
func TestWatchLost(t *testing.T) {
	t.Parallel()

	r := withSecret(t)
	r.follow(nil, "", func(*unstructured.Unstructured) {}) // No watch begins at no version.

	if _, err := r.Scan(); !errors.Is(err, errLost) {
		t.Errorf("Scan(): want that a watch was lost, got %v", err)
	}

	r = withSecret(t)
	r.Stop()
	r.follow(nil, "", func(*unstructured.Unstructured) {})

	if _, err := r.Scan(); err != nil {
		t.Errorf("Scan(): nothing was lost: %v", err)
	}
}

// TestSampleLost holds that samples may fail for so long, and no longer.
func TestSampleLost(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		atMost time.Duration
		lost   bool
	}{
		"LongerThanAllowed": {time.Nanosecond, true},
		"Allowed":           {time.Hour, false},
		"AnyTime":           {0, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, sampled := withSecret(t), make(chan struct{}, 1)
			r.Sample("the log", time.Millisecond, tc.atMost, func(context.Context) ([]byte, error) {
				select {
				case sampled <- struct{}{}:
				default:
				}

				return nil, os.ErrDeadlineExceeded
			})
			<-sampled
			<-sampled
			r.Stop()

			if _, err := r.Scan(); errors.Is(err, errLost) != tc.lost || tc.lost && !strings.Contains(err.Error(), "the log") {
				t.Errorf("Scan(): lost should be %t: %v", tc.lost, err)
			}
		})
	}
}

// TestLearn holds that a vCluster that does not answer is asked again, and counted when
// it has; and that one that is gone is not waited for.
func TestLearn(t *testing.T) {
	t.Parallel()

	gone := kerrors.NewNotFound(schema.GroupResource{Resource: "secrets"}, "kubeconfig")

	for name, tc := range map[string]struct {
		answers []error
		inside  int
	}{
		"AtLast": {[]error{os.ErrDeadlineExceeded, os.ErrDeadlineExceeded, nil}, 1},
		"Gone":   {[]error{os.ErrDeadlineExceeded, gone}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, asked := withSecret(t), 0
			r.inner["uid-alice"] = false
			r.learn("uid-alice", time.Millisecond, func(context.Context) error {
				asked++
				return tc.answers[asked-1]
			})
			r.Stop()

			res, err := r.Scan()
			if err != nil || asked != len(tc.answers) || res.Ready != 1 || res.Inside != tc.inside {
				t.Errorf("asked %d times: %s, %v", asked, res.String(), err)
			}
		})
	}
}

// TestSpecs holds that the specs that a Tenant has written are output, and others not.
func TestSpecs(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		owners []any
		found  int
	}{
		"ByATenant": {[]any{map[string]any{"kind": "Tenant", "name": "alice", "controller": true}}, 1},
		"ByAPerson": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r := withSecret(t)
			r.seeObject(&unstructured.Unstructured{Object: map[string]any{
				"kind":     "AdvisorAgent",
				"metadata": map[string]any{"name": "alice", "ownerReferences": tc.owners},
				"spec":     map[string]any{"image": planted},
			}})
			r.Stop()

			if res, err := r.Scan(); err != nil || len(res.Findings) != tc.found {
				t.Errorf("Scan(): want %d findings, got %v, %v", tc.found, res.Findings, err)
			}
		})
	}
}

// TestServedLater holds that a kind that is not served yet is waited for, and seen then.
func TestServedLater(t *testing.T) {
	t.Parallel()

	kind := schema.GroupVersionResource{Group: "platform.kubeopera.io", Version: "v1alpha1", Resource: "cloudspaces"}
	c := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(), map[schema.GroupVersionResource]string{kind: "CloudSpaceList"})
	first := unstructured.Unstructured{Object: map[string]any{
		"apiVersion": kind.GroupVersion().String(), "kind": "CloudSpace", "metadata": map[string]any{"name": "staging"},
	}}

	asked := 0
	c.PrependReactor("list", kind.Resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		if asked++; asked == 1 {
			return true, nil, kerrors.NewNotFound(kind.GroupResource(), "")
		}

		l := &unstructured.UnstructuredList{Items: []unstructured.Unstructured{first}}
		l.SetAPIVersion(kind.GroupVersion().String())
		l.SetKind("CloudSpaceList")
		l.SetResourceVersion("1")

		return true, l, nil
	})

	r, seen := withSecret(t), make(chan string, 1)
	r.ended.Go(func() {
		r.followOnceServed(c.Resource(kind), func(o *unstructured.Unstructured) { seen <- o.GetName() })
	})

	select {
	case name := <-seen:
		if name != first.GetName() {
			t.Errorf("saw %q", name)
		}
	case <-time.After(30 * servedEvery):
		t.Error("it was not seen")
	}

	r.Stop()

	if _, err := r.Scan(); err != nil || asked != 2 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}
