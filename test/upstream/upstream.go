// SPDX-License-Identifier: Apache-2.0

//go:build dependencies

// Package upstream names what upstream's own end-to-end tests are built from, so that go.mod and go.sum cover it. It is not compiled.
package upstream

import (
	_ "k8s.io/kubernetes/test/e2e"
	_ "sigs.k8s.io/kwok/cmd/kwok"
)
