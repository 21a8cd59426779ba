// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The fake-function-patch-and-transform program stands in for Crossplane's
// function-patch-and-transform in tests. It does a part of what the real one
// does with the same input, see resources, and refuses the rest by name.
package main

import (
	"github.com/alecthomas/kong"
	"github.com/crossplane/function-sdk-go"
)

// cli are the flags that Crossplane gives to each function, and those by which
// a person tries one out.
type cli struct {
	Debug       bool   `help:"Log more." short:"d"`
	Network     string `default:"tcp" help:"Network to listen on."`
	Address     string `default:":9443" help:"Address to listen on."`
	TLSCertsDir string `env:"TLS_SERVER_CERTS_DIR" help:"Folder of tls.key, tls.crt and ca.crt." name:"tls-certs-dir"`
	Insecure    bool   `help:"Serve without TLS."`
}

// Run serves the function until it is told to stop.
func (c *cli) Run() error {
	log, err := function.NewLogger(c.Debug)
	if err != nil {
		return err
	}
	return function.Serve(&fake{log: log},
		function.Listen(c.Network, c.Address), function.MTLSCertificates(c.TLSCertsDir), function.Insecure(c.Insecure))
}

func main() {
	ctx := kong.Parse(&cli{}, kong.Description("A fake of function-patch-and-transform for tests."))
	ctx.FatalIfErrorf(ctx.Run())
}
