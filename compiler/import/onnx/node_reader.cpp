// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/onnx/node_reader.h"

#include <algorithm>

#include "base/error.h"
#include "base/terminal.h"

namespace tandem::compiler {

using onnx::AttributeProto;

std::string NodeReader::text() const {
    std::string name = node_.name();
    if (name.empty() && node_.output_size() != 0) name = node_.output(0);
    return base::printable("node " + std::to_string(index_) + " (" + type() + " '" + name + "')");
}

const std::string& NodeReader::input(int i) const {
    if (!has_input(i)) fail("inputs", "more than " + std::to_string(i), std::to_string(inputs()));
    return node_.input(i);
}

const std::string& NodeReader::output() const {
    for (int i = 1; i < node_.output_size(); ++i)
        if (!node_.output(i).empty()) fail("outputs", "1", std::to_string(node_.output_size()));
    if (node_.output_size() == 0 || node_.output(0).empty()) fail("outputs", "1", "none");
    return node_.output(0);
}

const AttributeProto* NodeReader::find(const std::string& name) const {
    const auto& all = node_.attribute();
    const auto found = std::ranges::find(all, name, &AttributeProto::name);
    return found == all.end() ? nullptr : &*found;
}

const AttributeProto* NodeReader::find(const std::string& name,
                                       AttributeProto::AttributeType type) const {
    const AttributeProto* const found = find(name);
    if (found != nullptr && found->type() != type)
        fail("attribute " + name, AttributeProto::AttributeType_Name(type),
             AttributeProto::AttributeType_Name(found->type()));
    return found;
}

int64_t NodeReader::integer(const std::string& name, int64_t otherwise) const {
    const auto* const found = find(name, AttributeProto::INT);
    if (found == nullptr) return otherwise;
    // Whoever computes with it does so in 64 bits.
    if (found->i() < INT32_MIN || found->i() > INT32_MAX)
        fail("attribute " + name, "32 bits", std::to_string(found->i()));
    return found->i();
}

float NodeReader::real(const std::string& name, float otherwise) const {
    const auto* const found = find(name, AttributeProto::FLOAT);
    return found == nullptr ? otherwise : found->f();
}

std::string NodeReader::word(const std::string& name, const std::string& otherwise) const {
    const auto* const found = find(name, AttributeProto::STRING);
    return found == nullptr ? otherwise : found->s();
}

std::vector<int64_t> NodeReader::integers(const std::string& name,
                                          const std::vector<int64_t>& otherwise) const {
    const auto* const found = find(name, AttributeProto::INTS);
    if (found == nullptr) return otherwise;
    // Where a slice ends at the largest number, it ends at the end: so does all else.
    std::vector<int64_t> values;
    for (const int64_t one : found->ints())
        values.push_back(std::clamp<int64_t>(one, INT32_MIN, INT32_MAX));
    return values;
}

std::vector<float> NodeReader::reals(const std::string& name,
                                     const std::vector<float>& otherwise) const {
    const auto* const found = find(name, AttributeProto::FLOATS);
    if (found == nullptr) return otherwise;
    return {found->floats().begin(), found->floats().end()};
}

}  // namespace tandem::compiler
