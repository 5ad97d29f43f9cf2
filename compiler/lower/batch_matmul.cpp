// SPDX-License-Identifier: Apache-2.0
#include "compiler/lower/batch_matmul.h"

#include <algorithm>
#include <numeric>

#include "base/divide.h"
#include "compiler/graph/matrix_pairs.h"
#include "compiler/lower/fit.h"
#include "compiler/lower/float_lowerings.h"
#include "compiler/lower/vector_steps.h"

namespace tandem::compiler {

namespace {

using arch::VectorType;
using base::divide_up;
using enum isa::ChainOp;

int32_t bytes_between(uint64_t bytes) { return fit<int32_t>(bytes, "bytes of a stride"); }

uint64_t product(const std::vector<uint64_t>& extents, size_t from, size_t to) {
    return std::accumulate(extents.begin() + static_cast<ptrdiff_t>(from),
                           extents.begin() + static_cast<ptrdiff_t>(to), uint64_t{1},
                           std::multiplies<>());
}

/// Elements along rows and columns of a matrix, and how far they are apart.
struct Matrix {
    uint64_t rows = 1, cols = 1;
    uint64_t row_step = 1, col_step = 1;  ///< elements
};

Matrix matrix(uint64_t rows, uint64_t cols, bool transposed) {
    return transposed ? Matrix{rows, cols, 1, rows} : Matrix{rows, cols, cols, 1};
}

class BatchMatmul {
  public:
    BatchMatmul(const LoweredNode& node, const arch::ChipConfig& chip)
        : node_(node),
          mxu_(chip.mxu),
          tile_bytes_(chip.tile_bytes()),
          pairs_(matrix_pairs(node.graph, node.node)),
          count_(node.batched(pairs_.count())),
          type_(vector_type(node.in().type)),
          element_(arch::bytes_of(type_)) {}

    std::vector<NodePart> run() {
        a_ = {false, 0}, b_ = {false, 1};
        if (pairs_.a != pairs_.out || pairs_.adj_x)
            a_ = add(spread("rows", a_, pairs_.a, matrix(pairs_.m, pairs_.k, pairs_.adj_x)));
        if (pairs_.b != pairs_.out) {
            const uint64_t rows = pairs_.adj_y ? pairs_.n : pairs_.k;
            const uint64_t cols = pairs_.adj_y ? pairs_.k : pairs_.n;
            b_ = add(spread("columns", b_, pairs_.b, matrix(rows, cols, false)));
        }
        const NodePart::Source tiles = add(make_tiles());
        if (arch::is_float(type_) || (zero(0) == 0 && zero(1) == 0)) {
            add(multiply(tiles, true));
            return std::move(parts_);
        }
        NodePart last = requantise();
        if (zero(1) != 0) last.inputs.push_back(add(row_sums()));
        if (zero(0) != 0) last.inputs.push_back(add(column_sums()));
        last.inputs.insert(last.inputs.begin(), add(multiply(tiles, false)));
        add(std::move(last));
        return std::move(parts_);
    }

  private:
    NodePart::Source add(NodePart part) {
        parts_.push_back(std::move(part));
        return {true, parts_.size() - 1};
    }

    int32_t zero(size_t input) const { return zero_point_of(node_.in(input)); }

    Matrix of_b() const { return matrix(pairs_.k, pairs_.n, pairs_.adj_y); }

    /// A matrix for each pair, row by row, of an input that has fewer, or other rows.
    NodePart spread(const char* name, NodePart::Source input, const std::vector<uint64_t>& front,
                    const Matrix& from) const {
        // Lines are what stands in front of the first extent that repeats matrices.
        const size_t whole =
            static_cast<size_t>(std::ranges::mismatch(front, pairs_.out).in1 - front.begin());
        const uint64_t matrix_bytes = from.rows * from.cols * element_;
        Extents shape{1, 1, 1, 1, from.rows, from.cols};
        arch::VectorView view{type_, {}};
        uint64_t step = matrix_bytes;
        for (size_t i = front.size(); i-- > whole;) {
            const size_t axis = 1 + i - whole;
            shape[axis] = pairs_.out[i];
            view.strides[axis] = front[i] == 1 ? 0 : bytes_between(step);
            step *= front[i];
        }
        view.strides[0] = bytes_between(step);
        view.strides[4] = bytes_between(from.row_step * element_);
        view.strides[5] = bytes_between(from.col_step * element_);
        NodePart part;
        part.name = name;
        part.inputs = {input};
        part.output_bytes = count_ * matrix_bytes;
        VectorWork work;
        work.lines = node_.batched(product(pairs_.out, 0, whole));
        work.input_line_bytes = {step};
        work.output_line_bytes = part.output_bytes / work.lines;
        work.steps = {move_step(shape, input_ref(0, view), output_ref(dense(type_, shape)))};
        part.work = std::move(work);
        return part;
    }

    uint64_t k_tiles() const { return divide_up(pairs_.k, mxu_.rows); }
    uint64_t tiles_of_pair() const { return k_tiles() * divide_up(pairs_.n, mxu_.cols); }

    /// Column tile by column tile, the K tiles of each one behind the other, zero beyond the
    /// matrix; pairs are lines. Axis 1 counts K tiles, 2 column tiles, 3 rows of a tile.
    NodePart make_tiles() const {
        const uint64_t full = pairs_.n / mxu_.cols, rest = pairs_.n % mxu_.cols;
        NodePart part;
        part.name = "tiles";
        part.inputs = {b_};
        part.makes_tiles = true;
        part.output_bytes = count_ * tiles_of_pair() * tile_bytes_;
        VectorWork work;
        work.lines = count_;
        work.input_line_bytes = {pairs_.k * pairs_.n * element_};
        work.output_line_bytes = tiles_of_pair() * tile_bytes_;
        if (full != 0) work.steps.push_back(tile_step(0, full, 0, mxu_.cols, true));
        if (rest != 0) {
            work.steps.push_back(tile_step(full, 1, 0, rest, true));
            work.steps.push_back(tile_step(full, 1, rest, mxu_.cols - rest, false));
        }
        part.work = std::move(work);
        return part;
    }

    /// Columns of `tiles` column tiles from `tile` on: those of the matrix, or zeros.
    VectorStep tile_step(uint64_t tile, uint64_t tiles, uint64_t col, uint64_t cols,
                         bool inside) const {
        const Matrix b = of_b();
        const arch::VectorView to{
            type_,
            {bytes_between(tiles_of_pair() * tile_bytes_), bytes_between(tile_bytes_),
             bytes_between(k_tiles() * tile_bytes_), bytes_between(mxu_.cols * element_), 0,
             bytes_between(element_)}};
        arch::VectorView from{type_, {bytes_between(pairs_.k * pairs_.n * element_)}};
        arch::Taps taps;
        taps.h = {fit<uint16_t>(mxu_.rows, "rows of an array"), 1, 0,
                  fit<uint16_t>(pairs_.k, "rows of the second matrix")};
        taps.w = {1, 0, 0, fit<uint16_t>(tiles, "column tiles of the second matrix")};
        if (inside) {
            from.strides[1] = bytes_between(b.row_step * element_);
            from.strides[2] = bytes_between(mxu_.cols * b.col_step * element_);
            from.strides[5] = bytes_between(b.col_step * element_);
        } else {
            taps.h = {0, 0, 1, 1};  // in front of the only line
            taps.w = taps.h;
        }
        VectorStep step = move_step({1, k_tiles(), tiles, mxu_.rows, 1, cols}, input_ref(0, from),
                                    output_ref(to));
        step.in[0].offset = inside ? tile * mxu_.cols * b.col_step * element_ : 0;
        step.out.offset = tile * k_tiles() * tile_bytes_ + col * element_;
        step.taps = true;
        step.own_taps = taps;
        return step;
    }

    /// Pairs are images, rows of the first matrix their lines. `complete`: this is the result.
    NodePart multiply(NodePart::Source tiles, bool complete) const {
        MatmulWork work;
        work.window.images = count_;
        work.window.in_h = work.window.out_h = pairs_.m;
        work.window.channels = pairs_.k;
        work.window.element_bytes = element_;
        work.weights_per_image = true;
        const auto k = fit<uint32_t>(pairs_.k, "columns of the first matrix");
        const auto n = fit<uint32_t>(pairs_.n, "columns of the second matrix");
        work.out_channels = n;
        work.groups = {{0, k, 0, k, n, n, {}}};
        NodePart part;
        part.inputs = {a_, tiles};
        if (!complete) {
            part.name = "sums";
            ChainBuilder f;
            work.floats.wide = true;
            work.floats.chain = f.chain(f(kCopy, f.a()));
            work.out_element_bytes = sizeof(int32_t);
        } else {
            work.out_element_bytes = static_cast<uint32_t>(element_type_bytes(node_.out().type));
            if (arch::is_float(type_))
                work.floats = float_drain(node_);
            else
                requantise_at_drain(part, work);
        }
        part.output_bytes = count_ * pairs_.m * pairs_.n * work.out_element_bytes;
        part.work = std::move(work);
        return part;
    }

    /// Also without data: constants that are as they are set already take fewer instructions.
    Multiplier multiplier() const {
        return channel_multiplier(node_.in().scale(), node_.in(1).scale(), node_.out().scale(),
                                  node_.rounding);
    }

    void requantise_at_drain(NodePart& part, MatmulWork& work) const {
        const Multiplier m = multiplier();
        work.range = range_of(node_);
        const std::vector<numerics::ChannelParams> params(
            std::min<uint64_t>(pairs_.n, mxu_.cols), numerics::ChannelParams{0, m.value, m.shift});
        part.params_bytes = params.size() * sizeof params[0];
        if (node_.has_data) part.params = bytes_of(params.data(), params.size());
    }

    /// A reduction of each pair's matrix to one int32 for each of `shape`'s axis 5.
    NodePart sums(const char* name, NodePart::Source input, VectorRef from, uint64_t extent,
                  int32_t by) const {
        ChainBuilder f;
        const Extents shape{1, 1, 1, 1, pairs_.k, extent};
        NodePart part;
        part.name = name;
        part.inputs = {input};
        part.output_bytes = count_ * extent * sizeof(int32_t);
        VectorWork work;
        work.lines = count_;
        work.input_line_bytes = {pairs_.k * extent};
        work.output_line_bytes = extent * sizeof(int32_t);
        work.steps = {reduce_step(shape, Reduction::kSum, {4}, {std::move(from)},
                                  f.chain(f(kMulI, f.a(), f.constant(by))),
                                  output_ref(dense(VectorType::kInt32, {1, 1, 1, 1, 1, extent})))};
        part.work = std::move(work);
        return part;
    }

    NodePart row_sums() const {
        const arch::VectorView view{
            type_, {bytes_between(pairs_.m * pairs_.k), 0, 0, 0, 1, bytes_between(pairs_.k)}};
        return sums("row sums", a_, input_ref(0, view), pairs_.m, -zero(1));
    }

    NodePart column_sums() const {
        const Matrix b = of_b();
        const arch::VectorView view{type_,
                                    {bytes_between(pairs_.k * pairs_.n), 0, 0, 0,
                                     bytes_between(b.row_step), bytes_between(b.col_step)}};
        return sums("column sums", b_, input_ref(0, view, zero(1)), pairs_.n, -zero(0));
    }

    /// Rows of pairs are lines; inputs: the sums, then what is to be added for each row (unless the
    /// second zero point is 0) and for each column (unless the first one is).
    NodePart requantise() const {
        const Extents all{count_, pairs_.m, 1, 1, 1, pairs_.n};
        constexpr auto kInt32 = VectorType::kInt32;
        constexpr uint64_t kBytes = sizeof(int32_t);
        VectorWork work;
        work.window.emplace();
        work.window->images = count_;
        work.window->in_h = work.window->out_h = pairs_.m;
        work.window->channels = pairs_.n;
        work.window->element_bytes = kBytes;
        work.lines = count_ * pairs_.m;
        work.input_line_bytes = {0};
        work.input_image_bytes = {0};
        work.output_line_bytes = pairs_.n;
        Refs refs{input_ref(0, dense(kInt32, all))};
        if (zero(1) != 0) {
            refs.push_back(input_ref(1, {kInt32, {bytes_between(pairs_.m * kBytes), kBytes}}));
            work.input_line_bytes.push_back(kBytes);
            work.input_image_bytes.push_back(0);
        }
        if (zero(0) != 0) {
            const auto index = static_cast<uint32_t>(refs.size());
            refs.push_back(
                input_ref(index, {kInt32, {bytes_between(pairs_.n * kBytes), 0, 0, 0, 0, kBytes}}));
            work.input_line_bytes.push_back(0);
            work.input_image_bytes.push_back(pairs_.n * kBytes);
        }
        ChainBuilder f;
        auto sum = f(kAddI, f.a(), f.b());
        if (refs.size() > 2) sum = f(kAddI, sum, f.c());
        const OutputRange range = range_of(node_);
        VectorStep step = map_step(all, std::move(refs),
                                   f.chain(requantised(f, sum, multiplier(), node_.rounding)),
                                   output_ref(dense(VectorType::kInt8, all), range.zero_point));
        step.clamp_min = range.low, step.clamp_max = range.high;
        work.steps = {std::move(step)};
        NodePart part;
        part.output_bytes = count_ * pairs_.m * pairs_.n;
        part.work = std::move(work);
        return part;
    }

    const LoweredNode& node_;
    const arch::ChipConfig::Mxu& mxu_;
    const uint64_t tile_bytes_;
    const MatrixPairs pairs_;
    const uint64_t count_;  ///< of pairs in the whole batch
    const VectorType type_;
    const uint32_t element_;  ///< bytes
    NodePart::Source a_, b_;
    std::vector<NodePart> parts_;
};

}  // namespace

std::vector<NodePart> lower_batch_matmul(const LoweredNode& node, const arch::ChipConfig& chip) {
    return BatchMatmul(node, chip).run();
}

}  // namespace tandem::compiler
