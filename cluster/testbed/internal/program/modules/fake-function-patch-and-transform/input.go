// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"sigs.k8s.io/json"
)

const (
	apiVersion = "pt.fn.crossplane.io/v1beta1"
	kind       = "Resources"

	fromComposite        = "FromCompositeFieldPath"
	toComposite          = "ToCompositeFieldPath"
	combineFromComposite = "CombineFromComposite"

	optional = "Optional"
	required = "Required"

	transformString = "string"
	transformMap    = "map"
	stringFormat    = "Format"
	combineString   = "string"

	checkNone = "None"
)

// resources is the function's input, as far as this fake knows it.
type resources struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Metadata   map[string]any `json:"metadata,omitempty"`
	Resources  []template     `json:"resources"`
}

// A template is one composed resource.
type template struct {
	Name    string         `json:"name"`
	Base    map[string]any `json:"base"`
	Patches []patch        `json:"patches,omitempty"`
	// ReadinessChecks are one of type None for what is ready as soon as it is there.
	ReadinessChecks []readinessCheck `json:"readinessChecks,omitempty"`
}

// A readinessCheck says what makes a composed resource ready.
type readinessCheck struct {
	Type string `json:"type"`
}

// A patch carries a value from the composite to the composed resource, or back.
type patch struct {
	// Type is fromComposite if it is empty.
	Type          string `json:"type,omitempty"`
	FromFieldPath string `json:"fromFieldPath,omitempty"`
	// ToFieldPath is FromFieldPath if it is empty.
	ToFieldPath string      `json:"toFieldPath,omitempty"`
	Combine     *combine    `json:"combine,omitempty"`
	Transforms  []transform `json:"transforms,omitempty"`
	Policy      policy      `json:"policy,omitzero"`
}

// A combine makes one string of several values.
type combine struct {
	Variables []variable `json:"variables"`
	Strategy  string     `json:"strategy"`
	String    format     `json:"string"`
}

type variable struct {
	FromFieldPath string `json:"fromFieldPath"`
}

// A transform changes the value on its way.
type transform struct {
	Type   string         `json:"type"`
	String *format        `json:"string,omitempty"`
	Map    map[string]any `json:"map,omitempty"`
}

// A format is one of package fmt. A combine's has no type.
type format struct {
	Type string `json:"type,omitempty"`
	Fmt  string `json:"fmt,omitempty"`
}

// A policy says what happens when the field to patch from is not there.
type policy struct {
	FromFieldPath string `json:"fromFieldPath,omitempty"`
}

// parse reads the input. It fails on all that this fake does not know, and names
// the field.
func parse(s *structpb.Struct) (resources, error) {
	var in resources
	b, err := s.MarshalJSON()
	if err != nil {
		return in, err
	}
	unknown, err := json.UnmarshalStrict(b, &in)
	if err := errors.Join(append(unknown, err)...); err != nil {
		return in, err
	}
	return in, in.check()
}

func (r resources) check() error {
	if r.APIVersion != apiVersion || r.Kind != kind {
		return fmt.Errorf("apiVersion, kind: must be %s, %s and not %q, %q", apiVersion, kind, r.APIVersion, r.Kind)
	}
	if len(r.Resources) == 0 {
		return errors.New("resources: must hold at least one")
	}
	seen := map[string]bool{}
	for i, t := range r.Resources {
		if err := t.check(); err != nil {
			return fmt.Errorf("resources[%d].%w", i, err)
		}
		if seen[t.Name] {
			return fmt.Errorf("resources[%d].name: %q is there twice", i, t.Name)
		}
		seen[t.Name] = true
	}
	return nil
}

func (t template) check() error {
	if t.Name == "" {
		return errors.New("name: must be set")
	}
	if len(t.Base) == 0 {
		return errors.New("base: must be set, this fake patches no resource of another function")
	}
	for i, c := range t.ReadinessChecks {
		if c.Type != checkNone {
			return fmt.Errorf("readinessChecks[%d].type: this fake knows %s, not %q", i, checkNone, c.Type)
		}
	}
	for i, p := range t.Patches {
		if err := p.check(); err != nil {
			return fmt.Errorf("patches[%d].%w", i, err)
		}
	}
	return nil
}

func (p patch) check() error {
	switch p.Type {
	case fromComposite, toComposite, "":
		if p.FromFieldPath == "" {
			return errors.New("fromFieldPath: must be set")
		}
	case combineFromComposite:
		if err := p.Combine.check(); err != nil {
			return fmt.Errorf("combine%w", err)
		}
		if p.ToFieldPath == "" {
			return errors.New("toFieldPath: must be set")
		}
	default:
		return fmt.Errorf("type: this fake knows %s, %s and %s, not %q", fromComposite, toComposite, combineFromComposite, p.Type)
	}
	if strings.Contains(p.to(), "[*]") {
		return fmt.Errorf("toFieldPath: this fake does not know wildcards, as in %q", p.to())
	}
	switch p.Policy.FromFieldPath {
	case optional, required, "":
	default:
		return fmt.Errorf("policy.fromFieldPath: must be %s or %s, not %q", optional, required, p.Policy.FromFieldPath)
	}
	for i, t := range p.Transforms {
		if err := t.check(); err != nil {
			return fmt.Errorf("transforms[%d].%w", i, err)
		}
	}
	return nil
}

func (c *combine) check() error {
	switch {
	case c == nil:
		return errors.New(": must be set")
	case len(c.Variables) == 0:
		return errors.New(".variables: must hold at least one")
	case c.Strategy != combineString:
		return fmt.Errorf(".strategy: must be %s, not %q", combineString, c.Strategy)
	case c.String.Fmt == "":
		return errors.New(".string.fmt: must be set")
	case c.String.Type != "":
		return errors.New(".string.type: is no field of a combine")
	}
	return nil
}

func (t transform) check() error {
	switch t.Type {
	case transformString:
		if t.String == nil || t.String.Type != stringFormat || t.String.Fmt == "" {
			return fmt.Errorf("string: must be set, with fmt and with type %s, the only one that this fake knows", stringFormat)
		}
	case transformMap:
		if len(t.Map) == 0 {
			return errors.New("map: must hold at least one pair")
		}
	default:
		return fmt.Errorf("type: this fake knows %s and %s, not %q", transformString, transformMap, t.Type)
	}
	return nil
}

// to is the path of the field that is patched.
func (p patch) to() string {
	if p.ToFieldPath == "" {
		return p.FromFieldPath
	}
	return p.ToFieldPath
}
