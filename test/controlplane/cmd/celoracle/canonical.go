// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"sort"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

func isError(value ref.Val) bool {
	return types.IsError(value) || types.IsUnknown(value)
}

// canonical is a text that two values share only if they are alike:
//
//	null  true  12  12u  double(3ff8000000000000)  double(NaN)  "text"  b"text"
//	timestamp(12.000000345)  duration(1500000000)  type(int)  [1, 2]  {"a": 1, "b": 2}
//	optional.none  optional(1)  quantity(1Gi)  semver(1.2.3)  url(TEXT)  ip(TEXT)  cidr(TEXT)  format  object(TYPE)
//
// Doubles are IEEE bits, timestamps seconds and nanoseconds since 1970, durations nanoseconds. In texts, a quotation mark, a
// backslash and all bytes but printable ASCII are \xHH. Entries of maps are in the order of their keys' texts.
func canonical(value ref.Val) string {
	switch v := value.(type) {
	case types.Null:
		return "null"
	case types.Bool:
		return fmt.Sprint(bool(v))
	case types.Int:
		return fmt.Sprint(int64(v))
	case types.Uint:
		return fmt.Sprint(uint64(v), "u")
	case types.Double:
		if math.IsNaN(float64(v)) {
			return "double(NaN)"
		}
		return fmt.Sprintf("double(%016x)", math.Float64bits(float64(v)))
	case types.String:
		return escaped(string(v))
	case types.Bytes:
		return "b" + escaped(string(v))
	case types.Timestamp:
		return fmt.Sprintf("timestamp(%d.%09d)", v.Unix(), v.Nanosecond())
	case types.Duration:
		return fmt.Sprintf("duration(%d)", v.Nanoseconds())
	case *types.Optional:
		if !v.HasValue() {
			return "optional.none"
		}
		return "optional(" + canonical(v.GetValue()) + ")"
	case *apiservercel.Quantity:
		return "quantity(" + v.String() + ")"
	case apiservercel.Quantity:
		return "quantity(" + v.String() + ")"
	case apiservercel.Semver:
		v.Build = nil // no expression can tell
		return "semver(" + v.String() + ")"
	case apiservercel.URL:
		return "url(" + v.String() + ")"
	case apiservercel.IP:
		return "ip(" + v.String() + ")"
	case apiservercel.CIDR:
		return "cidr(" + v.String() + ")"
	case apiservercel.Format, *apiservercel.Format:
		return "format"
	case ref.Type:
		return "type(" + v.TypeName() + ")"
	case traits.Mapper:
		return canonicalMap(v)
	case traits.Lister:
		return canonicalList(v)
	}
	return "object(" + value.Type().TypeName() + ")"
}

func canonicalList(list traits.Lister) string {
	var parts []string
	for i := types.Int(0); i < list.Size().(types.Int); i++ {
		parts = append(parts, canonical(list.Get(i)))
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func canonicalMap(of traits.Mapper) string {
	var parts []string
	for keys := of.Iterator(); keys.HasNext() == types.True; {
		key := keys.Next()
		parts = append(parts, canonical(key)+": "+canonical(of.Get(key)))
	}
	sort.Strings(parts)
	return "{" + strings.Join(parts, ", ") + "}"
}

func escaped(text string) string {
	var out strings.Builder
	out.WriteByte('"')
	for i := 0; i < len(text); i++ {
		if c := text[i]; c >= 0x20 && c < 0x7f && c != '"' && c != '\\' {
			out.WriteByte(c)
		} else {
			fmt.Fprintf(&out, "\\x%02x", c)
		}
	}
	out.WriteByte('"')
	return out.String()
}
