// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

//go:build envtest

package crash

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// down is for how long the provider is dead before it is started again, as far as the
// records of releases tell. It is longer than the time for which a pending revision
// may have a living writer.
const down = 2 * time.Minute

// age has all records of releases that are pending be that much older: nobody
// waits here as long.
func age(ctx context.Context, c client.Client) error {
	l := &corev1.SecretList{}
	if err := c.List(ctx, l, client.MatchingLabels{"owner": "helm"}); err != nil {
		return fmt.Errorf("cannot list the records of releases: %w", err)
	}

	for i := range l.Items {
		s := &l.Items[i]
		switch s.GetLabels()["status"] {
		case "pending-install", "pending-upgrade", "pending-rollback", "uninstalling":
		default:
			continue
		}

		if err := ageRecord(s); err != nil {
			return fmt.Errorf("cannot age record %q: %w", s.GetName(), err)
		}

		if err := c.Update(ctx, s); err != nil {
			return fmt.Errorf("cannot age record %q: %w", s.GetName(), err)
		}
	}

	return nil
}

// ageRecord moves all times of the record back: its labels, its fields' times,
// and those of the release in it.
func ageRecord(s *corev1.Secret) error {
	// One empty entry takes all entries away.
	s.SetManagedFields([]metav1.ManagedFieldsEntry{{}})

	for _, name := range []string{"createdAt", "modifiedAt"} {
		if at, err := strconv.ParseInt(s.Labels[name], 10, 64); err == nil {
			s.Labels[name] = strconv.FormatInt(at-int64(down.Seconds()), 10)
		}
	}

	release, err := unpack(s.Data["release"])
	if err != nil {
		return err
	}

	info, ok := release["info"].(map[string]any)
	if !ok {
		return errors.New("it has no info")
	}

	for _, name := range []string{"last_deployed", "deleted"} {
		text, _ := info[name].(string)
		if at, err := time.Parse(time.RFC3339Nano, text); err == nil && !at.IsZero() {
			info[name] = at.Add(-down).Format(time.RFC3339Nano)
		}
	}

	s.Data["release"], err = pack(release)

	return err
}

func unpack(raw []byte) (map[string]any, error) {
	zipped, err := base64.StdEncoding.DecodeString(string(raw))
	if err != nil {
		return nil, err
	}

	r, err := gzip.NewReader(bytes.NewReader(zipped))
	if err != nil {
		return nil, err
	}

	plain, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}

	var out map[string]any

	return out, json.Unmarshal(plain, &out)
}

func pack(release map[string]any) ([]byte, error) {
	plain, err := json.Marshal(release)
	if err != nil {
		return nil, err
	}

	var zipped bytes.Buffer

	w := gzip.NewWriter(&zipped)
	_, err = w.Write(plain)

	if err := errors.Join(err, w.Close()); err != nil {
		return nil, err
	}

	return []byte(base64.StdEncoding.EncodeToString(zipped.Bytes())), nil
}
