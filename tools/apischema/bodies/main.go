// SPDX-License-Identifier: Apache-2.0

// Prints the lines of a file of bodies, {"json": text, "hex": protobuf}, with the hex as the API's own serializer writes it.
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"log"
	"os"

	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

type body struct {
	JSON string `json:"json"`
	Hex  string `json:"hex"`
}

func main() {
	file, err := os.Open(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	serializer := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var row body
		if err := json.Unmarshal(lines.Bytes(), &row); err != nil {
			log.Fatal(err)
		}
		object, _, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(row.JSON), nil, nil)
		if err != nil {
			log.Fatal(err)
		}
		var bytes bytes.Buffer
		if err := serializer.Encode(object, &bytes); err != nil {
			log.Fatal(err)
		}
		row.Hex = hex.EncodeToString(bytes.Bytes())
		if err := out.Encode(row); err != nil {
			log.Fatal(err)
		}
	}
}
