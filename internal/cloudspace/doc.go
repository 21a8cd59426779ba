// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package cloudspace says what a CloudSpace is composed of, and how it is when
// that is as observed. It has no client, and knows nothing of how Crossplane calls
// it.
package cloudspace
