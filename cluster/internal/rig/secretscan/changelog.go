// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package secretscan

import (
	"context"
	"errors"
	"fmt"
	"net"

	changelogs "github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/encoding/protojson"
)

// ChangeLogs is the name of the output that ServeChangeLogs records.
const ChangeLogs = "the change logs"

// changeLog is a service that providers tell of each change that they make.
type changeLog struct {
	changelogs.UnimplementedChangeLogServiceServer

	recording *Recording
}

// ServeChangeLogs takes change logs at a unix socket until Stop, and records them.
func (r *Recording) ServeChangeLogs(ctx context.Context, socket string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "unix", socket)
	if err != nil {
		return fmt.Errorf("cannot take change logs: %w", err)
	}

	s := grpc.NewServer()
	changelogs.RegisterChangeLogServiceServer(s, &changeLog{recording: r})

	r.ended.Go(func() {
		<-r.ctx.Done()
		s.Stop()
	})
	r.ended.Go(func() {
		if err := s.Serve(l); err != nil && !errors.Is(err, grpc.ErrServerStopped) {
			r.lose(fmt.Errorf("cannot take change logs: %w", err))
		}
	})

	return nil
}

// SendChangeLog records an entry.
func (l *changeLog) SendChangeLog(_ context.Context, r *changelogs.SendChangeLogRequest) (*changelogs.SendChangeLogResponse, error) {
	e := r.GetEntry()

	raw, err := protojson.Marshal(e)
	if err != nil {
		l.recording.lose(fmt.Errorf("cannot read an entry of a change log: %w", err))
	}

	l.recording.Write(ChangeLogs, fmt.Sprintf("%s %s", e.GetKind(), e.GetName()), raw)

	return &changelogs.SendChangeLogResponse{}, nil
}
