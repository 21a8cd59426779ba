// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const (
	// failedLimit is how long a Tenant may be Failed before the demo gives up.
	failedLimit = time.Minute
	// answerLimit is how long the tenant's API may take to answer.
	answerLimit = time.Minute
)

// follow says each phase and message of the Tenant, until it is Ready. The
// Tenant is then as it was seen last.
func follow(ctx context.Context, c client.WithWatch, tenant *v1alpha1.Tenant, p *provider, say func(string, ...any)) error {
	f := &follower{tenant: tenant, say: say, failed: time.NewTimer(failedLimit)}
	f.failed.Stop()
	for {
		w, err := c.Watch(ctx, &v1alpha1.TenantList{}, client.InNamespace(tenant.Namespace), client.MatchingFields{"metadata.name": tenant.Name})
		if err != nil {
			return fmt.Errorf("cannot watch the Tenant: %w", err)
		}
		ready, err := f.drain(ctx, w, p)
		w.Stop()
		if ready || err != nil {
			return err
		}
	}
}

// A follower knows what was seen last.
type follower struct {
	tenant *v1alpha1.Tenant
	say    func(string, ...any)
	last   string
	// failed fires when the Tenant has been Failed for too long.
	failed *time.Timer
}

// drain follows one watch, until the Tenant is Ready or the watch ends.
func (f *follower) drain(ctx context.Context, w watch.Interface, p *provider) (bool, error) {
	for {
		select {
		case <-ctx.Done():
			return false, context.Cause(ctx)
		case err := <-p.ended:
			return false, err
		case <-f.failed.C:
			return false, fmt.Errorf("the Tenant is Failed for %s", failedLimit)
		case e, ok := <-w.ResultChan():
			if !ok || e.Type == watch.Error {
				return false, nil
			}
			if e.Type == watch.Deleted {
				return false, errors.New("the Tenant was deleted")
			}
			if t, isTenant := e.Object.(*v1alpha1.Tenant); isTenant && f.see(t) {
				return true, nil
			}
		}
	}
}

// see says what is new, and true when the Tenant is Ready.
func (f *follower) see(t *v1alpha1.Tenant) bool {
	was := f.tenant.Status.Phase
	t.DeepCopyInto(f.tenant)
	now := fmt.Sprintf("%-13s %s", t.Status.Phase, t.Status.Message)
	if now != f.last {
		f.say("%s", strings.TrimSpace(now))
		f.last = now
	}
	switch {
	case t.Status.Phase != v1alpha1.PhaseFailed:
		f.failed.Stop()
	case was != v1alpha1.PhaseFailed:
		f.failed.Reset(failedLimit)
	}
	return t.Status.Phase == v1alpha1.PhaseReady
}

// describe is all that the Tenant says about itself.
func describe(t *v1alpha1.Tenant) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "phase %s: %s", t.Status.Phase, t.Status.Message)
	for _, c := range t.Status.Conditions {
		fmt.Fprintf(b, "\n  %-20s %-7s %-14s %s", c.Type, c.Status, c.Reason, c.Message)
	}
	return b.String()
}

// ask proves that the tenant's API answers to the kubeconfig.
func ask(ctx context.Context, kubeconfig []byte, say func(string, ...any)) error {
	cluster, err := clientcmd.RESTConfigFromKubeConfig(kubeconfig)
	if err != nil {
		return fmt.Errorf("cannot use the tenant's kubeconfig: %w", err)
	}
	cluster.Timeout = answerLimit
	d, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return fmt.Errorf("cannot use the tenant's kubeconfig: %w", err)
	}
	var last error
	err = wait.PollUntilContextTimeout(ctx, retryEvery, answerLimit, true, func(context.Context) (bool, error) {
		v, err := d.ServerVersion()
		if last = err; err != nil {
			return false, nil
		}
		say("the tenant's API at %s answers: Kubernetes %s", cluster.Host, v.GitVersion)
		return true, nil
	})
	if err != nil {
		return fmt.Errorf("the Tenant is Ready, but its API does not answer: %w", errors.Join(err, last))
	}
	return nil
}
