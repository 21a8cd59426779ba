// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package cloudspace

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// An XR is a CloudSpace as Crossplane has it: the namespaced CloudSpace itself, or
// the cluster-scoped XCloudSpace of a claim.
type XR struct {
	Name string
	UID  types.UID
	// Namespace that everything is composed in: the XR's own, or its claim's.
	Namespace string
	// Claimed says that the XR belongs to a claim, and hands connection details on
	// to it.
	Claimed bool
	Spec    Spec
}

// Parse reads an XR and checks it. The error says in one line what is wrong with
// which fields, and the remedy.
func Parse(u *unstructured.Unstructured) (XR, error) {
	xr := XR{Name: u.GetName(), UID: u.GetUID(), Namespace: u.GetNamespace()}

	spec, ok := u.Object["spec"].(map[string]any)
	if !ok {
		return xr, fmt.Errorf("spec is not an object: %s says what it may be", explain(u.GetAPIVersion(), "spec"))
	}

	var decoded error
	if xr.Spec, decoded = decode(spec, u.GetAPIVersion()); decoded == nil {
		decoded = xr.Spec.check()
	}

	return xr, oneLine(errors.Join(xr.identify(u), decoded))
}

// identify finds out where the XR belongs.
func (xr *XR) identify(u *unstructured.Unstructured) error {
	var errs []error
	if xr.UID == "" {
		errs = append(errs, errors.New("metadata.uid is not set: the API server sets it, and whoever renders from a file writes one into it"))
	}

	if xr.Namespace != "" {
		return errors.Join(errs...)
	}

	xr.Claimed = true
	if xr.Namespace, _, _ = unstructured.NestedString(u.Object, "spec", "claimRef", "namespace"); xr.Namespace == "" {
		errs = append(errs, fmt.Errorf("spec.claimRef is not set, and %s %q has no namespace of its own to make the CloudSpace in: delete it, and create a claim in the team's namespace instead (kind CloudSpace of claims.kubeopera.io/v1alpha1)",
			u.GetKind(), xr.Name))
	}

	return errors.Join(errs...)
}

// explain is the command that describes a field of CloudSpaces. Two APIs may have
// them, so that it names one.
func explain(apiVersion, field string) string {
	return "kubectl explain cloudspace." + field + " --api-version=" + apiVersion
}

// oneLine is the error for a place that holds one line, such as a condition.
func oneLine(err error) error {
	if err == nil {
		return nil
	}

	return errors.New(strings.ReplaceAll(err.Error(), "\n", "; "))
}
