// SPDX-License-Identifier: Apache-2.0
#pragma once
// Metadata in writes: what the server owns of it, what a client may ask by it, what may not change.
// Part of the Registry, of no use outside of it and of controllers that read objects.
//
// Upstream: docs/spec/api.md sections 2.1 and 7.5.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/store/failure.h"
#include "apiserver/store/object.h"

namespace ks::apiserver {

// Makes `to`'s member what `from`'s is, absence included.
void CopyMember(const Json& from, const char* key, Json* to);
bool HasFinalizers(const Json& metadata);

// A written object must be an object with a metadata object (made if missing), of this kind and
// namespace where it says so; both are filled in.
std::optional<Failure> CheckForm(const KindInfo& kind, std::string_view ns, Json& object);

// Takes away what clients cannot set on creation.
void DropClientMetadata(Json& metadata);
// Sets what clients cannot change on updates.
void KeepSystemMetadata(const Json& before, Json* metadata);
// A write to /status: everything but the status, labels, annotations, finalizers and owners is as
// before; some kinds keep those too.
void KeepAllButStatus(const KindInfo& kind, const Json& before, Json* object);

// Kinds whose PUT makes what is not there.
bool CreatesOnUpdate(const KindInfo& kind);

// The name in the object of a PUT or PATCH must be that of the path.
std::optional<Failure> CheckName(std::string_view name, const Json& metadata);
// A uid in the metadata of a PUT is a precondition; in a PATCH it is a change, and refused as such.
std::optional<Failure> CheckUid(const KindInfo& kind, const StoredObject& current,
                                const Json& metadata);
// A resourceVersion is a precondition in both; some kinds want one.
std::optional<Failure> CheckVersion(const KindInfo& kind, const StoredObject& current,
                                    const Json& metadata);
// Before KeepSystemMetadata.
std::vector<Cause> CheckMetadataUpdate(const Json& before, const Json& metadata);

}  // namespace ks::apiserver
