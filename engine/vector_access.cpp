// SPDX-License-Identifier: Apache-2.0
#include "engine/vector_access.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "engine/chain_arithmetic.h"

namespace tandem::engine {
namespace {

using arch::VectorType;

template <class T>
[[gnu::always_inline]] inline T get(const uint8_t* from) {
    T value;
    std::memcpy(&value, from, sizeof value);
    return value;
}

/// Elements of type T, changed by `form`: one behind the other, all the same one, or apart.
template <class T, class Form>
struct Load {
    const uint8_t* from;
    const Run& run;
    uint32_t* to;
    Form form;

    [[gnu::always_inline]] inline void operator()() const {
        constexpr uint64_t kNarrow = 8;
        if (run.rows > 1 && run.count < kNarrow) return columns();
        for (uint64_t row = 0; row < run.rows; ++row)
            line(from + static_cast<int64_t>(row) * run.pitch, to + row * run.count);
    }

    [[gnu::always_inline]] inline void columns() const {
        const uint64_t count = run.count, rows = run.rows;
        const int64_t pitch = run.pitch;
        for (uint64_t column = 0; column < count; ++column) {
            const uint8_t* source = from + static_cast<int64_t>(column) * run.stride;
            uint32_t* target = to + column;
            for (uint64_t row = 0; row < rows; ++row, source += pitch, target += count)
                *target = form(get<T>(source));
        }
    }

    [[gnu::always_inline]] inline void line(const uint8_t* source, uint32_t* target) const {
        const uint64_t count = run.count;
        const int64_t stride = run.stride;
        if (stride == sizeof(T)) {
#pragma GCC ivdep
            for (size_t i = 0; i < count; ++i) target[i] = form(get<T>(source + i * sizeof(T)));
        } else if (stride == 0) {
            std::fill_n(target, count, form(get<T>(source)));
        } else {
            for (size_t i = 0; i < count; ++i, source += stride) target[i] = form(get<T>(source));
        }
    }
};

template <class T, class Form>
void load(const uint8_t* from, Run run, uint32_t* to, VectorKernel kernel, Form form) {
    if (run.pitch == static_cast<int64_t>(run.count) * run.stride)
        run.count *= std::exchange(run.rows, 1);
    if (run.count == 1) {
        run.stride = run.pitch;
        run.count = std::exchange(run.rows, 1);
    }
    run_on(kernel, Load<T, Form>{from, run, to, form});
}

template <class T>
struct Store {
    const uint32_t* from;
    size_t count;
    uint8_t* to;
    int64_t stride;

    [[gnu::always_inline]] inline void operator()() const {
        const uint32_t* source = from;
        uint8_t* target = to;
        if (stride == sizeof(T)) {
#pragma GCC ivdep
            for (size_t i = 0; i < count; ++i) {
                const T value = static_cast<T>(source[i]);
                std::memcpy(target + i * sizeof(T), &value, sizeof value);
            }
        } else {
            for (size_t i = 0; i < count; ++i, target += stride) {
                const T value = static_cast<T>(source[i]);
                std::memcpy(target, &value, sizeof value);
            }
        }
    }
};

/// Results as the bits of their type.
struct Finish {
    OutputForm form;
    uint32_t* values;
    size_t count;

    template <class Body>
    [[gnu::always_inline]] inline void each(Body body) const {
        uint32_t* at = values;
        for (size_t i = 0; i < count; ++i) at[i] = body(at[i]);
    }

    [[gnu::always_inline]] inline void operator()() const {
        const int32_t zero = form.zero, low = form.clamp_min,
                      high = std::max(form.clamp_min, form.clamp_max);
        switch (form.type) {
            case VectorType::kInt8:
                // Limits of what is not moved yet: nothing overflows.
                return each([=](uint32_t bits) {
                    int32_t value = chain::as_int(bits);
                    value = value < low - zero ? low - zero : value;
                    value = value > high - zero ? high - zero : value;
                    return chain::as_bits(value + zero);
                });
            case VectorType::kInt32:
                return;
            case VectorType::kBf16:
                return each([](uint32_t bits) { return uint32_t{bf16::narrow(bits)}; });
            case VectorType::kFp32:
                return each([](uint32_t bits) { return chain::canonical(bits); });
        }
    }
};

}  // namespace

void load_run(VectorType type, int32_t zero, std::span<const uint8_t> buffer, const Run& run,
              uint32_t* to, VectorKernel kernel) {
    const uint8_t* from = buffer.data() + run.at;
    switch (type) {
        case VectorType::kInt8:
            return load<int8_t>(from, run, to, kernel,
                                [zero](int8_t value) { return chain::as_bits(value - zero); });
        case VectorType::kInt32:
            return load<uint32_t>(from, run, to, kernel, [](uint32_t bits) { return bits; });
        case VectorType::kBf16:
            return load<uint16_t>(from, run, to, kernel, [](uint16_t bits) {
                return chain::canonical(uint32_t{bits} << 16);
            });
        case VectorType::kFp32:
            return load<uint32_t>(from, run, to, kernel,
                                  [](uint32_t bits) { return chain::canonical(bits); });
    }
}

void load_bits(uint32_t bytes, std::span<const uint8_t> buffer, const Run& run, uint32_t* to,
               VectorKernel kernel) {
    const uint8_t* from = buffer.data() + run.at;
    const auto same = [](uint32_t bits) { return bits; };
    if (bytes == 1) return load<uint8_t>(from, run, to, kernel, same);
    if (bytes == 2) return load<uint16_t>(from, run, to, kernel, same);
    load<uint32_t>(from, run, to, kernel, same);
}

void store_bits(uint32_t bytes, const uint32_t* from, std::span<uint8_t> buffer, const Run& run,
                VectorKernel kernel) {
    uint8_t* to = buffer.data() + run.at;
    if (bytes == 1) return run_on(kernel, Store<uint8_t>{from, run.count, to, run.stride});
    if (bytes == 2) return run_on(kernel, Store<uint16_t>{from, run.count, to, run.stride});
    run_on(kernel, Store<uint32_t>{from, run.count, to, run.stride});
}

size_t ElementReader::next(uint32_t* to, size_t most) {
    const Run run = runs_.next(most);
    if (run.inside)
        load_run(type_, zero_, buffer_, run, to, kernel_);
    else
        std::fill_n(to, run.count, fill_);
    return run.count;
}

void ElementReader::read(uint32_t* to, size_t count) {
    for (size_t done = 0; done < count;) done += next(to + done, count - done);
}

void finish(const OutputForm& form, uint32_t* values, size_t count, VectorKernel kernel) {
    run_on(kernel, Finish{form, values, count});
}

void ElementWriter::write(uint32_t* from, size_t count) {
    finish(form_, from, count, kernel_);
    write_bits(from, count);
}

void ElementWriter::write_bits(const uint32_t* from, size_t count) {
    for (size_t done = 0; done < count;) {
        const Run run = runs_.next(count - done);
        store_bits(arch::bytes_of(form_.type), from + done, buffer_, run, kernel_);
        done += run.count;
    }
}

}  // namespace tandem::engine
