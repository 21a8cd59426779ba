// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package proc

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// startSleep starts a daemon that does nothing for long.
func startSleep(t *testing.T) Running {
	t.Helper()
	dir := t.TempDir()
	r, err := Start(Daemon{Name: "sleep", Command: []string{"sleep", "600"}}, dir, dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { kill(r.Record) })
	return r
}

func TestKill(t *testing.T) {
	t.Parallel()
	r := startSleep(t)
	reused := Record{PID: r.PID, Start: r.Start + 1}
	kill(reused)
	if !r.Alive(Proc) {
		t.Fatal("a process was ended by the record of another one that had its id")
	}

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ended, err := Kill(ctx, func() ([]Record, error) {
		if r.Alive(Proc) {
			return []Record{r.Record}, nil
		}
		return nil, nil
	})
	if err != nil || len(ended) == 0 || ended[0] != r.Record {
		t.Errorf("Kill(...) = %v, %v", ended, err)
	}
	select {
	case err := <-r.Ended:
		if err == nil || !strings.Contains(err.Error(), "killed") {
			t.Errorf("the daemon ended by %v", err)
		}
	case <-ctx.Done():
		t.Error("nobody is told that the daemon has ended")
	}
	AwaitReaped(ended, time.Minute)
	if listed(Proc, r.Record) {
		t.Error("the ended daemon is still listed")
	}
}

func TestKillGivesUp(t *testing.T) {
	t.Parallel()
	why := errors.New("long enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	// No process can have this id.
	immortal := Record{PID: 1 << 30}
	_, err := Kill(ctx, func() ([]Record, error) { cancel(why); return []Record{immortal}, nil })
	if !errors.Is(err, why) || !strings.Contains(err.Error(), "1073741824") {
		t.Errorf("Kill(...) = %v, want the reason and a process that is left", err)
	}
	broken := errors.New("broken")
	if _, err := Kill(t.Context(), func() ([]Record, error) { return nil, broken }); !errors.Is(err, broken) {
		t.Errorf("Kill(...) = %v, want %v", err, broken)
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	logs, records := t.TempDir(), t.TempDir()
	d := Daemon{Name: "echo", Command: []string{"/bin/sh", "-c", "echo $WORD; echo wrong >&2; exit 3"}, Env: []string{"WORD=said"}}
	for range 2 {
		r, err := Start(d, logs, records)
		if err != nil {
			t.Fatal(err)
		}
		if err := <-r.Ended; err == nil || err.Error() != "exit status 3" {
			t.Errorf("the daemon ended by %v", err)
		}
		if saved, err := Load(records, "echo"); err != nil || saved != r.Record {
			t.Errorf("record is %v, %v, want %v", saved, err, r.Record)
		}
	}
	b, err := os.ReadFile(filepath.Join(logs, "echo.log"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(b), "said\nwrong\nsaid\nwrong\n"; got != want {
		t.Errorf("log is %q, want %q", got, want)
	}
	if _, err := Start(Daemon{Name: "none", Command: []string{"/nosuch"}}, logs, records); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Start(...) = %v, want %v", err, os.ErrNotExist)
	}
}
