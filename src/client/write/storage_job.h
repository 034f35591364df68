// SPDX-License-Identifier: Apache-2.0
#pragma once
// Writes of volumes and claims: one merge patch each, valid for one resourceVersion only. Where
// patches are forbidden, the object with the patch applied here is put (docs/decisions/0036).
//
//   PATCH, or GET and PUT --good--> over
//         --forbidden, the first time--> the other way
//         --passing failure--> wait --> the same way
//         --failure, nothing uncertain--> over
//         --failure, a try may have been carried out--> GET --as wanted--> over, written
//                                                           --else--> over, with the failure

#include <memory>

#include "api/storage.h"
#include "client/write/storage_verbs.h"
#include "client/write/write_job.h"
#include "framework/api_writer.h"

namespace ks::client {

// As ApiWriter's WriteVolume and WriteClaim say.
JobPtr NewVolumeJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
                    std::shared_ptr<StorageVerbs> verbs, api::PersistentVolumePtr version,
                    framework::ApiWriter::WriteDone done);
JobPtr NewClaimJob(std::shared_ptr<WriteDispatcher> dispatcher, RestClient& client,
                   std::shared_ptr<StorageVerbs> verbs, api::PersistentVolumeClaimPtr version,
                   framework::ApiWriter::WriteDone done);

}  // namespace ks::client
