// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package app

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/resource"
	"github.com/crossplane/crossplane-runtime/v2/pkg/statemetrics"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// counter counts the objects of one kind at each interval of the metrics. A recorder of
// the runtime keeps a copy of all that it counted, so that each count has a new one.
func counter(c client.Client, o controller.Options, empty func() resource.ManagedList) manager.RunnableFunc {
	return func(ctx context.Context) error {
		err := wait.PollUntilContextCancel(ctx, o.MetricOptions.PollStateMetricInterval, false, func(ctx context.Context) (bool, error) {
			r := statemetrics.NewMRStateRecorder(uncopied{Client: c}, o.Logger, o.MetricOptions.MRStateMetrics, empty(), 0)
			return false, r.Record(ctx)
		})
		if err != nil && ctx.Err() == nil {
			return fmt.Errorf("cannot count %T: %w", empty(), err)
		}
		return nil
	}
}

// uncopied lists what the cache has without a copy. Who reads by it changes nothing.
type uncopied struct{ client.Client }

func (c uncopied) List(ctx context.Context, l client.ObjectList, opts ...client.ListOption) error {
	return c.Client.List(ctx, l, append(opts, client.UnsafeDisableDeepCopy)...)
}
