// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/resource"
	"github.com/crossplane/function-sdk-go/response"
	corev1 "k8s.io/api/core/v1"
)

// fake is the function.
type fake struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
}

// RunFunction renders the templates of the input. What it cannot do is a fatal
// result.
func (f *fake) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, response.DefaultTTL)
	if err := run(req, rsp); err != nil {
		f.log.Info("Refused", "error", err)
		response.Fatal(rsp, fmt.Errorf("fake of function-patch-and-transform: %w", err))
	}
	return rsp, nil
}

// A state is what is observed and what is desired so far.
type state struct {
	observed *resource.Composite
	desired  *resource.Composite
	parts    map[resource.Name]resource.ObservedComposed
}

func run(req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) error {
	in, err := parse(req.GetInput())
	if err != nil {
		return fmt.Errorf("cannot use input: %w", err)
	}
	s, err := read(req)
	if err != nil {
		return fmt.Errorf("cannot read request: %w", err)
	}
	out, err := request.GetDesiredComposedResources(req)
	if err != nil {
		return fmt.Errorf("cannot read request: %w", err)
	}
	for _, t := range in.Resources {
		part, warnings, err := s.render(t)
		if err != nil {
			return fmt.Errorf("cannot render resource %q: %w", t.Name, err)
		}
		for _, w := range warnings {
			response.Warning(rsp, fmt.Errorf("resource %q: %w", t.Name, w))
		}
		if part == nil {
			s.desired.Ready = resource.ReadyFalse
			continue
		}
		out[resource.Name(t.Name)] = part
	}
	if err := response.SetDesiredCompositeResource(rsp, s.desired); err != nil {
		return err
	}
	return response.SetDesiredComposedResources(rsp, out)
}

func read(req *fnv1.RunFunctionRequest) (state, error) {
	var s state
	var err error
	if s.observed, err = request.GetObservedCompositeResource(req); err != nil {
		return s, err
	}
	if s.desired, err = request.GetDesiredCompositeResource(req); err != nil {
		return s, err
	}
	if s.parts, err = request.GetObservedComposedResources(req); err != nil {
		return s, err
	}
	s.desired.Resource.SetGroupVersionKind(s.observed.Resource.GroupVersionKind())
	return s, nil
}

// render makes the composed resource of the template and patches the composite
// from the one that is there. The result is nil as long as a value that is
// required for a new resource is missing.
func (s state) render(t template) (*resource.DesiredComposed, []error, error) {
	part := resource.NewDesiredComposed()
	part.Resource.SetUnstructuredContent(t.Base)
	there, exists := s.parts[resource.Name(t.Name)]
	if exists {
		part.Resource.SetName(there.Resource.GetName())
		part.Resource.SetNamespace(there.Resource.GetNamespace())
		if len(t.ReadinessChecks) > 0 || there.Resource.GetCondition(xpv2.TypeReady).Status == corev1.ConditionTrue {
			part.Ready = resource.ReadyTrue
		}
	}
	var warnings []error
	for i, p := range t.Patches {
		from, to := s.observed.Resource.Object, part.Resource.Object
		if p.Type == toComposite {
			if !exists {
				continue
			}
			from, to = there.Resource.Object, s.desired.Resource.Object
		}
		err := p.apply(from, to)
		switch {
		case err == nil:
		case !fieldpath.IsNotFound(err):
			return nil, nil, fmt.Errorf("patches[%d]: %w", i, err)
		case p.Policy.FromFieldPath != required:
		case exists:
			warnings = append(warnings, fmt.Errorf("left out patches[%d], whose field is required, because the resource exists: %w", i, err))
		default:
			return nil, append(warnings, fmt.Errorf("not made, because the field of patches[%d] is required: %w", i, err)), nil
		}
	}
	return part, warnings, nil
}
