// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package app

import (
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

const monitorTemplate = `---
apiVersion: monitoring.example.org/v1
kind: Monitor
metadata: {name: {{ .Release.Name }}}
`

// TestR5CRDsOfAnAddOnAppearLater holds that a Tenant whose chart asks for a kind that
// the host does not serve says so, and becomes Ready once an add-on brings it, by the
// same process.
func TestR5CRDsOfAnAddOnAppearLater(t *testing.T) {
	t.Parallel()
	h := newHostCluster(t, monitorTemplate)
	h.configure(nil)
	startReplica(t, h.kubeconfig, nil)

	h.tenant("early")
	h.await("early", "it says which kind is missing", time.Minute, func(t *v1alpha1.Tenant) bool {
		return t.Status.Phase == v1alpha1.PhaseFailed && strings.Contains(t.Status.Message, `no matches for kind "Monitor"`)
	})

	h.create(&apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "monitors.monitoring.example.org"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "monitoring.example.org", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "monitors", Kind: "Monitor"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: ptr.To(true)}},
			}},
		},
	})
	h.comeUp("early")
	h.await("early", "it is Ready", time.Minute, ready)
}
