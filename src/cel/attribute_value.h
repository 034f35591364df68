// SPDX-License-Identifier: Apache-2.0
#pragma once
// What an expression gives as an attribute of a device.
//
// Upstream: docs/spec/cel.md section 7.

#include "base/result.h"
#include "cel/device.h"
#include "cel/type.h"
#include "cel/value.h"

namespace ks::cel {

// Whether a result of this static type can be an attribute.
bool CanBeAttribute(const Type& type);

// Scalars and lists of one type of them. Errors: upstream's texts (`unsupported CEL return type:
// …`). Requires: no error.
Result<DeviceContent::AttributeValue> AsAttribute(const Value& value);

}  // namespace ks::cel
