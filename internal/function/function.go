// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package function lets Crossplane call what package cloudspace knows, as a
// composition function.
package function

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane/crossplane-runtime/v2/pkg/logging"
	fnv1 "github.com/crossplane/function-sdk-go/proto/v1"
	"github.com/crossplane/function-sdk-go/request"
	"github.com/crossplane/function-sdk-go/response"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/kubeopera/provider-kubeopera/internal/cloudspace"
)

// The condition of a CloudSpace that says whether its spec can be made as it is
// written. It stands on the claim, too.
const (
	TypeAccepted = "Accepted"

	// ReasonAccepted: all of the spec is in effect.
	ReasonAccepted = "Accepted"
	// ReasonInvalid: nothing is changed until the spec is corrected.
	ReasonInvalid = "Invalid"
	// ReasonImmutable: a part of the spec has no effect, since it cannot change.
	ReasonImmutable = "Immutable"
)

// soon is when Crossplane is to ask again for what no event announces.
const soon = 5 * time.Second

// A Function composes CloudSpaces.
type Function struct {
	fnv1.UnimplementedFunctionRunnerServiceServer

	log logging.Logger
}

// New returns a Function that logs what it refuses, and in debug what it does.
func New(l logging.Logger) *Function {
	return &Function{log: l}
}

// RunFunction composes one CloudSpace. A fatal result, for a spec that cannot be
// made or a request that cannot be read, leaves all that exists as it is: a result
// without the composed resources would have them deleted.
func (f *Function) RunFunction(_ context.Context, req *fnv1.RunFunctionRequest) (*fnv1.RunFunctionResponse, error) {
	rsp := response.To(req, response.DefaultTTL)
	log := f.log.WithValues("tag", req.GetMeta().GetTag())

	if err := f.compose(log, req, rsp); err != nil {
		log.Info("Cannot compose the CloudSpace", "error", err)
		response.Fatal(rsp, err)
	}

	return rsp, nil
}

func (f *Function) compose(log logging.Logger, req *fnv1.RunFunctionRequest, rsp *fnv1.RunFunctionResponse) error {
	u, err := request.GetObservedCompositeResource(req)
	if err != nil {
		return fmt.Errorf("cannot read the composite resource: %w", err)
	}

	xr, err := cloudspace.Parse(&u.Resource.Unstructured)
	if err != nil {
		response.ConditionFalse(rsp, TypeAccepted, ReasonInvalid).WithMessage(err.Error()).TargetCompositeAndClaim()

		return err
	}

	o, err := observed(req, u.ConnectionDetails)
	if err != nil {
		return err
	}

	d := cloudspace.Compose(xr, o)
	s := cloudspace.Summarize(xr, o, d)

	accept(rsp, d.Ignored)

	if s.AwaitsDetails {
		rsp.Meta.Ttl = durationpb.New(soon)
	}

	log.Debug("Composed a CloudSpace", "namespace", xr.Namespace, "name", xr.Name, "phase", s.Status.Phase, "message", s.Status.Message)

	return errors.Join(setComposed(rsp, d, s), setComposite(req, rsp, s))
}

// accept says whether all of the spec is in effect.
func accept(rsp *fnv1.RunFunctionResponse, ignored []string) {
	if len(ignored) == 0 {
		response.ConditionTrue(rsp, TypeAccepted, ReasonAccepted).TargetCompositeAndClaim()

		return
	}

	message := strings.Join(ignored, "; ")
	response.ConditionFalse(rsp, TypeAccepted, ReasonImmutable).WithMessage(message).TargetCompositeAndClaim()
	response.Warning(rsp, errors.New(message)).TargetCompositeAndClaim()
}
