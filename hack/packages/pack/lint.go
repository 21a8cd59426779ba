// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg/parser"
	extv1 "github.com/crossplane/crossplane/apis/v2/apiextensions/v1"
	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// part is a piece of a package, to be linted by itself so that an error can name
// its file.
type part struct {
	meta    runtime.Object
	objects []runtime.Object
}

// GetMeta returns the metadata.
func (p part) GetMeta() []runtime.Object { return []runtime.Object{p.meta} }

// GetObjects returns the objects.
func (p part) GetObjects() []runtime.Object { return p.objects }

// lint finds what Crossplane would refuse, or would fail at later.
func lint(s source) error {
	m, err := meta.Accessor(s.meta.object)
	if err != nil {
		return err
	}
	if m.GetName() == "" {
		return fmt.Errorf("%s: set metadata.name to the package's name", s.meta.file)
	}
	l, brings, err := linter(s.meta)
	if err != nil {
		return err
	}
	if err := l.Lint(part{meta: s.meta.object}); err != nil {
		return fmt.Errorf("%s: %w; set spec.crossplane.version to a range such as %q", s.meta.file, err, ">=v2.0.0")
	}
	seen := map[string]string{}
	for _, d := range s.objects {
		what, err := describe(d.object)
		if err != nil {
			return fmt.Errorf("%s: %w", d.file, err)
		}
		if l.Lint(part{meta: s.meta.object, objects: []runtime.Object{d.object}}) != nil {
			return fmt.Errorf("%s: %s cannot be in this package; %s", d.file, what, brings)
		}
		if other, ok := seen[what]; ok {
			return fmt.Errorf("%s: %s is in %s already; remove one", d.file, what, other)
		}
		seen[what] = d.file
	}
	return lintFunctions(s)
}

// linter returns the one for the kind of package, and says in words what such a
// package may bring.
func linter(m document) (l parser.Linter, brings string, err error) {
	switch kind := m.object.GetObjectKind().GroupVersionKind().Kind; kind {
	case pkgmetav1.ProviderKind:
		return xpkg.NewProviderLinter(), "a Provider brings CRDs and webhook configurations only, so move it into a Configuration", nil
	case pkgmetav1.FunctionKind:
		return xpkg.NewFunctionLinter(), "a Function brings the CRDs of its input only, so move it into a Provider or a Configuration", nil
	case pkgmetav1.ConfigurationKind:
		return xpkg.NewConfigurationLinter(), "a Configuration brings XRDs, Compositions, operations and activation policies only, so move it into a Provider", nil
	default:
		return nil, "", fmt.Errorf("%s: kind %q cannot be built; set it to Provider, Function or Configuration", m.file, kind)
	}
}

// describe names the object for a person.
func describe(o runtime.Object) (string, error) {
	m, err := meta.Accessor(o)
	if err != nil {
		return "", err
	}
	kind := o.GetObjectKind().GroupVersionKind().Kind
	if m.GetName() == "" {
		return "", fmt.Errorf("a %s has no name; set metadata.name", kind)
	}
	return fmt.Sprintf("%s %q", kind, m.GetName()), nil
}

// lintFunctions checks that Compositions call functions by the names under which
// Crossplane installs what the package depends on.
func lintFunctions(s source) error {
	for _, d := range s.objects {
		c, ok := d.object.(*extv1.Composition)
		if !ok {
			continue
		}
		for _, step := range c.Spec.Pipeline {
			if !slices.Contains(s.functions, step.FunctionRef.Name) {
				return fmt.Errorf("%s: step %q calls function %q, which is no dependency of the package; add it to %s, or call one of those that Crossplane installs with it: %s",
					d.file, step.Step, step.FunctionRef.Name, s.meta.file, strings.Join(s.functions, ", "))
			}
		}
	}
	return nil
}
