// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rig

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// AuditEvent is one request to an API server, as its audit log has it. Which requests are
// in it is for the audit policy to say: on the test bed each write.
type AuditEvent struct {
	Verb       string `json:"verb"`
	UserAgent  string `json:"userAgent"`
	RequestURI string `json:"requestURI"`
	User       struct {
		Username string `json:"username"`
	} `json:"user"`
	ObjectRef struct {
		APIGroup    string `json:"apiGroup"`
		Resource    string `json:"resource"`
		Subresource string `json:"subresource"`
		Namespace   string `json:"namespace"`
		Name        string `json:"name"`
	} `json:"objectRef"`
}

// Kind names what the request was for, such as tenants/status.
func (e AuditEvent) Kind() string {
	return strings.TrimSuffix(e.ObjectRef.Resource+"/"+e.ObjectRef.Subresource, "/")
}

// String is the request in words.
func (e AuditEvent) String() string {
	return fmt.Sprintf("%s %s %s", e.User.Username, e.Verb, e.RequestURI)
}

// AuditMark is a place in an audit log.
type AuditMark int64

// MarkAudit is where the audit log ends now.
func MarkAudit(file string) (AuditMark, error) {
	info, err := os.Stat(file)
	if err != nil {
		return 0, fmt.Errorf("cannot find the audit log, which the test bed's API server writes: %w", err)
	}

	return AuditMark(info.Size()), nil
}

var errCut = errors.New("it was cut meanwhile")

// ReadAudit returns what was logged since the mark. A last line that is not
// complete yet is left out.
func ReadAudit(file string, since AuditMark) ([]AuditEvent, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("cannot open the audit log: %w", err)
	}
	defer func() { _ = f.Close() }()

	info, err := f.Stat()
	if err == nil && info.Size() < int64(since) {
		err = errCut
	}

	if err == nil {
		_, err = f.Seek(int64(since), io.SeekStart)
	}

	if err != nil {
		return nil, fmt.Errorf("cannot read the audit log from %d: %w", since, err)
	}

	return parseAudit(f)
}

func parseAudit(r io.Reader) ([]AuditEvent, error) {
	var out []AuditEvent

	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return out, nil
		}

		if err != nil {
			return nil, fmt.Errorf("cannot read the audit log: %w", err)
		}

		var e AuditEvent
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("cannot read a line of the audit log: %w", err)
		}

		out = append(out, e)
	}
}
