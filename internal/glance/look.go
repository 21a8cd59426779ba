// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package glance makes two routine looks at an object that is as it should be cost one
// request.
//
// What a look comes to follows from what it reads. A [Look] remembers its reads, and
// which versions of objects they gave. A glance asks the same again: of what caches
// hold, everything; of what only an API server knows, one thing at every other glance, by
// turns something that runs and something else. As long as all is of the same version, a
// look would come to what it came to before.
package glance

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	kerrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

// absent is the version of what is not there.
const absent = "absent"

// Ask gives the version of what a read gives: the same text as long as nothing of it
// is changed, and another from then on.
type Ask func(ctx context.Context) (string, error)

// Look remembers what one look at an object reads. It is safe for concurrent use.
type Look struct {
	mu sync.Mutex
	// each is asked at each glance. At every other, one of what runs and one of the rest
	// are asked by turns.
	each, running, rest []question
	// glances counts them.
	glances int
	// failed says that a read failed, so that nothing follows from what was read.
	failed bool
}

// question is a read that can be repeated.
type question struct {
	ask     Ask
	version string
}

// Asked remembers a read of an API server that was not made through a client of the
// Look: what version it gave, or why it failed, and how to ask for it again.
func (l *Look) Asked(version string, err error, again Ask) {
	l.remember(&l.rest, version, err, again)
}

func (l *Look) remember(where *[]question, version string, err error, again Ask) {
	l.mu.Lock()
	defer l.mu.Unlock()

	if err != nil {
		l.failed = true
		return
	}

	*where = append(*where, question{ask: again, version: version})
}

// same says whether all caches, and the API server whose turn it is, if any, say what
// they said.
func (l *Look) same(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()

	if l.failed {
		return false
	}

	for _, q := range append(slices.Clip(l.each), l.inTurn()...) {
		if version, err := q.ask(ctx); err != nil || version != q.version {
			return false
		}
	}

	return true
}

// inTurn is what an API server is to be asked now. At the first glance, and at every other
// from then on, that is nothing: all was just read.
func (l *Look) inTurn() []question {
	n := l.glances
	l.glances++

	if n%2 == 0 {
		return nil
	}

	n /= 2
	these := l.running

	switch {
	case len(l.running)+len(l.rest) == 0:
		return nil
	case len(l.running) == 0:
		these = l.rest
	case len(l.rest) > 0:
		if n%2 == 1 {
			these = l.rest
		}

		n /= 2
	}

	return these[n%len(these):][:1]
}

// versionOf an object that was read, or not found, by err.
func versionOf(o client.Object, err error) (string, error) {
	switch {
	case kerrors.IsNotFound(err):
		return absent, nil
	case err != nil:
		return "", err
	default:
		return stateOf(o), nil
	}
}

// stateOf is the same text as long as an object is the same and nothing of it changed
// that a look could depend on. Of provider configurations that is their spec: their
// status counts their users, and changes with each new Tenant.
func stateOf(o metav1.Object) string {
	switch o := o.(type) {
	case *v1alpha1.ProviderConfig, *v1alpha1.ClusterProviderConfig:
		return fmt.Sprintf("%s/generation %d", o.GetUID(), o.GetGeneration())
	default:
		return fmt.Sprintf("%s/%s", o.GetUID(), o.GetResourceVersion())
	}
}

// versionOfAll objects of a list that was read, in any order.
func versionOfAll(l client.ObjectList, err error) (string, error) {
	if err != nil {
		return "", err
	}

	var all []string

	err = meta.EachListItem(l, func(item runtime.Object) error {
		o, err := meta.Accessor(item)
		if err == nil {
			all = append(all, stateOf(o))
		}

		return err
	})

	slices.Sort(all)
	sum := sha256.Sum256(fmt.Append(nil, all, l.GetContinue() != ""))

	return string(sum[:]), err
}
