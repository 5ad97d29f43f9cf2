// SPDX-License-Identifier: Apache-2.0
#include "jobs/whole_wave.h"

#include "base/output_file.h"
#include "cosim/pe_probes.h"
#include "cosim/random_stream.h"
#include "cosim/rtl_mxu_engine.h"
#include "cosim/wave_file.h"
#include "run/paths.h"

namespace tandem::jobs {

bool record_random_stream(const run::LoadedArray& array, uint64_t seed, engine::Cycle edges,
                          const std::string& wave) {
    cosim::RtlMxuEngine engine(array.shape, array.library);
    cosim::PeProbes pes;
    if (cosim::are_all_recorded(array.shape))
        for (uint32_t r = 0; r < array.shape.rows; ++r)
            for (uint32_t c = 0; c < array.shape.cols; ++c)
                pes.add(engine.pe(r, c), array.shape.dtype, r, c);
    cosim::WaveRequest request;
    request.path = base::part_of(wave).string();
    request.probes = pes.list();
    engine.record(request);
    cosim::RandomStream stream(engine, seed);
    stream.run(edges);
    engine.close_wave();
    return cosim::finish_wave(*array.library, wave);
}

bool record_port_stream(const run::LoadedArray& array, const cosim::PortStream& stream,
                        const std::string& wave) {
    cosim::PortBench bench(array.shape, array.library, stream.initial);
    bench.record(wave, std::nullopt);
    replay(stream, bench);
    return bench.finish_record();
}

std::string show_wave(const run::LoadedArray& array, const std::string& wave,
                      const cosim::Divergence* found) {
    cosim::SaveFileRequest request;
    request.wave = wave;
    request.signals = cosim::wave_signals(*array.library, wave);
    request.shape = array.shape;
    request.float_filter = run::float_filter().string();
    if (found != nullptr)
        cosim::look_at(request, *found);
    else
        request.all_pes = cosim::are_all_recorded(array.shape);
    return cosim::write_gtkw(request);
}

}  // namespace tandem::jobs
