// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/crossplane/crossplane-runtime/v2/pkg/fieldpath"
)

// apply sets the field of the object "to", from the fields of the object "from".
// The error satisfies fieldpath.IsNotFound if one of those is not there.
func (p patch) apply(from, to map[string]any) error {
	v, err := p.value(fieldpath.Pave(from))
	if err != nil {
		return err
	}
	for i, t := range p.Transforms {
		if v, err = t.apply(v); err != nil {
			return fmt.Errorf("transforms[%d]: %w", i, err)
		}
	}
	return fieldpath.Pave(to).SetValue(p.to(), v)
}

// value is what the patch starts from.
func (p patch) value(from *fieldpath.Paved) (any, error) {
	if p.Combine == nil {
		return from.GetValue(p.FromFieldPath)
	}
	in := make([]any, len(p.Combine.Variables))
	for i, v := range p.Combine.Variables {
		var err error
		if in[i], err = from.GetValue(v.FromFieldPath); err != nil {
			return nil, err
		}
	}
	return fmt.Sprintf(p.Combine.String.Fmt, in...), nil
}

func (t transform) apply(v any) (any, error) {
	if t.Type == transformString {
		return fmt.Sprintf(t.String.Fmt, v), nil
	}
	key, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("map: %v is no string", v)
	}
	out, ok := t.Map[key]
	if !ok {
		return nil, fmt.Errorf("map: holds no %q", key)
	}
	return out, nil
}
