// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package policy puts the pods' connections before the network policy engine,
// and tells whether it is asked.
package policy

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/kubeopera/provider-kubeopera/cluster/testbed/internal/netns"
)

// Queue is the netfilter queue that the engine decides on. As long as nobody
// listens there, what is sent to it is dropped.
const Queue = 100

// Install makes the rules by which each new connection from or to an address of
// the pods' subnet goes to the queue in the named network namespace, be it to
// another pod on the bridge, to elsewhere, or to the node itself. Where a service
// is asked for, that is after its address was rewritten. What root on the node
// connects to passes, so that pods can be probed.
//
// All policies speak of IPv4 here, and pods that share a bridge reach each other
// by their IPv6 addresses without being given any. So IPv6 is closed to them.
func Install(ctx context.Context, name, subnet, bridge string) error {
	if err := restore(ctx, name, "iptables-restore", fmt.Sprintf(rules, subnet, Queue)); err != nil {
		return err
	}
	return restore(ctx, name, "ip6tables-restore", fmt.Sprintf(rules6, bridge))
}

const rules = `*mangle
:TESTBED-PODS - [0:0]
-A INPUT ! -i lo -j TESTBED-PODS
-A POSTROUTING -m owner --uid-owner 0 -j RETURN
-A POSTROUTING -j TESTBED-PODS
-A TESTBED-PODS -m conntrack --ctstate ESTABLISHED,RELATED -j RETURN
-A TESTBED-PODS -s %[1]s -j NFQUEUE --queue-num %[2]d
-A TESTBED-PODS -d %[1]s -j NFQUEUE --queue-num %[2]d
COMMIT
`

const rules6 = `*mangle
-A INPUT -i %[1]s -j DROP
-A FORWARD -j DROP
COMMIT
`

func restore(ctx context.Context, name, command, rules string) error {
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+netns.Path(name), "--", command, "--noflush", "--wait")
	cmd.Stdin = strings.NewReader(rules)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("cannot send pods' connections to the policy engine by %s (has the kernel its target NFQUEUE and match owner?): %w: %s",
			command, err, strings.TrimSpace(string(out)))
	}
	return nil
}
