// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package function

import (
	"fmt"

	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/resource"
	"github.com/crossplane/function-sdk-go/resource/composed"
	"github.com/crossplane/function-sdk-go/response"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
	"github.com/kubeopera/provider-kubeopera/internal/cloudspace"
)

// Names of the composed resources.
const (
	nameTenant  resource.Name = "tenant"
	nameAdvisor resource.Name = "advisor"
	nameQuota   resource.Name = "quota"
)

// observed reads what there is of the CloudSpace.
func observed(req *fnv1.RunFunctionRequest, published resource.ConnectionDetails) (cloudspace.Observed, error) {
	o := cloudspace.Observed{Published: published}

	all, err := request.GetObservedComposedResources(req)
	if err != nil {
		return o, fmt.Errorf("cannot read the composed resources: %w", err)
	}

	o.Details = all[nameTenant].ConnectionDetails

	if o.Tenant, err = typed[v1alpha1.Tenant](all, nameTenant); err != nil {
		return o, err
	}

	if o.Advisor, err = typed[v1alpha1.AdvisorAgent](all, nameAdvisor); err != nil {
		return o, err
	}

	o.Quota, err = typed[v1alpha1.TenantQuota](all, nameQuota)

	return o, err
}

// typed is the composed resource of that name; nil when there is none.
func typed[T any](all map[resource.Name]resource.ObservedComposed, name resource.Name) (*T, error) {
	o, ok := all[name]
	if !ok {
		return nil, nil
	}

	out := new(T)
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Resource.Object, out); err != nil {
		return nil, fmt.Errorf("cannot read the composed resource %q: %w", name, err)
	}

	return out, nil
}

// setComposed adds what a CloudSpace is made of, and how that is.
func setComposed(rsp *fnv1.RunFunctionResponse, d cloudspace.Desired, s cloudspace.Summary) error {
	out := map[resource.Name]*resource.DesiredComposed{}
	add := func(name resource.Name, o any, ready bool) error {
		u, err := intent(o)
		if err != nil {
			return fmt.Errorf("cannot write the composed resource %q: %w", name, err)
		}

		out[name] = &resource.DesiredComposed{Resource: u, Ready: readiness(ready)}

		return nil
	}

	if err := add(nameTenant, d.Tenant, s.TenantReady); err != nil {
		return err
	}

	if err := add(nameQuota, d.Quota, s.QuotaReady); err != nil {
		return err
	}

	if d.Advisor != nil {
		if err := add(nameAdvisor, d.Advisor, s.AdvisorReady); err != nil {
			return err
		}
	}

	return response.SetDesiredComposedResources(rsp, out)
}

// intent is the object with nothing but what is wanted of it: Crossplane takes
// each field that it sees for an opinion. The SDK's composed.From would write
// numbers that are zero, too.
func intent(o any) (*composed.Unstructured, error) {
	u := composed.New()

	var err error
	if u.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(o); err != nil {
		return nil, err
	}

	delete(u.Object, "status")

	return u, nil
}

// setComposite writes the status of the CloudSpace, its readiness and, for a claim,
// its connection details.
func setComposite(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse, s cloudspace.Summary) error {
	xr, err := request.GetDesiredCompositeResource(req)
	if err != nil {
		return fmt.Errorf("cannot read the desired composite resource: %w", err)
	}

	status, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&s.Status)
	if err != nil {
		return fmt.Errorf("cannot write the status: %w", err)
	}

	for field, value := range status {
		if err := xr.Resource.SetValue("status."+field, value); err != nil {
			return fmt.Errorf("cannot write status.%s: %w", field, err)
		}
	}

	xr.Ready = readiness(s.Ready)

	for key, value := range s.Details {
		xr.ConnectionDetails[key] = value
	}

	return response.SetDesiredCompositeResource(rsp, xr)
}

func readiness(ready bool) resource.Ready {
	if ready {
		return resource.ReadyTrue
	}

	return resource.ReadyFalse
}
