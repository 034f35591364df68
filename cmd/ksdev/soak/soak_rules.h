// SPDX-License-Identifier: Apache-2.0
#pragma once
// The faults of a soak that names no file of its own: everything that src/apiserver/http/faults.h
// can do to a scheduler, often enough to happen many times in half an hour.

#include <string>

namespace ks::ctl::dev {

// A file for kubeschedctl apiserver --faults. Only requests of system:kube-scheduler are hit: the
// soak itself must see what is there.
std::string SoakFaultRules();

// "1234 fired, by 30 of 31 rules", from the server's own description of its rules.
std::string FaultCounts(const std::string& description);

}  // namespace ks::ctl::dev
