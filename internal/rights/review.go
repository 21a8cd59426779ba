// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

package rights

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"
	authorizationv1 "k8s.io/api/authorization/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	authorizationv1client "k8s.io/client-go/kubernetes/typed/authorization/v1"
	"k8s.io/client-go/rest"
)

const (
	// parallel is how many questions are under way at once.
	parallel = 16
	// passTimeout bounds a look at all rights.
	passTimeout = time.Minute
	// passInterval is how long to wait before the next look.
	passInterval = 5 * time.Second
)

// Review asks an API server for rights until they are all there.
type Review struct {
	access   authorizationv1client.SelfSubjectAccessReviewInterface
	interval time.Duration
}

// NewReview asks the API server that cfg points to, as the user that it names.
// cfg is not changed.
func NewReview(cfg *rest.Config) (*Review, error) {
	cfg = rest.CopyConfig(cfg)
	cfg.QPS = -1 // The questions are few, and come in one burst.
	c, err := authorizationv1client.NewForConfig(cfg)
	if err != nil {
		return nil, fmt.Errorf("cannot make a client for access reviews: %w", err)
	}
	return &Review{access: c.SelfSubjectAccessReviews(), interval: passInterval}, nil
}

// Await returns nil when all rights are there that are needed, and the error of
// ctx when that ends first. Before each look it asks for what is needed, and tells
// afterwards why it goes on waiting: a *MissingError, or an error that says why
// it is not known.
func (r *Review) Await(ctx context.Context, needed func(context.Context) ([]Right, error), tell func(error)) error {
	return wait.PollUntilContextCancel(ctx, r.interval, true, func(ctx context.Context) (bool, error) {
		err := r.look(ctx, needed)
		if err != nil && ctx.Err() == nil {
			tell(err)
		}
		return err == nil, nil
	})
}

func (r *Review) look(ctx context.Context, needed func(context.Context) ([]Right, error)) error {
	ctx, cancel := context.WithTimeout(ctx, passTimeout)
	defer cancel()

	all, err := needed(ctx)
	if err != nil {
		return err
	}
	missing, err := r.Missing(ctx, all)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		return &MissingError{Rights: missing}
	}
	return nil
}

// Missing are those of the rights that the user does not have, in their order.
func (r *Review) Missing(ctx context.Context, of []Right) ([]Right, error) {
	allowed := make([]bool, len(of))

	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel)
	for i, right := range of {
		g.Go(func() error {
			answer, err := r.access.Create(ctx, &authorizationv1.SelfSubjectAccessReview{
				Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: right.attributes()},
			}, metav1.CreateOptions{})
			if err != nil {
				return fmt.Errorf("cannot ask the cluster for the right to %s: %w", right, err)
			}
			allowed[i] = answer.Status.Allowed
			return nil
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}

	var out []Right
	for i, right := range of {
		if !allowed[i] {
			out = append(out, right)
		}
	}
	return out, nil
}
