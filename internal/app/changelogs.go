// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"fmt"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/apis/changelogs/proto/v1alpha1"
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/feature"
	"github.com/crossplane/crossplane-runtime/v2/pkg/reconciler/managed"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
)

// changeLogTimeout bounds how long a change waits for its entry to be taken. One
// that is not taken is lost, and the provider's log says so.
const changeLogTimeout = 3 * time.Second

// providerName is how the provider names itself in change logs.
const providerName = "provider-kubeopera"

// addChangeLogs has the controllers tell the service behind the socket of each
// change that they make. The service may come later. The function closes the
// connection.
func addChangeLogs(o *controller.Options, c Config) (func() error, error) {
	if !c.ChangeLogs {
		return func() error { return nil }, nil
	}
	conn, err := grpc.NewClient("unix://"+c.ChangeLogsSocket, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return nil, fmt.Errorf("%s: cannot use socket %q: %w", setting("changelogs-socket-path"), c.ChangeLogsSocket, err)
	}
	o.Features.Enable(feature.EnableAlphaChangeLogs)
	o.ChangeLogOptions = &controller.ChangeLogOptions{
		ChangeLogger: managed.NewGRPCChangeLogger(v1alpha1.NewChangeLogServiceClient(conn),
			managed.WithProviderVersion(providerName+":"+c.Version), managed.WithSendTimeout(changeLogTimeout)),
	}
	return conn.Close, nil
}
