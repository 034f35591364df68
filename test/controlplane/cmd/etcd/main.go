// SPDX-License-Identifier: Apache-2.0

// Command etcd is the etcd server that stores the test control plane's objects.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
