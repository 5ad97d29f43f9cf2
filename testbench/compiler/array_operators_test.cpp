// SPDX-License-Identifier: Apache-2.0
// Operators over arrays of any number of axes, on the interpreter, against loops over indices
// written from their definitions; formulas against the C++ library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>

#include "base/error.h"
#include "compiler/graph/text.h"
#include "compiler/graph/verify.h"
#include "testbench/compiler/machine_run.h"
#include "testbench/compiler/random_chip.h"
#include "testbench/compiler/test_chips.h"

namespace tandem::testbench {
namespace {

using Indices = std::vector<int64_t>;
using Values = std::vector<double>;

struct Array {
    Indices shape;
    Values values;

    double& at(const Indices& place) {
        size_t i = 0;
        for (size_t axis = 0; axis < shape.size(); ++axis)
            i = i * static_cast<size_t>(shape[axis]) + static_cast<size_t>(place[axis]);
        return values.at(i);
    }
    double at(const Indices& place) const { return const_cast<Array*>(this)->at(place); }
};

/// Every place of a shape, the last axis fastest.
void for_each(const Indices& shape, const std::function<void(const Indices&)>& each) {
    Indices place(shape.size());
    int64_t count = 1;
    for (const int64_t extent : shape) count *= extent;
    for (int64_t i = 0; i < count; ++i) {
        int64_t rest = i;
        for (size_t axis = shape.size(); axis-- > 0;) {
            place[axis] = rest % shape[axis];
            rest /= shape[axis];
        }
        each(place);
    }
}

Array made(const Indices& shape, const std::function<double(const Indices&)>& value) {
    Array array{shape, {}};
    for_each(shape, [&](const Indices& place) { array.values.push_back(value(place)); });
    return array;
}

/// Whole numbers, which every type holds.
Array random_array(const Indices& shape, int least, int most, uint32_t seed) {
    std::mt19937 random(seed);
    return made(shape, [&](const Indices&) {
        return least + static_cast<int>(random() % static_cast<uint32_t>(most - least + 1));
    });
}

std::string text_of(const Indices& numbers, const char* between) {
    std::string text;
    for (const int64_t one : numbers) text += (text.empty() ? "" : between) + std::to_string(one);
    return text.empty() ? "scalar" : text;
}

void append(Int8s& bytes, const Array& array, bool floats) {
    for (const double value : array.values) {
        const auto real = static_cast<float>(value);
        const auto whole = static_cast<int32_t>(value);
        int8_t word[4];
        std::memcpy(word, floats ? static_cast<const void*>(&real) : &whole, 4);
        bytes.insert(bytes.end(), word, word + 4);
    }
}

/// One node, from text; inputs and output in fp32 or int32.
struct OneNode {
    std::string op;  ///< with its attributes
    std::vector<Array> inputs;
    Indices output;
    std::string types{};   ///< of the inputs, then the output: f or i; empty: all f
    size_t constants = 0;  ///< so many of the last inputs

    bool is_float(size_t i) const { return types.empty() || types.at(i) == 'f'; }

    compiler::Graph graph() const {
        std::string text = "tgraph 1\n", ids, names;
        for (size_t i = 0; i < inputs.size(); ++i) {
            const bool constant = i + constants >= inputs.size();
            const std::string id = "%" + std::to_string(i);
            text += (constant ? "constant " : "tensor ") + id + " \"t" + std::to_string(i) + "\" " +
                    (is_float(i) ? "FLOAT32 " : "INT32 ") + text_of(inputs[i].shape, "x") + "\n";
            if (constant) {
                Int8s bytes;
                append(bytes, inputs[i], is_float(i));
                text += "bytes ";
                for (const int8_t byte : bytes) {
                    constexpr char kDigits[] = "0123456789abcdef";
                    text += kDigits[static_cast<uint8_t>(byte) >> 4];
                    text += kDigits[static_cast<uint8_t>(byte) & 15];
                }
                text += "\n";
            } else {
                names += (names.empty() ? "" : ",") + id;
            }
            ids += (ids.empty() ? "" : ",") + id;
        }
        const std::string out = "%" + std::to_string(inputs.size());
        const size_t space = op.find(' ');
        text += "tensor " + out + " \"y\" " + (is_float(inputs.size()) ? "FLOAT32 " : "INT32 ") +
                text_of(output, "x") + "\nnode 0 " + op.substr(0, space) + " \"n\" inputs=" + ids +
                " outputs=" + out + (space == std::string::npos ? "" : op.substr(space)) +
                "\ninputs " + names + "\noutputs " + out + "\n";
        compiler::Graph graph = compiler::parse_graph(text, "test");
        compiler::verify(graph);
        return graph;
    }

    Values run(const arch::ChipConfig& chip) const {
        Int8s bytes;
        for (size_t i = 0; i + constants < inputs.size(); ++i)
            append(bytes, inputs[i], is_float(i));
        const Int8s found =
            run_image(chip, compiler::compile(graph(), chip), bytes, Order::number(0));
        Values values;
        for (size_t at = 0; at < found.size(); at += 4) {
            float real = 0;
            int32_t whole = 0;
            std::memcpy(&real, found.data() + at, 4);
            std::memcpy(&whole, found.data() + at, 4);
            values.push_back(is_float(inputs.size()) ? double{real} : whole);
        }
        return values;
    }
};

std::vector<arch::ChipConfig> chips() {
    std::vector<arch::ChipConfig> all;
    for (const uint32_t cores : {1u, 3u})
        for (const uint64_t buffer : {uint64_t{64} * 1024, uint64_t{12} * 1024}) {
            auto chip = test_chip(8, 8);
            chip.cores = cores;
            chip.memory.bytes = 1 << 20;
            chip.unified_buffer_bytes = buffer;
            all.push_back(chip);
        }
    return all;
}

void expect_equal(const OneNode& node, const std::function<double(const Indices&)>& expected) {
    const Values right = made(node.output, expected).values;
    for (const auto& chip : chips()) EXPECT_EQ(node.run(chip), right) << node.op << chip.cores;
}

/// The element of an operand that is broadcast to the place.
double broadcast_at(const Array& array, const Indices& place) {
    Indices own(place.end() - static_cast<ptrdiff_t>(array.shape.size()), place.end());
    for (size_t i = 0; i < own.size(); ++i)
        if (array.shape[i] == 1) own[i] = 0;
    return array.at(own);
}

TEST(ArrayOperators, ElementwiseBroadcasts) {
    const Array a = random_array({7, 1, 4, 5}, -9, 9, 1), b = random_array({3, 1, 5}, -9, 9, 2),
                c = random_array({4, 1}, -9, 9, 3);
    for (const size_t constants : {0u, 1u, 2u})
        expect_equal({"ELEMENTWISE formula=\"select(a < b, a * b + c, -a - c)\"",
                      {a, b, c},
                      {7, 3, 4, 5},
                      "",
                      constants},
                     [&](const Indices& p) {
                         const double x = broadcast_at(a, p), y = broadcast_at(b, p),
                                      z = broadcast_at(c, p);
                         return x < y ? x * y + z : -x - z;
                     });
}

TEST(ArrayOperators, IntegersDivideAsTheirDefinitions) {
    Array a = random_array({40, 9}, -100, 100, 1), b = random_array({9}, 1, 12, 2);
    for (size_t i = 0; i < 9; i += 2) b.values[i] = -b.values[i];
    // What a float does not hold.
    a.values[0] = 2147483647, a.values[1] = -2147483647, a.values[2] = 2147483600;
    const auto floored = [](int64_t x, int64_t y) {
        return x / y - (x % y != 0 && (x < 0) != (y < 0));
    };
    const auto expect = [&](const std::string& formula,
                            const std::function<int64_t(int64_t, int64_t)>& right) {
        expect_equal(
            {"ELEMENTWISE formula=\"" + formula + "\"", {a, b}, {40, 9}, "iii"},
            [&](const Indices& p) {
                return static_cast<double>(
                    right(static_cast<int64_t>(a.at(p)), static_cast<int64_t>(broadcast_at(b, p))));
            });
    };
    expect("div(a, b)", [](int64_t x, int64_t y) { return x / y; });
    expect("fmod(a, b)", [](int64_t x, int64_t y) { return x % y; });
    expect("remainder(a, b)", [&](int64_t x, int64_t y) { return x - floored(x, y) * y; });
    expect("sign(a) * min(abs(b), 3) + (a == b)", [](int64_t x, int64_t y) {
        return (x > 0 ? 1 : x < 0 ? -1 : 0) * std::min<int64_t>(std::abs(y), 3) + (x == y);
    });
}

struct RealFunction {
    std::string formula;
    double (*right)(double);
    double low, high;
};

/// 1e-5 of the largest, for each value: what float arithmetic of a few steps loses.
TEST(ArrayOperators, FunctionsAreThoseOfTheLibrary) {
    const std::vector<RealFunction> functions = {
        {"sin(a)", [](double x) { return std::sin(x); }, -30, 30},
        {"cos(a)", [](double x) { return std::cos(x); }, -30, 30},
        {"tan(a)", [](double x) { return std::tan(x); }, -1.5, 1.5},
        {"asin(a)", [](double x) { return std::asin(x); }, -1, 1},
        {"acos(a)", [](double x) { return std::acos(x); }, -1, 1},
        {"atan(a)", [](double x) { return std::atan(x); }, -50, 50},
        {"sinh(a)", [](double x) { return std::sinh(x); }, -3, 3},
        {"cosh(a)", [](double x) { return std::cosh(x); }, -3, 3},
        {"asinh(a)", [](double x) { return std::asinh(x); }, -20, 20},
        {"acosh(a)", [](double x) { return std::acosh(x); }, 1, 20},
        {"atanh(a)", [](double x) { return std::atanh(x); }, -0.99, 0.99},
        {"softplus(a)", [](double x) { return std::log1p(std::exp(x)); }, -20, 20},
        {"erf(a) + tanh(a) * sigmoid(a)",
         [](double x) { return std::erf(x) + std::tanh(x) / (1 + std::exp(-x)); }, -3, 3},
        {"ceil(a) + nearest(a) * 3 + trunc(a)",
         [](double x) { return std::ceil(x) + std::nearbyint(x) * 3 + std::trunc(x); }, -9, 9},
        {"power(abs(a), 2.5) + reciprocal(a)",
         [](double x) { return std::pow(std::abs(x), 2.5) + 1 / x; }, 0.5, 4},
        {"elu(a, 0.5)", [](double x) { return x < 0 ? 0.5 * std::expm1(x) : x; }, -4, 4},
    };
    constexpr int kCount = 301;
    for (const RealFunction& f : functions) {
        const Array x = made({kCount}, [&](const Indices& p) {
            const double at = f.low + (f.high - f.low) * static_cast<double>(p[0]) / (kCount - 1);
            return double{static_cast<float>(at)};
        });
        const OneNode node{"ELEMENTWISE formula=\"" + f.formula + "\"", {x}, {kCount}};
        for (const auto& chip : {chips().front(), chips().back()}) {
            const Values found = node.run(chip);
            for (size_t i = 0; i < found.size(); ++i) {
                const double right = f.right(x.values[i]);
                EXPECT_NEAR(found[i], right, 1e-5 * std::max(1.0, std::abs(right)))
                    << f.formula << " of " << x.values[i];
            }
        }
    }
}

TEST(ArrayOperators, MovesReachEveryElement) {
    const Array x = random_array({3, 4, 2, 5, 6}, -99, 99, 1);
    expect_equal({"TRANSPOSE perm=3,0,4,2,1", {x}, {5, 3, 6, 2, 4}}, [&](const Indices& p) {
        return x.at({p[1], p[4], p[3], p[0], p[2]});
    });
    expect_equal({"SLICE begin=2,0,1,4,5 size=2,4,1,2,3 step=-1,1,1,-3,-2", {x}, {2, 4, 1, 2, 3}},
                 [&](const Indices& p) {
                     return x.at({2 - p[0], p[1], 1, 4 - 3 * p[3], 5 - 2 * p[4]});
                 });
    const Array y = random_array({4, 1, 6}, -99, 99, 2);
    expect_equal({"BROADCAST_TO", {y}, {3, 4, 5, 6}}, [&](const Indices& p) {
        return y.at({p[1], 0, p[3]});
    });
    expect_equal({"PAD before=0,2,0,1,0 behind=0,0,1,3,0 fill=-7", {x}, {3, 6, 3, 9, 6}},
                 [&](const Indices& p) {
                     const bool inside = p[1] >= 2 && p[2] < 2 && p[3] >= 1 && p[3] < 6;
                     return inside ? x.at({p[0], p[1] - 2, p[2], p[3] - 1, p[4]}) : -7;
                 });
    expect_equal({"PAD before=1 behind=2 fill=3", {random_array({4}, 1, 9, 3)}, {7}, "ii"},
                 [values = random_array({4}, 1, 9, 3)](const Indices& p) {
                     return p[0] >= 1 && p[0] < 5 ? values.at({p[0] - 1}) : 3;
                 });
}

TEST(ArrayOperators, ConcatenationPutsSideBySide) {
    const Array a = random_array({3, 2, 5}, -9, 9, 1), b = random_array({3, 4, 5}, -9, 9, 2),
                c = random_array({3, 1, 5}, -9, 9, 3);
    for (const size_t constants : {0u, 1u})
        expect_equal({"CONCATENATION axis=1", {a, b, c}, {3, 7, 5}, "", constants},
                     [&](const Indices& p) {
                         return p[1] < 2   ? a.at(p)
                                : p[1] < 6 ? b.at({p[0], p[1] - 2, p[2]})
                                           : c.at({p[0], 0, p[2]});
                     });
    expect_equal({"CONCATENATION axis=0", {a, a}, {6, 2, 5}}, [&](const Indices& p) {
        return a.at({p[0] % 3, p[1], p[2]});
    });
}

TEST(ArrayOperators, ReductionsRunOverTheirAxes) {
    const Array x = random_array({3, 4, 5, 6}, -50, 50, 1);
    const std::vector<std::pair<std::string, std::function<double(const Values&)>>> functions = {
        {"SUM", [](const Values& v) { return std::accumulate(v.begin(), v.end(), 0.0); }},
        {"MAX", [](const Values& v) { return std::ranges::max(v); }},
        {"MIN", [](const Values& v) { return std::ranges::min(v); }},
        {"ARG_MAX", [](const Values& v) {
             return static_cast<double>(std::ranges::max_element(v) - v.begin());
         }}};
    for (const Indices& axes : {Indices{0}, {3}, {1, 2}, {0, 2}, {0, 1, 2, 3}, {1, 3}})
        for (const auto& [name, right] : functions) {
            Indices out = x.shape;
            for (const int64_t axis : axes) out[static_cast<size_t>(axis)] = 1;
            const bool place = name == "ARG_MAX";
            for (const std::string& types :
                 {std::string("f") + (place ? "i" : "f"), std::string("ii")})
                expect_equal(
                    {"REDUCE function=" + name + " axes=" + text_of(axes, ",") + " keep_dims=1",
                     {x},
                     out,
                     types},
                    [&, right = right](const Indices& p) {
                        Values of_place;
                        for_each(x.shape, [&](const Indices& at) {
                            Indices kept = at;
                            for (const int64_t axis : axes) kept[static_cast<size_t>(axis)] = 0;
                            if (kept == p) of_place.push_back(x.at(at));
                        });
                        return right(of_place);
                    });
        }
}

TEST(ArrayOperators, GatherTakesRowsByTheirNumbers) {
    const Array rows = random_array({11, 3, 2}, -99, 99, 1),
                numbers = random_array({4, 5}, 0, 10, 2);
    for (const size_t constants : {0u, 1u})
        expect_equal({"GATHER", {numbers, rows}, {4, 5, 3, 2}, "iff", constants},
                     [&](const Indices& p) {
                         const auto row = static_cast<int64_t>(numbers.at({p[0], p[1]}));
                         return rows.at({row, p[2], p[3]});
                     });
}

/// An alias of an input that goes through in rounds: each of them loads its own part.
TEST(ArrayOperators, AReshapedInputIsLoadedWhole) {
    const std::string text =
        "tgraph 1\n"
        "tensor %0 \"x\" FLOAT32 40x30\ntensor %1 \"r\" FLOAT32 40x5x6\n"
        "tensor %2 \"t\" FLOAT32 40x6x5\ntensor %3 \"y\" FLOAT32 40x6x5\n"
        "node 0 RESHAPE \"r\" inputs=%0 outputs=%1\n"
        "node 1 TRANSPOSE \"t\" inputs=%1 outputs=%2 perm=0,2,1\n"
        "node 2 ELEMENTWISE \"y\" inputs=%2 outputs=%3 formula=\"a + 1\"\n"
        "inputs %0\noutputs %3\n";
    const auto graph = compiler::parse_graph(text, "test");
    const Array x = random_array({40, 5, 6}, -99, 99, 1);
    Int8s bytes, right;
    append(bytes, x, true);
    append(right,
           made({40, 6, 5},
                [&](const Indices& p) {
                    return x.at({p[0], p[2], p[1]}) + 1;
                }),
           true);
    for (const uint32_t rounds : {1u, 2u, 3u, 5u})
        for (const auto& chip : chips()) {
            compiler::CompileOptions options;
            options.rounds = rounds;
            EXPECT_EQ(
                run_image(chip, compiler::compile(graph, chip, options), bytes, Order::number(0)),
                right)
                << rounds;
        }
}

TEST(ArrayOperators, MistakesAreNamed) {
    const Array x = random_array({2, 3}, -9, 9, 1);
    const auto expect = [&](const std::string& op, const Indices& out, const std::string& part,
                            const std::string& types = "") {
        try {
            (void)OneNode{op, {x}, out, types}.graph();
            ADD_FAILURE() << op << ": no error";
        } catch (const UserError& error) {
            EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
        }
    };
    expect("ELEMENTWISE formula=\"a +\"", {2, 3}, "an operand, a number or a function");
    expect("ELEMENTWISE formula=\"a + d\"", {2, 3}, "found 'd'");
    expect("ELEMENTWISE formula=\"sinc(a)\"", {2, 3}, "found 'sinc'");
    expect("ELEMENTWISE formula=\"a < 1\"", {2, 3}, "expected INT32");
    expect("ELEMENTWISE formula=\"exp(a)\"", {2, 3}, "a float as argument 1 of exp", "ii");
    expect("ELEMENTWISE formula=\"a + 0.5\"", {2, 3}, "of add", "ii");
    expect("ELEMENTWISE formula=\"" + std::string(100, '(') + "a\"", {2, 3}, "at most 64");
    expect("REDUCE function=SUM", {2, 3}, "expected 1 or more");
    expect("REDUCE function=SUM axes=2", {2, 3}, "axes of 2x3");
    expect("SLICE begin=0,0 size=2,3 step=1,2", {2, 3}, "element 4 of axis 1");
    expect("PAD before=1 behind=1", {4, 3}, "one number per axis");
    expect("CONCATENATION axis=2", {2, 3}, "an axis of 2x3");
    expect("BROADCAST_TO", {2, 4}, "goes with 2x4");
}

}  // namespace
}  // namespace tandem::testbench
