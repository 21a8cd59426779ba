// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// The function-cloudspace composition function composes CloudSpaces. Crossplane
// runs it and calls it over gRPC.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/alecthomas/kong"
	sdk "github.com/crossplane/function-sdk-go"

	"github.com/kubeopera/provider-kubeopera/internal/function"
)

// Exit codes.
const (
	exitFailed   = 1
	exitBadValue = 2
)

// flags are those that Crossplane's function template has.
type flags struct {
	Debug              bool   `short:"d" help:"Log each call, and for people to read instead of JSON."`
	Network            string `default:"tcp" help:"Network on which to listen for gRPC connections."`
	Address            string `default:":9443" help:"Address at which to listen for gRPC connections."`
	TLSCertsDir        string `env:"TLS_SERVER_CERTS_DIR" placeholder:"DIR" help:"Folder with the server's certificate (tls.crt, tls.key) and the CA of clients' certificates (ca.crt)."`
	Insecure           bool   `help:"Serve without TLS, for tries on one's own machine. The folder of certificates is not read then."`
	MaxRecvMessageSize int    `default:"4" placeholder:"MB" help:"Maximum size of received messages, in MB."`
}

func main() {
	os.Exit(run(os.Args[1:], os.Stderr))
}

// run serves until that fails, and returns the exit code. What went wrong is one
// line on stderr.
func run(args []string, stderr io.Writer) int {
	f, err := parse(args)
	if err != nil {
		fmt.Fprintln(stderr, "function-cloudspace: cannot start:", err)
		return exitBadValue
	}

	log, err := sdk.NewLogger(f.Debug)
	if err != nil {
		fmt.Fprintln(stderr, "function-cloudspace: cannot log:", err)
		return exitFailed
	}

	if err := sdk.Serve(function.New(log), f.options()...); err != nil {
		fmt.Fprintln(stderr, "function-cloudspace:", err)
		return exitFailed
	}

	return 0
}

// options are what the flags say of how to serve.
func (f *flags) options() []sdk.ServeOption {
	const mebi = 1 << 20

	certs := f.TLSCertsDir
	if f.Insecure {
		certs = ""
	}

	return []sdk.ServeOption{
		sdk.Listen(f.Network, f.Address),
		sdk.MTLSCertificates(certs),
		sdk.Insecure(f.Insecure),
		sdk.MaxRecvMessageSize(f.MaxRecvMessageSize * mebi),
	}
}

// parse reads the flags and checks them. Help ends the program.
func parse(args []string, opts ...kong.Option) (*flags, error) {
	f := &flags{}

	parser, err := kong.New(f, append([]kong.Option{
		kong.Name("function-cloudspace"),
		kong.Description("Composes CloudSpaces, for Crossplane."),
	}, opts...)...)
	if err != nil {
		return nil, fmt.Errorf("cannot define flags: %w", err)
	}

	if _, err := parser.Parse(args); err != nil {
		return nil, fmt.Errorf("%w; see --help", err)
	}

	switch {
	case f.TLSCertsDir == "" && !f.Insecure:
		return nil, fmt.Errorf("no certificates: set --tls-certs-dir (TLS_SERVER_CERTS_DIR), or --insecure to do without")
	case f.MaxRecvMessageSize < 1:
		return nil, fmt.Errorf("--max-recv-message-size: %d is too small: set it to 1 MB or more", f.MaxRecvMessageSize)
	}

	return f, nil
}
