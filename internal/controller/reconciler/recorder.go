// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"github.com/crossplane/crossplane-runtime/v2/pkg/controller"
	"github.com/crossplane/crossplane-runtime/v2/pkg/event"
	ctrl "sigs.k8s.io/controller-runtime"
)

// NewRecorder records the events of the controller of that name.
func NewRecorder(mgr ctrl.Manager, name string, o controller.Options) event.Recorder {
	//nolint:staticcheck // crossplane-runtime takes no recorder of the new events API.
	return event.NewAPIRecorder(mgr.GetEventRecorderFor(name), o.EventFilterFunctions...)
}
