// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/cluster/internal/rig"
)

// showCrossplane installs the packages on a test bed that has Crossplane, makes a
// CloudSpace and a claim for another, opens it and deletes both.
func showCrossplane(ctx context.Context, say func(string, ...any)) error {
	c, err := rig.Connect()
	if err != nil {
		return err
	}
	if err := checkInstalled(ctx, c.Client, true); err != nil {
		return err
	}
	if err := c.InstallPackages(ctx, ".", say); err != nil {
		return err
	}
	say("the packages are installed")
	if err := c.ApplyFile(ctx, "examples/cloudspace/namespace.yaml"); err != nil {
		return err
	}
	spaces, err := applySpaces(ctx, c, "examples/cloudspace/staging.yaml", "examples/claim/claim.yaml")
	if err != nil {
		return err
	}
	for _, s := range spaces {
		if err := followSpace(ctx, c, s, say); err != nil {
			return err
		}
	}
	kubeconfig, err := connectionSecret(ctx, c, spaces[1])
	if err != nil {
		return err
	}
	if err := ask(ctx, kubeconfig, say); err != nil {
		return err
	}
	if err := deleteSpaces(ctx, c, spaces, say); err != nil {
		return err
	}
	say("make your own: %s", onTestbed("kubectl apply -f examples/cloudspace"))
	return nil
}

// applySpaces applies the only object of each file. It refuses what is there
// already: it is somebody's, and would be deleted in the end.
func applySpaces(ctx context.Context, c *rig.Cluster, files ...string) ([]*unstructured.Unstructured, error) {
	var out []*unstructured.Unstructured
	for _, f := range files {
		all, err := rig.ReadManifests(f)
		if err != nil {
			return nil, err
		}
		if len(all) != 1 {
			return nil, fmt.Errorf("%s holds %d objects, not one", f, len(all))
		}
		err = c.Client.Get(ctx, client.ObjectKeyFromObject(all[0]), all[0].DeepCopy())
		if err == nil {
			return nil, fmt.Errorf("%s is there already, and the demo would delete it; delete it first: %s", titleOf(all[0]), onTestbed("kubectl delete -f "+f))
		}
		if client.IgnoreNotFound(err) != nil {
			return nil, fmt.Errorf("cannot read %s: %w", titleOf(all[0]), err)
		}
		out = append(out, all[0])
	}
	for _, o := range out {
		if err := c.Apply(ctx, o.DeepCopy()); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// followSpace says each phase and message, until it is Ready.
func followSpace(ctx context.Context, c *rig.Cluster, o *unstructured.Unstructured, say func(string, ...any)) error {
	last := ""
	err := wait.PollUntilContextCancel(ctx, retryEvery, true, func(ctx context.Context) (bool, error) {
		if err := c.Client.Get(ctx, client.ObjectKeyFromObject(o), o); err != nil {
			return false, fmt.Errorf("cannot read %s: %w", titleOf(o), err)
		}
		phase, _, _ := unstructured.NestedString(o.Object, "status", "phase")
		message, _, _ := unstructured.NestedString(o.Object, "status", "message")
		if now := strings.TrimSpace(phase + " " + message); now != "" && now != last {
			say("%s: %s", titleOf(o), now)
			last = now
		}
		return rig.ConditionOf(o, "Ready")["status"] == string(corev1.ConditionTrue), nil
	})
	if err != nil {
		return fmt.Errorf("%s does not become Ready: %w\n%s%s", titleOf(o), errors.Join(err, context.Cause(ctx)),
			rig.DescribeConditions(o), c.DescribeAll(context.WithoutCancel(ctx)))
	}
	return nil
}

// titleOf tells the two kinds of one name apart.
func titleOf(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s.%s %s", o.GetKind(), o.GroupVersionKind().Group, o.GetName())
}

// connectionSecret is the kubeconfig in the Secret that the claim names.
func connectionSecret(ctx context.Context, c *rig.Cluster, claim *unstructured.Unstructured) ([]byte, error) {
	name, _, err := unstructured.NestedString(claim.Object, "spec", "writeConnectionSecretToRef", "name")
	if err != nil || name == "" {
		return nil, fmt.Errorf("claim %q names no connection Secret: %w", claim.GetName(), errors.Join(err))
	}
	s := &corev1.Secret{}
	if err := c.Client.Get(ctx, client.ObjectKey{Namespace: claim.GetNamespace(), Name: name}, s); err != nil {
		return nil, fmt.Errorf("cannot read the claim's connection Secret: %w", err)
	}
	return s.Data["kubeconfig"], nil
}

// deleteSpaces deletes what was asked for, and errs if anything of it is left.
func deleteSpaces(ctx context.Context, c *rig.Cluster, spaces []*unstructured.Unstructured, say func(string, ...any)) error {
	tenants, err := tenantsOf(ctx, c, spaces)
	if err != nil {
		return err
	}
	for _, o := range spaces {
		if err := c.Client.Delete(ctx, o, client.PropagationPolicy("Foreground")); err != nil {
			return fmt.Errorf("cannot delete %s: %w", titleOf(o), err)
		}
	}
	for _, o := range spaces {
		err := wait.PollUntilContextCancel(ctx, retryEvery, true, func(ctx context.Context) (bool, error) {
			err := c.Client.Get(ctx, client.ObjectKeyFromObject(o), o)
			return err != nil, client.IgnoreNotFound(err)
		})
		if err != nil {
			return fmt.Errorf("%s does not go: %w\n%s", titleOf(o), err, c.DescribeAll(context.WithoutCancel(ctx)))
		}
		say("%s is gone", titleOf(o))
	}
	return nothingLeft(ctx, c, tenants, say)
}

// tenantsOf are the Tenants that were made of them.
func tenantsOf(ctx context.Context, c *rig.Cluster, spaces []*unstructured.Unstructured) ([]v1alpha1.Tenant, error) {
	var out []v1alpha1.Tenant
	for _, o := range spaces {
		composite, claimed, _ := unstructured.NestedString(o.Object, "spec", "resourceRef", "name")
		if !claimed {
			composite = o.GetName()
		}
		l := &v1alpha1.TenantList{}
		if err := c.Client.List(ctx, l, client.InNamespace(o.GetNamespace()), client.MatchingLabels{"crossplane.io/composite": composite}); err != nil {
			return nil, fmt.Errorf("cannot list Tenants: %w", err)
		}
		if len(l.Items) == 0 {
			return nil, fmt.Errorf("cannot find the Tenant of %s", titleOf(o))
		}
		out = append(out, l.Items...)
	}
	return out, nil
}

// nothingLeft waits until nothing is left of the Tenants. Their usages go by the
// garbage collector.
func nothingLeft(ctx context.Context, c *rig.Cluster, tenants []v1alpha1.Tenant, say func(string, ...any)) error {
	for i := range tenants {
		var left []string
		err := wait.PollUntilContextTimeout(ctx, retryEvery, answerLimit, true, func(ctx context.Context) (bool, error) {
			var err error
			left, err = c.Leftovers(ctx, &tenants[i])
			return len(left) == 0, err
		})
		if err != nil {
			return fmt.Errorf("cannot show that nothing is left of Tenant %q: %w; seen last: %q", tenants[i].GetName(), err, left)
		}
	}
	say("nothing is left of %d CloudSpaces", len(tenants))
	return nil
}
