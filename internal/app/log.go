// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"io"

	"github.com/go-logr/logr"
	"go.uber.org/zap/zapcore"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
)

// NewLogger logs one JSON object a line. With debug it logs more, and for
// people to read.
func NewLogger(w io.Writer, debug bool) logr.Logger {
	return zap.New(zap.WriteTo(w), zap.UseDevMode(debug), func(o *zap.Options) {
		o.TimeEncoder = zapcore.RFC3339NanoTimeEncoder
	})
}
