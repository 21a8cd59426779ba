// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"
	"time"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// reachTimeout is how long the cluster may take to answer at start.
const reachTimeout = 20 * time.Second

// checkCRDs finds a kind of ours that the cluster does not know. Without this,
// the caches would wait for it without a word.
func checkCRDs(ctx context.Context, cluster *rest.Config) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()

	d, err := discovery.NewDiscoveryClientForConfig(cluster)
	if err != nil {
		return fmt.Errorf("cannot make a client for the cluster: %w", err)
	}
	served := &metav1.APIResourceList{}
	err = d.RESTClient().Get().AbsPath("/apis", v1alpha1.GroupVersion.String()).Do(ctx).Into(served)
	if err != nil && !kerrors.IsNotFound(err) {
		return fmt.Errorf("cannot ask the cluster at %s which kinds it knows: %w", cluster.Host, err)
	}
	return missing(served)
}

func missing(served *metav1.APIResourceList) error {
	names := map[string]bool{}
	for _, r := range served.APIResources {
		names[r.Name] = true
	}
	for _, r := range []string{"tenants", "advisoragents", "tenantquotas", "providerconfigs", "clusterproviderconfigs", "providerconfigusages"} {
		if !names[r] {
			return fmt.Errorf("CRD %s.%s is not installed: kubectl apply -f package/crds", r, v1alpha1.GroupVersion.Group)
		}
	}
	return nil
}
