// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package reconciler

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	xpv2 "github.com/crossplane/crossplane/apis/v2/core/v2"
	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/kubeopera/provider-kubeopera/apis/v1alpha1"
)

var epoch = metav1.NewTime(time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC))

func TestMessage(t *testing.T) {
	t.Parallel()

	full := strings.Repeat("a", MaxMessageLength)

	cases := map[string]struct {
		reason   string
		in, want string
	}{
		"Empty":   {"nothing stays nothing", "", ""},
		"Short":   {"what fits stays", "all well", "all well"},
		"Exact":   {"the limit itself fits", full, full},
		"Long":    {"what is longer says that it was cut", full + "b", full[3:] + "..."},
		"Halved":  {"no character is cut in two", full[4:] + "ééé", full[4:] + "..."},
		"Invalid": {"what is no text would be refused", "bad \xff byte", "bad  byte"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := Message(tc.in)
			if got != tc.want || len(got) > MaxMessageLength || !utf8.ValidString(got) {
				t.Errorf("%s: %d bytes that end in %q", tc.reason, len(got), got[max(0, len(got)-10):])
			}
		})
	}
}

func TestSetCondition(t *testing.T) {
	t.Parallel()

	later := metav1.NewTime(epoch.Add(time.Minute))
	of := func(c xpv2.Condition, at metav1.Time, message string, generation int64) xpv2.Condition {
		c.LastTransitionTime, c.Message, c.ObservedGeneration = at, message, generation
		return c
	}

	cases := map[string]struct {
		reason  string
		was     xpv2.Condition
		now     xpv2.Condition
		message string
		want    xpv2.Condition
	}{
		"First":   {"what was not there begins now", xpv2.Condition{}, xpv2.Creating(), "one", of(xpv2.Creating(), later, "one", 7)},
		"Same":    {"another message is no transition", of(xpv2.Creating(), epoch, "one", 6), xpv2.Creating(), "two", of(xpv2.Creating(), epoch, "two", 7)},
		"Reason":  {"nor is another reason", of(xpv2.Creating(), epoch, "one", 7), xpv2.Unavailable(), "one", of(xpv2.Unavailable(), epoch, "one", 7)},
		"Changed": {"another status is", of(xpv2.Creating(), epoch, "one", 7), xpv2.Available(), "", of(xpv2.Available(), later, "", 7)},
		"Long":    {"a message is one that the API takes", xpv2.Condition{}, xpv2.Creating(), strings.Repeat("a", 9999), of(xpv2.Creating(), later, strings.Repeat("a", 4093)+"...", 7)},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			tn := &v1alpha1.Tenant{}
			tn.SetGeneration(7)

			got := SetCondition(tn, tc.was, tc.now.WithMessage(tc.message), later)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: -want, +got:\n%s", tc.reason, diff)
			}

			if diff := cmp.Diff(got, tn.GetCondition(tc.now.Type)); diff != "" {
				t.Errorf("%s: -returned, +set:\n%s", tc.reason, diff)
			}
		})
	}
}
