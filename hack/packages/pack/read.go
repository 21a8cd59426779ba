// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package pack

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"

	"github.com/crossplane/crossplane-runtime/v2/pkg/xpkg"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	yamlutil "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// A source is what the files of a package hold.
type source struct {
	meta    document
	objects []document
	// functions are the names under which Crossplane installs those that the
	// package depends on.
	functions []string
}

// A document is one object of a file.
type document struct {
	// file is where it stands.
	file string
	// object is its typed form.
	object runtime.Object
	// content is its YAML.
	content []byte
}

// schemes know the kinds of metadata and of what a package may bring.
type schemes struct {
	metas, objects *runtime.Scheme
}

func (s schemes) source(p Package) (source, error) {
	src, err := s.meta(p)
	if err != nil {
		return source{}, err
	}
	files, err := list(p)
	if err != nil {
		return source{}, err
	}
	for _, f := range files {
		docs, err := s.read(p.Files, f)
		if err != nil {
			return source{}, err
		}
		src.objects = append(src.objects, docs...)
	}
	return src, nil
}

func newSchemes() (schemes, error) {
	metas, err := xpkg.BuildMetaScheme()
	if err != nil {
		return schemes{}, fmt.Errorf("cannot know the kinds of metadata: %w", err)
	}
	objects, err := xpkg.BuildObjectScheme()
	if err != nil {
		return schemes{}, fmt.Errorf("cannot know the kinds of objects: %w", err)
	}
	return schemes{metas: metas, objects: objects}, nil
}

// decode reads one object of a kind that the scheme knows. It is strict, or a
// misspelt field would be left out without a word.
func decode(s *runtime.Scheme, content []byte) (runtime.Object, error) {
	d := json.NewSerializerWithOptions(json.DefaultMetaFactory, s, s, json.SerializerOptions{Yaml: true, Strict: true})
	o, _, err := d.Decode(content, nil, nil)
	return o, err
}

// meta reads the metadata and fills in the versions of siblings.
func (s schemes) meta(p Package) (source, error) {
	docs, err := split(p.Files, p.Meta)
	if err != nil {
		return source{}, err
	}
	if len(docs) != 1 {
		return source{}, fmt.Errorf("%s: holds %d objects; leave in it only the package's metadata, of meta.pkg.crossplane.io/v1", p.Meta, len(docs))
	}
	content, functions, err := pin(p, docs[0])
	if err != nil {
		return source{}, fmt.Errorf("%s: %w", p.Meta, err)
	}
	o, err := decode(s.metas, content)
	if runtime.IsNotRegisteredError(err) {
		return source{}, fmt.Errorf("%s: %w; set apiVersion to meta.pkg.crossplane.io/v1 and kind to Provider, Function or Configuration", p.Meta, err)
	}
	if err != nil {
		return source{}, fmt.Errorf("%s: %w; correct it", p.Meta, err)
	}
	return source{meta: document{file: p.Meta, object: o, content: content}, functions: functions}, nil
}

// read reads the objects of a file.
func (s schemes) read(files fs.FS, file string) ([]document, error) {
	docs, err := split(files, file)
	if err != nil {
		return nil, err
	}
	out := make([]document, 0, len(docs))
	for _, d := range docs {
		o, err := decode(s.objects, d)
		if runtime.IsNotRegisteredError(err) {
			return nil, fmt.Errorf("%s: %w; a package cannot bring this kind, take it out", file, err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w; correct it", file, err)
		}
		out = append(out, document{file: file, object: o, content: d})
	}
	return out, nil
}

// split returns the documents of a file of YAML, without the empty ones.
func split(files fs.FS, file string) ([][]byte, error) {
	b, err := fs.ReadFile(files, file)
	if err != nil {
		return nil, fmt.Errorf("cannot read a package's file: %w", err)
	}
	var out [][]byte
	r := yamlutil.NewYAMLReader(bufio.NewReader(bytes.NewReader(b)))
	for {
		d, err := r.Read()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		j, err := yaml.YAMLToJSON(d)
		if err != nil {
			return nil, fmt.Errorf("%s: %w; correct the YAML", file, err)
		}
		if string(j) != "null" {
			out = append(out, d)
		}
	}
}

// list returns the files of objects: paths in the order that is given, and those
// of a folder in the order of their names.
func list(p Package) ([]string, error) {
	var out []string
	for _, root := range p.Objects {
		err := fs.WalkDir(p.Files, root, func(file string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			ext := path.Ext(file)
			if d.IsDir() || file != root && ext != ".yaml" && ext != ".yml" || file == p.Meta {
				return nil
			}
			out = append(out, file)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("cannot list a package's files: %w", err)
		}
	}
	return out, nil
}

// stream is the source as one stream of YAML.
func (s source) stream() []byte {
	docs := [][]byte{s.meta.content}
	for _, o := range s.objects {
		docs = append(docs, o.content)
	}
	return bytes.Join(docs, []byte("\n---\n"))
}
