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
)

const planted = "planted by the test"

// newRecording is one without a cluster.
func newRecording(t *testing.T) *Recording {
	t.Helper()

	ctx, stop := context.WithCancel(t.Context())
	r := &Recording{folder: t.TempDir(), done: ctx.Done(), stop: stop}
	r.files, r.read, r.inner = map[string]*os.File{}, map[string]string{}, map[string]bool{}
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

			r := newRecording(t)
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
			r.Sample(metrics, time.Hour, func(context.Context) ([]byte, error) {
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
		"Both":     {"It was looked for.", Result{Secrets: 1, Bytes: map[string]int64{"the log": 1}}, ""},
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

	r := newRecording(t)
	r.Read("the log", filepath.Join(t.TempDir(), "none"))
	r.Stop()

	if _, err := r.Scan(); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Scan(): want that there is no log, got %v", err)
	}

	r = newRecording(t)
	r.lose(errLost)
	r.Stop()

	if _, err := r.Scan(); !errors.Is(err, errLost) {
		t.Errorf("Scan(): want that a watch was lost, got %v", err)
	}
}
