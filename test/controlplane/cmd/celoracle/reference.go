// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	resourceapi "k8s.io/api/resource/v1"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	dracel "k8s.io/dynamic-resource-allocation/cel"
)

type device struct {
	Driver                   string                                                    `json:"driver"`
	AllowMultipleAllocations *bool                                                     `json:"allowMultipleAllocations"`
	Attributes               map[resourceapi.QualifiedName]resourceapi.DeviceAttribute `json:"attributes"`
	Capacity                 map[resourceapi.QualifiedName]resourceapi.DeviceCapacity  `json:"capacity"`
}

type request struct {
	Devices    []device `json:"devices"`
	Expression *string  `json:"expression"`
	Mode       string   `json:"mode"` // "", "value" or "compile"
}

type result struct {
	Value string `json:"value,omitempty"`
	Error string `json:"error,omitempty"`
	Cost  uint64 `json:"cost"`
}

type answer struct {
	CompileError string   `json:"compileError,omitempty"`
	Type         string   `json:"type,omitempty"`
	Results      []result `json:"results,omitempty"`
	Panic        string   `json:"panic,omitempty"`
}

// reference asks upstream's compiler of device selectors. One goroutine at a time.
type reference struct {
	selector func(expression string) dracel.CompilationResult
	devices  []dracel.Device
}

func newReference() (*reference, error) {
	compiler := dracel.GetCompiler(dracel.Features{EnableConsumableCapacity: true, EnableListTypeAttributes: true})
	made := &reference{
		selector: func(expression string) dracel.CompilationResult {
			return compiler.CompileCELExpression(expression, dracel.Options{DisableCostEstimation: true})
		},
		devices: []dracel.Device{{}},
	}
	if failure := made.selector("true").Error; failure != nil {
		return nil, failure
	}
	return made, nil
}

func (r *reference) answer(asked *request) (given answer) {
	defer func() {
		if panicked := recover(); panicked != nil {
			given = answer{Panic: fmt.Sprint(panicked)}
		}
	}()
	if asked.Devices != nil {
		r.devices = nil
		for _, d := range asked.Devices {
			r.devices = append(r.devices, dracel.Device(d))
		}
	}
	if asked.Expression == nil {
		return answer{}
	}
	if asked.Mode == "" {
		compiled := r.selector(*asked.Expression)
		if compiled.Error != nil {
			return answer{CompileError: compiled.Error.Error()}
		}
		given.Type = compiled.OutputType.String()
		for i := range r.devices {
			given.Results = append(given.Results, matches(compiled, r.devices[i]))
		}
		return given
	}
	program, outputType, err := r.value(*asked.Expression)
	if err != nil {
		return answer{CompileError: err.Error()}
	}
	given.Type = outputType.String()
	for i := range r.devices {
		if asked.Mode == "value" {
			given.Results = append(given.Results, r.evaluate(program, r.devices[i]))
		}
	}
	return given
}

func costOf(details *celgo.EvalDetails) uint64 {
	if details == nil || details.ActualCost() == nil {
		return 0
	}
	return *details.ActualCost()
}

func matches(compiled dracel.CompilationResult, on dracel.Device) (made result) {
	defer func() {
		if panicked := recover(); panicked != nil {
			made = result{Error: fmt.Sprint("panic: ", panicked)}
		}
	}()
	verdict, details, err := compiled.DeviceMatches(context.Background(), on)
	made.Cost = costOf(details)
	if err != nil {
		made.Error = dracel.EnhanceRuntimeError(err).Error()
	} else {
		made.Value = fmt.Sprint(verdict)
	}
	return made
}

// value compiles an expression of any type with the environment and the limits of a selector.
func (r *reference) value(expression string) (celgo.Program, *celgo.Type, error) {
	env := r.selector("true").Environment
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		return nil, nil, fmt.Errorf("compilation failed: %s", issues.String())
	}
	program, err := env.Program(ast, celgo.CostLimit(resourceapi.CELSelectorExpressionMaxCost),
		celgo.InterruptCheckFrequency(celconfig.CheckFrequency))
	if err != nil {
		return nil, nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	return program, ast.OutputType(), nil
}

// keeping stands in for a compiled selector's program, so that the selector binds the variables; it keeps the value.
type keeping struct {
	celgo.Program
	value ref.Val
}

func (k *keeping) ContextEval(ctx context.Context, variables any) (ref.Val, *celgo.EvalDetails, error) {
	value, details, err := k.Program.ContextEval(ctx, variables)
	k.value = value
	return value, details, err
}

func (r *reference) evaluate(program celgo.Program, on dracel.Device) (made result) {
	defer func() {
		if panicked := recover(); panicked != nil {
			made = result{Error: fmt.Sprint("panic: ", panicked)}
		}
	}()
	kept := &keeping{Program: program}
	compiled := r.selector("true")
	compiled.Program = kept
	_, details, err := compiled.DeviceMatches(context.Background(), on)
	made.Cost = costOf(details)
	switch {
	case kept.value == nil || isError(kept.value):
		made.Error = dracel.EnhanceRuntimeError(err).Error()
	default:
		made.Value = canonical(kept.value)
	}
	return made
}
