// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/messages.h"

#include <cmath>
#include <iterator>
#include <string>
#include <vector>

namespace tandem::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using testbench::Seeded;

constexpr size_t kMostBytes = 4096;  ///< doubled elements and words are not longer
constexpr int kMostElements = 4096;

std::vector<const FieldDescriptor*> fields_of(const Message& message) {
    std::vector<const FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    return fields;
}

/// The message and all within it, outer ones first.
void collect(Message& message, std::vector<Message*>& all) {
    all.push_back(&message);
    const auto* const reflection = message.GetReflection();
    for (const auto* const field : fields_of(message)) {
        if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
        if (!field->is_repeated()) {
            collect(*reflection->MutableMessage(&message, field), all);
            continue;
        }
        for (int i = 0; i < reflection->FieldSize(message, field); ++i)
            collect(*reflection->MutableRepeatedMessage(&message, field, i), all);
    }
}

class Change {
  public:
    Change(Message& root, Seeded& random) : random_(random) {
        collect(root, messages_);
        for (const Message* const one : messages_)
            for (const auto* const field : fields_of(*one))
                if (field->cpp_type() == FieldDescriptor::CPPTYPE_STRING) add_words(*one, *field);
    }

    void run() {
        Message& message = *messages_[random_.below(messages_.size())];
        const auto fields = fields_of(message);
        if (fields.empty() || random_.chance(10)) return set_any(message);
        const FieldDescriptor& field = *fields[random_.below(fields.size())];
        if (random_.chance(8)) return message.GetReflection()->ClearField(&message, &field);
        field.is_repeated() ? change_list(message, field) : change_one(message, field);
    }

  private:
    void add_words(const Message& message, const FieldDescriptor& field) {
        const auto* const reflection = message.GetReflection();
        const auto add = [&](std::string word) {
            if (word.size() <= kMostBytes) words_.push_back(std::move(word));
        };
        if (!field.is_repeated()) return add(reflection->GetString(message, &field));
        for (int i = 0; i < reflection->FieldSize(message, &field); ++i)
            add(reflection->GetRepeatedString(message, &field, i));
    }

    int64_t integer() {
        constexpr int64_t kLimits[] = {0,
                                       1,
                                       -1,
                                       2,
                                       3,
                                       4,
                                       7,
                                       127,
                                       -128,
                                       255,
                                       65536,
                                       INT32_MAX,
                                       INT32_MIN,
                                       int64_t{1} << 32,
                                       int64_t{1} << 62,
                                       INT64_MAX,
                                       INT64_MIN};
        return random_.chance(60) ? random_.between(-2, 20)
                                  : kLimits[random_.below(std::size(kLimits))];
    }
    double real() {
        constexpr double kReals[] = {0., 1., -1., 0.5, 2., 1e-45, 1e38, INFINITY, -INFINITY, NAN};
        return kReals[random_.below(std::size(kReals))];
    }
    /// Mostly one that stands elsewhere; sometimes as it was, with an end missing or too much.
    std::string word(std::string old) {
        if (random_.chance(70) && !words_.empty()) return words_[random_.below(words_.size())];
        if (random_.chance(50)) return old.substr(0, random_.below(old.size() + 1));
        if (old.size() < kMostBytes)
            old.insert(random_.below(old.size() + 1), 1 + random_.below(9), '\xff');
        return old;
    }

    /// A field that has no value, or another element of a list.
    void set_any(Message& message) {
        const auto* const type = message.GetDescriptor();
        if (type->field_count() == 0) return;
        const auto& field = *type->field(
            static_cast<int>(random_.below(static_cast<uint64_t>(type->field_count()))));
        field.is_repeated() ? append(message, field) : change_one(message, field);
    }

    void change_one(Message& message, const FieldDescriptor& field) {
        const auto* const reflection = message.GetReflection();
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection->SetInt32(&message, &field, static_cast<int32_t>(integer()));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection->SetInt64(&message, &field, integer());
            case FieldDescriptor::CPPTYPE_UINT64:
                return reflection->SetUInt64(&message, &field, static_cast<uint64_t>(integer()));
            case FieldDescriptor::CPPTYPE_FLOAT:
                return reflection->SetFloat(&message, &field, static_cast<float>(real()));
            case FieldDescriptor::CPPTYPE_DOUBLE:
                return reflection->SetDouble(&message, &field, real());
            case FieldDescriptor::CPPTYPE_ENUM: {
                const auto& kinds = *field.enum_type();
                const auto count = static_cast<uint64_t>(kinds.value_count());
                return reflection->SetEnum(&message, &field,
                                           kinds.value(static_cast<int>(random_.below(count))));
            }
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection->SetString(&message, &field,
                                             word(reflection->GetString(message, &field)));
            case FieldDescriptor::CPPTYPE_MESSAGE: {
                const std::string bytes = another(field);
                reflection->MutableMessage(&message, &field)->ParsePartialFromString(bytes);
                return;
            }
            default:
                return;
        }
    }

    /// Bytes of a message of this kind, or none. Taken before the place is made that they go to:
    /// that may end the life of another.
    std::string another(const FieldDescriptor& field) {
        const Message& other = *messages_[random_.below(messages_.size())];
        if (other.GetDescriptor() != field.message_type() || other.ByteSizeLong() > kMostBytes)
            return "";
        return other.SerializePartialAsString();
    }

    void append(Message& message, const FieldDescriptor& field) {
        const auto* const reflection = message.GetReflection();
        if (reflection->FieldSize(message, &field) >= kMostElements) return;
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection->AddInt32(&message, &field, static_cast<int32_t>(integer()));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection->AddInt64(&message, &field, integer());
            case FieldDescriptor::CPPTYPE_UINT64:
                return reflection->AddUInt64(&message, &field, static_cast<uint64_t>(integer()));
            case FieldDescriptor::CPPTYPE_FLOAT:
                return reflection->AddFloat(&message, &field, static_cast<float>(real()));
            case FieldDescriptor::CPPTYPE_DOUBLE:
                return reflection->AddDouble(&message, &field, real());
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection->AddString(&message, &field, word(""));
            case FieldDescriptor::CPPTYPE_MESSAGE: {
                const std::string bytes = another(field);
                reflection->AddMessage(&message, &field)->ParsePartialFromString(bytes);
                return;
            }
            default:
                return;
        }
    }

    void set_element(Message& message, const FieldDescriptor& field, int at) {
        const auto* const reflection = message.GetReflection();
        switch (field.cpp_type()) {
            case FieldDescriptor::CPPTYPE_INT32:
                return reflection->SetRepeatedInt32(&message, &field, at,
                                                    static_cast<int32_t>(integer()));
            case FieldDescriptor::CPPTYPE_INT64:
                return reflection->SetRepeatedInt64(&message, &field, at, integer());
            case FieldDescriptor::CPPTYPE_FLOAT:
                return reflection->SetRepeatedFloat(&message, &field, at,
                                                    static_cast<float>(real()));
            case FieldDescriptor::CPPTYPE_STRING:
                return reflection->SetRepeatedString(
                    &message, &field, at, word(reflection->GetRepeatedString(message, &field, at)));
            case FieldDescriptor::CPPTYPE_MESSAGE: {
                const std::string bytes = another(field);
                reflection->MutableRepeatedMessage(&message, &field, at)
                    ->ParsePartialFromString(bytes);
                return;
            }
            default:
                return;
        }
    }

    void change_list(Message& message, const FieldDescriptor& field) {
        const auto* const reflection = message.GetReflection();
        const auto count = static_cast<uint64_t>(reflection->FieldSize(message, &field));
        const auto any = [&] { return static_cast<int>(random_.below(count)); };
        switch (random_.below(6)) {
            case 0:
                return reflection->SwapElements(&message, &field, any(), any());
            case 1:
                return reflection->RemoveLast(&message, &field);
            case 2:
                return append(message, field);
            default:
                return set_element(message, field, any());
        }
    }

    std::vector<Message*> messages_;
    std::vector<std::string> words_;
    Seeded& random_;
};

}  // namespace

void change_message(Message& message, Seeded& random) { Change(message, random).run(); }

}  // namespace tandem::fuzz
