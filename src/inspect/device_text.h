// SPDX-License-Identifier: Apache-2.0
#pragma once
// Devices, selectors and constraints as texts for people. Internal to explain_devices.
//
// Upstream: none; docs/spec/plugins-dra.md sections 6.4 and 7 say what they mean.

#include <string>
#include <string_view>

#include "api/devices.h"

namespace ks::inspect {

// `"device.driver == 'd'"`, on one line.
std::string QuotedExpression(std::string_view expression);

// The attributes, capacities and the driver that an expression names, with what the device has of
// them: "memory 40Gi, model absent". At most three; empty: it names none.
std::string NamedValues(std::string_view expression, const api::Device& device,
                        const Symbol& driver);

std::string AttributeText(const api::DeviceAttributeValue& value);

// "matchAttribute drv/numa".
std::string ConstraintText(const api::DeviceConstraint& constraint);

// "key=value:NoSchedule".
std::string TaintText(const api::DeviceTaint& taint);

}  // namespace ks::inspect
