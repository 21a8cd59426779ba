// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// level is where a test runs; the later ones are the more real.
type level int

const (
	pure level = iota
	fakeHost
	apiServer
	testBed
)

func (l level) String() string {
	return [...]string{"pure function", "fake host", "API server", "test bed"}[l]
}

// test is one that is named for faults.
type test struct {
	faults []string
	name   string
	file   string
	level  level
}

var (
	// TestH1StaleRelease, FuzzQ4Quantities.
	functionName = regexp.MustCompile(`^(?:Test|Fuzz)([A-Z][0-9]+)[A-Z]\w+$`)
	// "H1: a stale release", "D9, H4: killed".
	textName = regexp.MustCompile(`^([A-Z][0-9]+(?:, [A-Z][0-9]+)*): \S`)
)

// namers are the functions whose first argument names a test.
var namers = []string{"Run", "It", "Entry", "Describe", "DescribeTable", "Context", "When"}

// doubles are the packages that stand in for a server.
var doubles = []string{
	"net/http/httptest",
	"sigs.k8s.io/controller-runtime/pkg/client/fake",
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor",
	"github.com/kubeopera/provider-kubeopera/internal/controller/inside/insidetest",
}

// scan finds the tests that are named for faults, the most real first.
func scan(root fs.FS) ([]test, error) {
	var found []test

	faked := map[string]bool{}

	err := fs.WalkDir(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && p != "." && (strings.HasPrefix(d.Name(), ".") || p == "bin"):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(p, "_test.go"):
			return nil
		}

		in, fake, err := scanFile(root, p)
		faked[path.Dir(p)] = faked[path.Dir(p)] || fake
		found = append(found, in...)

		return err
	})
	if err != nil {
		return nil, fmt.Errorf("cannot look through the tests: %w", err)
	}

	for i, t := range found {
		if t.level == pure && faked[path.Dir(t.file)] {
			found[i].level = fakeHost
		}
	}

	slices.SortStableFunc(found, func(a, b test) int {
		return cmp.Or(cmp.Compare(b.level, a.level), cmp.Compare(a.file, b.file), cmp.Compare(a.name, b.name))
	})

	return found, nil
}

// scanFile finds the tests of one file, and whether it uses a double of a server.
func scanFile(root fs.FS, file string) ([]test, bool, error) {
	src, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, false, err
	}

	f, err := parser.ParseFile(token.NewFileSet(), file, src, parser.ParseComments)
	if err != nil {
		return nil, false, err
	}

	var (
		found []test
		where = levelOf(file, f)
	)

	add := func(name string, faults []string) {
		if len(faults) > 0 {
			found = append(found, test{faults: faults, name: name, file: file, level: where})
		}
	}

	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			if m := functionName.FindStringSubmatch(n.Name.Name); m != nil && isTest(n) {
				add(n.Name.Name, m[1:])
			}
		case *ast.CallExpr:
			if slices.Contains(namers, calledName(n)) && len(n.Args) > 0 {
				add(textOf(n.Args[0]))
			}
		case *ast.RangeStmt:
			for _, table := range tablesOf(n, f) {
				for _, e := range table.Elts {
					if kv, ok := e.(*ast.KeyValueExpr); ok {
						add(textOf(kv.Key))
					}
				}
			}
		}

		return true
	})

	return found, slices.ContainsFunc(f.Imports, isDouble), nil
}

// isTest says whether go test runs the function: one that takes a *testing.T or a
// *testing.F, and does something with it.
func isTest(f *ast.FuncDecl) bool {
	if f.Recv != nil || f.Type.Params.NumFields() != 1 || f.Body == nil || len(f.Body.List) == 0 {
		return false
	}

	p, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}

	t, ok := p.X.(*ast.SelectorExpr)

	return ok && (t.Sel.Name == "T" || t.Sel.Name == "F")
}

// tablesOf are the literals over which the loop goes, if it names a test by each key:
// the one that stands there, or those that are given to the variable of that name.
func tablesOf(loop *ast.RangeStmt, f *ast.File) []*ast.CompositeLit {
	in := enclosing(f, loop)
	if !namesTests(loop, in) {
		return nil
	}

	switch x := loop.X.(type) {
	case *ast.CompositeLit:
		return []*ast.CompositeLit{x}
	case *ast.Ident:
		return literalsOf(x.Name, in)
	default:
		return nil
	}
}

// namesTests says whether the loop names a test by each key, or makes it a key of what
// another loop in the declaration names tests by.
func namesTests(loop *ast.RangeStmt, in ast.Node) bool {
	if runsEach(loop) {
		return true
	}

	key, found := beginning(loop.Key), false

	ast.Inspect(loop.Body, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok {
			to, ok := a.Lhs[0].(*ast.IndexExpr)
			found = found || ok && key != "" && beginning(to.Index) == key && areTests(beginning(to.X), in)
		}

		return !found
	})

	return found
}

// runsEach says whether the loop names a test by each key.
func runsEach(loop *ast.RangeStmt) bool {
	key, found := beginning(loop.Key), false

	ast.Inspect(loop.Body, func(n ast.Node) bool {
		c, ok := n.(*ast.CallExpr)
		found = found || ok && key != "" && slices.Contains(namers, calledName(c)) && len(c.Args) > 0 && beginning(c.Args[0]) == key

		return !found
	})

	return found
}

// areTests says whether a loop in the declaration names a test by each key of the variable.
func areTests(variable string, in ast.Node) bool {
	found := false

	ast.Inspect(in, func(n ast.Node) bool {
		loop, ok := n.(*ast.RangeStmt)
		found = found || ok && variable != "" && beginning(loop.X) == variable && runsEach(loop)

		return !found
	})

	return found
}

// beginning is the variable with which the text begins; empty if it is anything else.
func beginning(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.BinaryExpr:
		return beginning(e.X)
	default:
		return ""
	}
}

// enclosing is the declaration in which the loop stands.
func enclosing(f *ast.File, loop ast.Node) ast.Node {
	for _, d := range f.Decls {
		if d.Pos() <= loop.Pos() && loop.End() <= d.End() {
			return d
		}
	}

	return f
}

func literalsOf(variable string, in ast.Node) []*ast.CompositeLit {
	var out []*ast.CompositeLit

	ast.Inspect(in, func(n ast.Node) bool {
		if a, ok := n.(*ast.AssignStmt); ok && beginning(a.Lhs[0]) == variable {
			if l, ok := a.Rhs[0].(*ast.CompositeLit); ok {
				out = append(out, l)
			}
		}

		return true
	})

	return out
}

func isDouble(i *ast.ImportSpec) bool {
	p, err := strconv.Unquote(i.Path.Value)

	return err == nil && slices.Contains(doubles, p)
}

// levelOf tells by its place and its build constraint where a file's tests run.
func levelOf(file string, f *ast.File) level {
	if strings.HasPrefix(file, "cluster/e2e/") {
		return testBed
	}

	for _, group := range f.Comments {
		for _, c := range group.List {
			if x, err := constraint.Parse(c.Text); err == nil && needs(x, "envtest") {
				return apiServer
			}
		}
	}

	return pure
}

// needs says that the constraint is met with the tag, and not without any.
func needs(x constraint.Expr, tag string) bool {
	return x.Eval(func(t string) bool { return t == tag }) && !x.Eval(func(string) bool { return false })
}

func calledName(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	default:
		return ""
	}
}

// textOf is a literal's text, and the faults that it names.
func textOf(e ast.Expr) (string, []string) {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return "", nil
	}

	s, err := strconv.Unquote(l.Value)
	if err != nil {
		return "", nil
	}

	m := textName.FindStringSubmatch(s)
	if m == nil {
		return s, nil
	}

	return s, strings.Split(m[1], ", ")
}
