// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package helm

import (
	"errors"
	"fmt"
	"strings"
)

// What callers branch on. Each is wrapped with the particulars, so compare
// with errors.Is.
var (
	// ErrReleaseNotFound says that no revision of the release is stored. An
	// API server that cannot be asked never yields it.
	ErrReleaseNotFound = errors.New("release not found")

	// ErrReleaseLocked says that the newest revision is pending: its writer may
	// still be at work. Wait, or Unlock it once it is stale.
	ErrReleaseLocked = errors.New("release is locked by a pending revision")

	// ErrReleaseChanged says that the release is no longer what the caller saw:
	// Get it again and decide anew.
	ErrReleaseChanged = errors.New("release has changed since it was read")

	// ErrValuesRefused says that the values cannot be used with the chart,
	// whatever the state of the cluster. Nothing was written.
	ErrValuesRefused = errors.New("values refused")

	// ErrHostForbids says that the host does not allow what release records
	// need. Nothing was written.
	ErrHostForbids = errors.New("host forbids what Helm needs")

	// ErrChartNotFound says that the registry answered and has no such chart,
	// or no such version of it.
	ErrChartNotFound = errors.New("chart not found")

	// ErrChartInvalid says that what the registry served is not the chart that
	// was asked for: too large, damaged, or of another name or version.
	ErrChartInvalid = errors.New("chart invalid")

	// ErrRegistryUnreachable says that the registry gave no usable answer. The
	// message names the layer: DNS, connect, TLS, timeout or HTTP.
	ErrRegistryUnreachable = errors.New("registry unreachable")

	// ErrRegistryUnauthorized says that the registry refused the credentials,
	// or the lack of them.
	ErrRegistryUnauthorized = errors.New("registry refused the credentials")
)

// oneLine makes Helm's multi-line errors fit for a condition's message, and
// keeps what they wrap.
func oneLine(err error) error {
	if err == nil {
		return nil
	}
	msg := strings.Join(strings.Fields(err.Error()), " ")
	if msg == err.Error() {
		return err
	}
	return &flatError{msg: msg, err: err}
}

type flatError struct {
	msg string
	err error
}

func (e *flatError) Error() string { return e.msg }
func (e *flatError) Unwrap() error { return e.err }

// safely runs fn and turns a panic into an error: charts are foreign code, and
// one that upsets the template engine must not take the process down.
func safely[T any](fn func() (T, error)) (out T, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	return fn()
}
