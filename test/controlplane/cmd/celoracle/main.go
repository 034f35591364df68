// SPDX-License-Identifier: Apache-2.0

// Command celoracle answers what upstream's CEL environment of device selectors makes of an expression: the reference side of
// the tests in test/cel (docs/spec/cel.md). It holds no rule of its own: compiling and evaluating are upstream's, used
// through their exported API.
//
// It reads requests as JSON Lines and answers each with one line, in order:
//
//	{"devices": [DEVICE, ...]}                 the devices of the requests that follow; answered by {}
//	{"expression": TEXT}                       as a selector, on each device
//	{"expression": TEXT, "mode": "value"}      the same with a result of any type
//	{"expression": TEXT, "mode": "compile"}    the type only
//
//	{"compileError": TEXT}
//	{"type": TEXT, "results": [{"value": TEXT, "cost": NUMBER}, {"error": TEXT, "cost": NUMBER}, ...]}
//	{"panic": TEXT}
//
// A DEVICE is {"driver", "allowMultipleAllocations", "attributes", "capacity"} in the form of the API. Values are written as
// described at canonical(). With -conformance the command prints the official conformance tests instead (conformance.go).
package main

import (
	"encoding/json"
	"flag"
	"fmt"

	"kubesched.dev/test/controlplane/internal/jsonlines"
)

func run() error {
	conformance := flag.Bool("conformance", false, "print the official conformance tests and what the environment makes of them")
	folder := flag.String("testdata", "", "with -conformance: the folder of the *.textproto files; without it, Go's module cache")
	flag.Parse()
	if flag.NArg() != 0 {
		return fmt.Errorf("no arguments but flags")
	}
	reference, err := newReference()
	if err != nil {
		return err
	}
	if *conformance {
		return jsonlines.Print(func(encoder *json.Encoder) error { return printConformance(reference, *folder, encoder) })
	}
	return jsonlines.Answer(reference.answer)
}

func main() { jsonlines.Main("celoracle", run) }
