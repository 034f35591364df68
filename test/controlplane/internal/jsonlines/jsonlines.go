// SPDX-License-Identifier: Apache-2.0

// Package jsonlines is the frame of the oracles: commands that write JSON Lines on standard output, one value a line, without
// HTML escapes.
package jsonlines

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

const bufferBytes = 1 << 20

// Main runs a command. An error ends the process with status 1; it stands on standard error behind the command's name.
func Main(name string, run func() error) {
	if err := run(); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Print hands an encoder for standard output to write.
func Print(write func(*json.Encoder) error) error {
	out, encoder := output()
	if err := write(encoder); err != nil {
		out.Flush()
		return err
	}
	return out.Flush()
}

// Answer reads requests from standard input, one a line, and answers each with one line, in order. What is answered is sent
// before it waits for more requests.
func Answer[Request, Reply any](answer func(*Request) Reply) error {
	out, encoder := output()
	defer out.Flush()
	in := bufio.NewReaderSize(os.Stdin, bufferBytes)
	for {
		line, err := in.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 {
			return nil
		}
		if err != nil && err != io.EOF {
			return err
		}
		var asked Request
		if err := json.Unmarshal(line, &asked); err != nil {
			return fmt.Errorf("no request: %w: %s", err, line)
		}
		if err := encoder.Encode(answer(&asked)); err != nil {
			return err
		}
		if in.Buffered() == 0 { // whoever asks may wait for this answer
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}

func output() (*bufio.Writer, *json.Encoder) {
	out := bufio.NewWriterSize(os.Stdout, bufferBytes)
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return out, encoder
}
