// SPDX-License-Identifier: Apache-2.0
#include "testbench/fuzz/target.h"

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace tandem::fuzz {

const std::vector<Target>& targets() {
    static const std::vector<Target> all = {
        model_target(),       onnx_target(),     onnx_tensor_target(), dump_target(),
        program_target(),     chip_target(),     set_target(),         table_target(),
        application_target(), filelist_target(), declaration_target(), injection_target(),
        stream_target(),      arrays_target(),   tensor_target(),      options_target(),
        capi_target(),        gdb_target()};
    return all;
}

std::string text_of(const Bytes& bytes) { return {bytes.begin(), bytes.end()}; }
Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }

Bytes read(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    if (!in) throw std::runtime_error(file.string() + ": cannot be read");
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write(const std::filesystem::path& file, const Bytes& bytes) {
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size()));
    out.close();
    if (!out) throw std::runtime_error(file.string() + ": cannot be written");
}

std::filesystem::path source_dir() {
    const char* folder = std::getenv("TANDEM_SOURCE_DIR");
    return std::filesystem::absolute(folder != nullptr ? folder : ".").lexically_normal();
}

const std::filesystem::path& scratch() {
    static const std::filesystem::path folder = [] {
        std::string form = (std::filesystem::temp_directory_path() / "tandem_fuzz_XXXXXX").string();
        const char* made = ::mkdtemp(form.data());
        if (made == nullptr) throw std::runtime_error(form + ": cannot be made");
        return std::filesystem::path(made);
    }();
    return folder;
}

std::filesystem::path scratch_file(const std::string& name, const Bytes& bytes) {
    auto file = scratch() / name;
    write(file, bytes);
    return file;
}

}  // namespace tandem::fuzz
