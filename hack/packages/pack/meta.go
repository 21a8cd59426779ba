// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"
	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	pkgmetav1 "github.com/crossplane/crossplane/apis/v2/pkg/meta/v1"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// labelled are annotations of a package's metadata, and the labels that say the
// same of its image.
var labelled = map[string]string{
	"friendly-name.meta.crossplane.io": "org.opencontainers.image.title",
	"meta.crossplane.io/description":   "org.opencontainers.image.description",
	"meta.crossplane.io/license":       "org.opencontainers.image.licenses",
	"meta.crossplane.io/maintainer":    "org.opencontainers.image.authors",
	"meta.crossplane.io/source":        "org.opencontainers.image.source",
}

// labels are those of the package's image.
func labels(m document, version string) (map[string]string, error) {
	o, err := meta.Accessor(m.object)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	if version != "" {
		out["org.opencontainers.image.version"] = version
	}
	for annotation, label := range labelled {
		if v := strings.TrimSpace(o.GetAnnotations()[annotation]); v != "" {
			out[label] = v
		}
	}
	return out, nil
}

// pin writes the package's version into its dependencies on siblings, and checks
// the versions of the others. It also returns the names that Crossplane gives to
// the functions among them.
func pin(p Package, content []byte) (pinned []byte, functions []string, err error) {
	m := map[string]any{}
	if err := yaml.Unmarshal(content, &m); err != nil {
		return nil, nil, fmt.Errorf("%w; write an object", err)
	}
	deps, found, err := unstructured.NestedSlice(m, "spec", "dependsOn")
	if err != nil {
		return nil, nil, fmt.Errorf("%w; write a list", err)
	}
	if !found {
		return content, nil, nil
	}
	for i := range deps {
		d, ok := deps[i].(map[string]any)
		if !ok {
			return nil, nil, fmt.Errorf("spec.dependsOn[%d] is not an object; give it apiVersion, kind, package and version", i)
		}
		repo, err := p.pinOne(d)
		if err != nil {
			return nil, nil, fmt.Errorf("spec.dependsOn[%d]: %w", i, err)
		}
		if d["kind"] == pkgmetav1.FunctionKind || d["function"] != nil {
			functions = append(functions, xpkg.ToDNSLabel(repo.RepositoryStr()))
		}
	}
	if err := unstructured.SetNestedSlice(m, deps, "spec", "dependsOn"); err != nil {
		return nil, nil, err
	}
	pinned, err = yaml.Marshal(m)
	return pinned, functions, err
}

// pinOne returns the repository of the dependency.
func (p Package) pinOne(d map[string]any) (name.Repository, error) {
	repo, err := repository(d)
	if err != nil {
		return repo, err
	}
	version, _, err := unstructured.NestedString(d, "version")
	if err != nil {
		return repo, err
	}
	if p.Siblings == "" || !strings.HasPrefix(repo.Name(), p.Siblings+"/") {
		return repo, checkConstraint(version)
	}
	if version != "" {
		return repo, fmt.Errorf("remove version %q: %s is built together with this package, and gets the same version", version, repo)
	}
	if p.Version == "" {
		return repo, errors.New("cannot pin a sibling: the package is built without a version")
	}
	d["version"] = p.Version
	return repo, nil
}

// repository is where the dependency's package is. Older packages name it by the
// package's kind.
func repository(d map[string]any) (name.Repository, error) {
	var of []string
	for _, field := range []string{"package", "provider", "configuration", "function"} {
		s, _, err := unstructured.NestedString(d, field)
		if err != nil {
			return name.Repository{}, err
		}
		of = append(of, s)
	}
	repo, err := name.NewRepository(cmp.Or(of...), name.StrictValidation)
	if err != nil {
		return name.Repository{}, fmt.Errorf("%w; name a package with its registry and without a tag", err)
	}
	return repo, nil
}

// checkConstraint accepts what Crossplane does: a digest or a range of versions.
func checkConstraint(s string) error {
	if _, err := v1.NewHash(s); err == nil {
		return nil
	}
	if _, err := semver.NewConstraint(s); err != nil {
		return fmt.Errorf("version %q: %w; set it to a version, a range such as %q, or a digest", s, err, ">=v1.2.0")
	}
	return nil
}
