// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The fake-app-advisor program stands in for a customer's App Advisor. It tells
// over HTTP what its service account may do and which settings it was given.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	address      = ":8080"
	askLimit     = 5 * time.Second
	stopLimit    = 2 * time.Second
	settingStart = "ADVISOR_"
	all          = "*"

	// accountFolder is where Kubernetes puts a pod's service account.
	accountFolder = "/var/run/secrets/kubernetes.io/serviceaccount"
)

// An answer is what the advisor says of itself.
type answer struct {
	// Namespace is the namespace of the service account.
	Namespace string `json:"namespace"`
	// Rules are all that the account may do in its namespace, as the API server
	// tells it.
	Rules []rule `json:"rules"`
	// Incomplete says that the API server could not tell all the rules.
	Incomplete bool `json:"incomplete"`
	// MayRead are the resources, as RESOURCE.GROUP, that the rules let it get,
	// list or watch. An asterisk stands for all.
	MayRead []string `json:"mayRead"`
	// MayGetSecrets says whether it may get the Secrets of its namespace.
	MayGetSecrets bool `json:"mayGetSecrets"`
	// Environment are the settings: the variables that start with ADVISOR_.
	Environment map[string]string `json:"environment"`
}

// A rule is one of the API server's, in which an asterisk stands for all.
type rule struct {
	Verbs         []string `json:"verbs"`
	APIGroups     []string `json:"apiGroups"`
	Resources     []string `json:"resources"`
	ResourceNames []string `json:"resourceNames,omitempty"`
}

// An account is a service account, with the API server that it belongs to.
type account struct {
	api       string
	namespace string
	token     string
	client    *http.Client
}

// load reads the account from the folder, anew each time, because its token is
// renewed there.
func load(folder, api string) (account, error) {
	content := map[string]string{}
	for _, name := range []string{"namespace", "token", "ca.crt"} {
		b, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			return account{}, fmt.Errorf("cannot read service account: %w", err)
		}
		content[name] = strings.TrimSpace(string(b))
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM([]byte(content["ca.crt"])) {
		return account{}, errors.New("cannot read service account: its ca.crt holds no certificate")
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, DisableKeepAlives: true}
	return account{api: api, namespace: content["namespace"], token: content["token"], client: &http.Client{Transport: transport}}, nil
}

// answer asks the API server what the account may do.
func (a account) answer(ctx context.Context, environ []string) (answer, error) {
	var rules struct {
		Status struct {
			ResourceRules []rule `json:"resourceRules"`
			Incomplete    bool   `json:"incomplete"`
		} `json:"status"`
	}
	if err := a.review(ctx, "SelfSubjectRulesReview", map[string]any{"namespace": a.namespace}, &rules); err != nil {
		return answer{}, err
	}
	var access struct {
		Status struct {
			Allowed bool `json:"allowed"`
		} `json:"status"`
	}
	secrets := map[string]any{"resourceAttributes": map[string]string{"namespace": a.namespace, "verb": "get", "resource": "secrets"}}
	if err := a.review(ctx, "SelfSubjectAccessReview", secrets, &access); err != nil {
		return answer{}, err
	}
	return answer{
		Namespace: a.namespace, Environment: settings(environ), MayGetSecrets: access.Status.Allowed,
		Rules: rules.Status.ResourceRules, Incomplete: rules.Status.Incomplete, MayRead: readable(rules.Status.ResourceRules),
	}, nil
}

// review creates the object of this kind and decodes the server's answer.
func (a account) review(ctx context.Context, kind string, spec, into any) error {
	body, err := json.Marshal(map[string]any{"apiVersion": "authorization.k8s.io/v1", "kind": kind, "spec": spec})
	if err != nil {
		return fmt.Errorf("cannot encode %s: %w", kind, err)
	}
	url := a.api + "/apis/authorization.k8s.io/v1/" + strings.ToLower(kind) + "s"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("cannot ask for %s: %w", kind, err)
	}
	req.Header.Set("Authorization", "Bearer "+a.token)
	req.Header.Set("Content-Type", "application/json")
	resp, err := a.client.Do(req)
	if err != nil {
		return fmt.Errorf("cannot ask for %s: %w", kind, err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, err := io.ReadAll(resp.Body)
	if err != nil {
		return fmt.Errorf("cannot ask for %s: %w", kind, err)
	}
	if resp.StatusCode != http.StatusCreated {
		return fmt.Errorf("cannot ask for %s: the API server says %s: %s", kind, resp.Status, said)
	}
	if err := json.Unmarshal(said, into); err != nil {
		return fmt.Errorf("cannot read answer to %s: %w", kind, err)
	}
	return nil
}

// readable returns the resources that the rules let an account read, sorted.
func readable(rules []rule) []string {
	out := []string{}
	for _, r := range rules {
		reads := slices.ContainsFunc(r.Verbs, func(v string) bool { return slices.Contains([]string{"get", "list", "watch", all}, v) })
		if !reads {
			continue
		}
		for _, group := range r.APIGroups {
			for _, resource := range r.Resources {
				if group != "" {
					resource += "." + group
				}
				out = append(out, resource)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// settings picks the advisor's settings out of an environment of NAME=VALUE.
func settings(environ []string) map[string]string {
	out := map[string]string{}
	for _, kv := range environ {
		if name, value, ok := strings.Cut(kv, "="); ok && strings.HasPrefix(name, settingStart) {
			out[name] = value
		}
	}
	return out
}

// handler answers /healthz and /, the latter with what ask says.
func handler(ask func(context.Context) (answer, error)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		_, _ = w.Write([]byte("ok"))
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), askLimit)
		defer cancel()
		a, err := ask(ctx)
		if err != nil {
			respond(w, http.StatusBadGateway, map[string]string{"error": err.Error()})
			return
		}
		respond(w, http.StatusOK, a)
	})
	return mux
}

func respond(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(body)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fake-app-advisor: error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	api := "https://" + net.JoinHostPort(os.Getenv("KUBERNETES_SERVICE_HOST"), cmp.Or(os.Getenv("KUBERNETES_SERVICE_PORT"), "443"))
	s := &http.Server{
		Addr:              address,
		ReadHeaderTimeout: askLimit,
		Handler: handler(func(ctx context.Context) (answer, error) {
			a, err := load(accountFolder, api)
			if err != nil {
				return answer{}, err
			}
			return a.answer(ctx, os.Environ())
		}),
	}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		ending, cancel := context.WithTimeout(context.Background(), stopLimit)
		defer cancel()
		stopped <- s.Shutdown(ending)
	}()
	if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("cannot serve on %s: %w", address, err)
	}
	return <-stopped
}
