// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package e2e proves on a real cluster what users are promised: the provider
// runs as its own program, Tenants become real vClusters.
//
// Its suite is built with the tag e2e and run inside the test bed:
//
//	go test -c -tags e2e -o bin/e2e.test ./cluster/e2e
//	bin/testbed exec -- bin/e2e.test -ginkgo.v
package e2e
