// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package tenantapi

import (
	"bytes"
	"crypto/tls"
	"sync"
)

// session keeps the last TLS session with a server, so that the next handshake with it
// resumes that. It is kept encoded, as decoded it holds the server's certificates too.
type session struct {
	mu            sync.Mutex
	server        string
	ticket, state []byte
}

var _ tls.ClientSessionCache = &session{}

// Put keeps a session in place of the last one. Nil, or what cannot be encoded, is none.
func (s *session) Put(server string, last *tls.ClientSessionState) {
	s.mu.Lock()
	defer s.mu.Unlock()

	s.state = nil

	ticket, state, err := last.ResumptionState()
	if err != nil || state == nil {
		return
	}

	if encoded, err := state.Bytes(); err == nil {
		s.server, s.ticket, s.state = server, ticket, bytes.Clone(encoded)
	}
}

// Get is the session with that server, if that is the last one.
func (s *session) Get(server string) (*tls.ClientSessionState, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.state == nil || s.server != server {
		return nil, false
	}

	state, err := tls.ParseSessionState(s.state)
	if err != nil {
		return nil, false
	}

	last, err := tls.NewResumptionState(s.ticket, state)

	return last, err == nil
}
