// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"sort"
	"strings"

	celexpr "cel.dev/expr"
	conformance "cel.dev/expr/conformance/test"
	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"google.golang.org/protobuf/encoding/prototext"

	_ "cel.dev/expr/conformance/proto2" // messages of the tests' values
	_ "cel.dev/expr/conformance/proto3"
)

// conformanceTest is a line of -conformance. Bound variables are part of the expression, as cel.bind(NAME, VALUE, ...).
type conformanceTest struct {
	Name       string  `json:"name"`                 // FILE/SECTION/TEST
	LeftOut    string  `json:"leftOut,omitempty"`    // why there is no expression, and the rest is empty
	Expression string  `json:"expression,omitempty"` // to be evaluated without a device
	Outcome    *answer `json:"outcome,omitempty"`    // of the environment of selectors
	Wanted     string  `json:"wanted,omitempty"`     // by the official tests: a value as canonical() writes it, or "error"
	Agrees     bool    `json:"agrees"`               // Outcome is what is wanted
}

func printConformance(reference *reference, folder string, encoder *json.Encoder) error {
	if folder == "" {
		var err error
		if folder, err = testdata(); err != nil {
			return err
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.textproto"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no conformance tests in %s: go -C test/controlplane mod download cel.dev/expr", folder)
	}
	sort.Strings(files)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file := &conformance.SimpleTestFile{}
		if err := (prototext.UnmarshalOptions{DiscardUnknown: true}).Unmarshal(text, file); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		for _, section := range file.Section {
			for _, test := range section.Test {
				line := convert(reference, test)
				line.Name = strings.TrimSuffix(filepath.Base(path), ".textproto") + "/" + section.Name + "/" + test.Name
				if err := encoder.Encode(line); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// testdata is the folder of the tests in the module that this program was built with.
func testdata() (string, error) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", fmt.Errorf("built without module information: name the folder with -testdata")
	}
	for _, module := range info.Deps {
		if module.Path == "cel.dev/expr" {
			return filepath.Join(moduleCache(), module.Path+"@"+module.Version, "tests", "simple", "testdata"), nil
		}
	}
	return "", fmt.Errorf("built without cel.dev/expr")
}

// moduleCache is where Go keeps the sources of modules on this machine.
func moduleCache() string {
	if cache := os.Getenv("GOMODCACHE"); cache != "" {
		return cache
	}
	for _, command := range []string{"go", "/usr/local/go/bin/go"} {
		if printed, err := exec.Command(command, "env", "GOMODCACHE").Output(); err == nil {
			return strings.TrimSpace(string(printed))
		}
	}
	home, _ := os.UserHomeDir()
	return filepath.Join(home, "go", "pkg", "mod")
}

func convert(reference *reference, test *conformance.SimpleTest) conformanceTest {
	expression, leftOut := withVariables(test)
	if leftOut != "" {
		return conformanceTest{LeftOut: leftOut}
	}
	mode := "value"
	if test.CheckOnly {
		mode = "compile"
	}
	outcome := reference.answer(&request{Expression: &expression, Mode: mode})
	made := conformanceTest{Expression: expression, Outcome: &outcome, Wanted: wanted(reference, test)}
	switch {
	case test.CheckOnly:
		made.Agrees = outcome.CompileError == "" && outcome.Type == deducedType(test)
	case outcome.CompileError != "" || outcome.Panic != "" || len(outcome.Results) == 0:
		made.Agrees = made.Wanted == "error"
	case outcome.Results[0].Error != "":
		made.Agrees = made.Wanted == "error"
	default:
		made.Agrees = outcome.Results[0].Value == made.Wanted
	}
	return made
}

func deducedType(test *conformance.SimpleTest) string {
	deduced, err := types.ProtoAsType(test.GetTypedResult().GetDeducedType())
	if err != nil {
		return ""
	}
	return deduced.String()
}

func wanted(reference *reference, test *conformance.SimpleTest) string {
	var value *celexpr.Value
	switch matcher := test.ResultMatcher.(type) {
	case nil:
		return "true"
	case *conformance.SimpleTest_Value:
		value = matcher.Value
	case *conformance.SimpleTest_TypedResult:
		value = matcher.TypedResult.Result
	case *conformance.SimpleTest_EvalError, *conformance.SimpleTest_AnyEvalErrors:
		return "error"
	default:
		return "unknown"
	}
	if value == nil {
		return ""
	}
	converted, err := celgo.ProtoAsValue(reference.selector("true").Environment.CELTypeAdapter(), value)
	if err != nil {
		return "no value: " + err.Error()
	}
	return canonical(converted)
}

var simpleName = regexp.MustCompile(`^[_a-zA-Z][_a-zA-Z0-9]*$`)

// withVariables is the test's expression with its variables bound, or the reason why it cannot be written.
func withVariables(test *conformance.SimpleTest) (expression, leftOut string) {
	declared := map[string]*celexpr.Type{}
	for _, declaration := range test.TypeEnv {
		if declaration.GetFunction() != nil {
			return "", "declares a function"
		}
		if test.Bindings[declaration.Name] == nil {
			return "", "a variable without value"
		}
		declared[declaration.Name] = declaration.GetIdent().GetType()
	}
	var names []string
	for name := range test.Bindings {
		names = append(names, name)
	}
	sort.Strings(names)
	expression = test.Expr
	for _, name := range names {
		if !simpleName.MatchString(name) {
			return "", "a variable with a qualified name"
		}
		if test.Bindings[name].GetValue() == nil {
			return "", "an unknown or an error as a variable"
		}
		text, ok := literal(test.Bindings[name].GetValue(), declared[name])
		if !ok {
			return "", "a protobuf message as a variable"
		}
		expression = fmt.Sprintf("cel.bind(%s, %s, %s)", name, text, expression)
	}
	return expression, ""
}

// literal writes a value as an expression of the type, nil for a dynamic one.
func literal(value *celexpr.Value, declared *celexpr.Type) (string, bool) {
	text, ok := plainLiteral(value, declared)
	if declared == nil || declared.GetDyn() != nil {
		text = "dyn(" + text + ")"
	}
	return text, ok
}

func plainLiteral(value *celexpr.Value, declared *celexpr.Type) (string, bool) {
	switch v := value.Kind.(type) {
	case *celexpr.Value_NullValue:
		return "null", true
	case *celexpr.Value_BoolValue:
		return fmt.Sprint(v.BoolValue), true
	case *celexpr.Value_Int64Value:
		return fmt.Sprint(v.Int64Value), true
	case *celexpr.Value_Uint64Value:
		return fmt.Sprint(v.Uint64Value, "u"), true
	case *celexpr.Value_DoubleValue:
		return fmt.Sprintf("double('%v')", v.DoubleValue), true
	case *celexpr.Value_StringValue:
		return strings.ReplaceAll(escaped(v.StringValue), `\x`, `\u00`), isASCII(v.StringValue)
	case *celexpr.Value_BytesValue:
		return "b" + escaped(string(v.BytesValue)), true
	case *celexpr.Value_TypeValue:
		return v.TypeValue, true
	case *celexpr.Value_ListValue:
		var parts []string
		for _, element := range v.ListValue.Values {
			part, ok := literal(element, declared.GetListType().GetElemType())
			if !ok {
				return "", false
			}
			parts = append(parts, part)
		}
		return "[" + strings.Join(parts, ", ") + "]", true
	case *celexpr.Value_MapValue:
		var parts []string
		for _, entry := range v.MapValue.Entries {
			key, keyOk := literal(entry.Key, declared.GetMapType().GetKeyType())
			of, ok := literal(entry.Value, declared.GetMapType().GetValueType())
			if !ok || !keyOk {
				return "", false
			}
			parts = append(parts, key+": "+of)
		}
		return "{" + strings.Join(parts, ", ") + "}", true
	}
	return "", false
}

func isASCII(text string) bool {
	for i := 0; i < len(text); i++ {
		if text[i] >= 0x80 {
			return false
		}
	}
	return true
}
