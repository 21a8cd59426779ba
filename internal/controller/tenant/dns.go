// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenant

import (
	"context"
	"fmt"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/tenantapi"
	"github.com/kubeopera/provider-kubeopera/internal/vcluster"
	"github.com/kubeopera/provider-kubeopera/internal/workload"
)

// dnsFacts are what one pass found out about the CoreDNS of a vCluster. Without it
// no pod inside finds anything, and vCluster does not tell of it.
type dnsFacts struct {
	// wanted says that the vCluster runs one that can be looked at.
	wanted bool
	// seen says that it was looked at; unseen says why it could not be.
	seen   bool
	unseen error
	// ranBefore says that it was available when it was seen last.
	ranBefore bool

	available bool
	// trouble says in words why it is not, as far as the vCluster and the host tell.
	trouble string
}

// gatherDNS looks at CoreDNS if there is a way in. That it cannot be seen, which the
// tenant's admin can bring about, holds nothing else back.
func (e *external) gatherDNS(ctx context.Context, f *facts) {
	values := f.desired.values
	if f.release != nil {
		values = f.release.Values
	}

	f.dns.wanted = vcluster.RunsDNS(values)
	if !f.dns.wanted || f.access.kubeconfig == nil {
		return
	}

	if err := readDNS(ctx, f.access.in.live, &f.dns); err != nil {
		f.dns.unseen = unknown(fmt.Errorf("what CoreDNS does cannot be looked at now: %w", tenantapi.Steady(err)))
		f.dns.ranBefore = e.before.GetCondition(v1alpha1.TypeDNSReady).Status == corev1.ConditionTrue

		return
	}

	f.dns.seen = true

	if f.dns.available {
		f.access.in.unfollow(vcluster.DNSNamespace)
	} else {
		f.access.in.follow(vcluster.DNSNamespace)
	}
}

func readDNS(ctx context.Context, c client.Reader, f *dnsFacts) error {
	d := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKey{Namespace: vcluster.DNSNamespace, Name: vcluster.DNSDeployment}, d)

	switch {
	case kerrors.IsNotFound(err):
		f.trouble = "vCluster has not made it (it does when it starts: if this stays, delete the pod of its control plane)"
		return nil
	case err != nil:
		return fmt.Errorf("cannot read Deployment %q inside the vCluster: %w", vcluster.DNSDeployment, err)
	case workload.DeploymentAvailable(d):
		f.available = true
		return nil
	}

	f.trouble, err = workload.Trouble(ctx, c, "Deployment", d.GetName(), d.GetNamespace(), vcluster.DNSLabels())
	if f.trouble == "" {
		f.trouble = fmt.Sprintf("%d of its pods are available", d.Status.AvailableReplicas)
	}

	return err
}

func (f *facts) dnsStage() xpv2.Condition {
	ct := v1alpha1.TypeDNSReady

	switch {
	case !f.dns.wanted:
		return skipped(ct, "vCluster runs no CoreDNS of its own, by its values")
	case f.dns.unseen != nil && f.dns.ranBefore:
		return pendingChange(ct, f.dns.unseen.Error())
	case f.dns.unseen != nil:
		return notDone(ct, v1alpha1.ReasonProgressing, f.dns.unseen.Error())
	case !f.dns.seen:
		return notDone(ct, v1alpha1.ReasonWaiting, "the tenant's API does not answer yet")
	case !f.dns.available:
		return notDone(ct, v1alpha1.ReasonProgressing, "CoreDNS inside the vCluster is not available: "+f.dns.trouble)
	case f.may.LooksOnly():
		return observed(ct, "")
	default:
		return done(ct)
	}
}
