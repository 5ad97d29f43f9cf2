// SPDX-License-Identifier: Apache-2.0
#include "cosim/wave_file.h"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/output_file.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

bool is_vcd(const std::string& path) { return path.ends_with(".vcd"); }

/// The head of a VCD, up to its first value.
WaveSignals vcd_signals(const std::string& path) {
    WaveSignals signals;
    std::ifstream in(path);
    std::vector<std::string> scopes{""};
    for (std::string line; std::getline(in, line) && !line.starts_with("$enddefinitions");) {
        std::istringstream words(line);
        std::string word, kind, code, name;
        words >> word;
        if (word == "$scope" && words >> kind >> name) scopes.push_back(scopes.back() + name + ".");
        if (word == "$upscope" && scopes.size() > 1) scopes.pop_back();
        uint32_t bits = 0;
        if (word == "$var" && words >> kind >> bits >> code >> name)
            signals[scopes.back() + name] = bits;
    }
    return signals;
}

}  // namespace

// A waveform is a sequence of blocks: a byte for its kind, eight (most significant first) for its
// length, which counts these eight, and so on until the end.
bool fst_is_complete(const std::string& path) {
    std::error_code error;
    const uint64_t size = fs::file_size(path, error);
    std::ifstream in(path, std::ios::binary);
    if (error || !in || size == 0) return false;
    uint64_t at = 0;
    while (at + 9 <= size) {
        in.seekg(static_cast<std::streamoff>(at + 1));
        uint64_t length = 0;
        for (int i = 0; i < 8; ++i) length = length << 8 | static_cast<uint64_t>(in.get() & 0xff);
        if (!in || length < 8 || length > size) return false;
        at += 1 + length;
    }
    return at == size;
}

bool finish_wave(const ArrayLibrary& library, const std::string& path) {
    const fs::path part = base::part_of(path);
    bool good = fst_is_complete(part.string());
    std::error_code error;
    if (good && is_vcd(path)) {
        const fs::path fst = part.string() + ".fst";
        fs::rename(part, fst, error);
        good = !error && library.wave_to_vcd(fst.c_str(), part.c_str()) == 0;
        fs::remove(fst, error);
    }
    good = good && base::take_place(path);
    if (!good) fs::remove(part, error);
    return good;
}

WaveSignals wave_signals(const ArrayLibrary& library, const std::string& path) {
    if (is_vcd(path)) return vcd_signals(path);
    WaveSignals signals;
    const auto note = [](void* found, const char* name, uint32_t bits) {
        (*static_cast<WaveSignals*>(found))[name] = bits;
    };
    if (library.wave_signals(path.c_str(), note, &signals) != 0) signals.clear();
    return signals;
}

}  // namespace tandem::cosim
