// SPDX-FileCopyrightText: 2026 The KubeOpera Authors
// SPDX-License-Identifier: Apache-2.0

// Package secretscan holds that no secret of a run shows in what the run puts out.
//
// A secret is a value by which one could act as someone else, or read what is not for
// all:
//
//   - each value of each Secret of a cluster, as it ever was during the run, whoever
//     made it and however short it lived. That includes Helm's records, what vCluster
//     exports and what is published of it, tokens and credentials of registries;
//   - what a test says is one, such as the provider's own credentials and the tokens
//     that a fake has given out.
//
// Of values that are documents just the secret parts are: of a kubeconfig its private
// keys, tokens and passwords; of a dockerconfigjson its passwords, tokens and auths; of
// PEM all blocks but certificates and public keys; of a JSON web token its signature.
//
// No secrets are: certificates, those of authorities and of clients alike; names,
// namespaces and addresses, which the values of the keys in public are; vCluster's own
// configuration, which follows from the Tenant's spec; and what has fewer than 12
// bytes in a line, which would be found by chance.
//
// A secret is found when a whole line of it, or of a long one 48 bytes in a row, stands
// anywhere in a line of output: as it is, quoted, escaped for a URL, or in base64, also
// of a larger text that holds it, and in base64 of that.
package secretscan
