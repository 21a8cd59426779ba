// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package testenv runs a real API server for tests, without nodes or
// controllers. Its code is built with the tag envtest only.
package testenv
