// SPDX-License-Identifier: Apache-2.0
// Messages of protobuf changed field by field: they stay messages, and mean something else.
#pragma once

#include <google/protobuf/message.h>

#include "testbench/support/seeded.h"

namespace tandem::fuzz {

/// One field of the message or of one within it: another number or kind, a word from elsewhere in
/// the message, elements swapped, doubled or taken away, a field cleared.
void change_message(google::protobuf::Message& message, testbench::Seeded& random);

}  // namespace tandem::fuzz
