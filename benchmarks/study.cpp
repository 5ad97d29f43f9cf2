// SPDX-License-Identifier: Apache-2.0
#include "benchmarks/study.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/error.h"

namespace tandem::benchmarks {
namespace {

std::string line(const Row& cells, const std::vector<size_t>& widths) {
    std::string out = "|";
    for (size_t i = 0; i < widths.size(); ++i)
        out += fmt::format(" {:<{}} |", i < cells.size() ? cells[i] : "", widths[i]);
    return out + "\n";
}

}  // namespace

void add_study_options(CLI::App& app, StudyOptions& options) {
    app.add_option("--markdown", options.markdown, "writes the document to this file");
    app.add_option("--svg", options.svg, "writes the pictures to this folder")
        ->check(CLI::ExistingDirectory);
    app.add_option("--json", options.json, "writes all figures to this file");
}

std::string table(const Row& heading, const std::vector<Row>& rows) {
    std::vector<size_t> widths;
    for (const std::string& cell : heading) widths.push_back(std::max<size_t>(cell.size(), 3));
    for (const Row& row : rows)
        for (size_t i = 0; i < std::min(row.size(), widths.size()); ++i)
            widths[i] = std::max(widths[i], row[i].size());
    std::string out = line(heading, widths) + "|";
    for (const size_t width : widths) out += std::string(width + 2, '-') + "|";
    out += "\n";
    for (const Row& row : rows) out += line(row, widths);
    return out + "\n";
}

std::string picture(const StudyOptions& options, const std::string& file, const std::string& text) {
    if (options.markdown.empty() || options.svg.empty()) return "";
    const auto folder = std::filesystem::absolute(options.markdown).parent_path();
    const auto path = std::filesystem::absolute(options.svg) / file;
    return fmt::format("![{}]({})\n\n", text, path.lexically_proximate(folder).generic_string());
}

void write_file(const std::string& option, const std::filesystem::path& file,
                const std::string& text) {
    std::ofstream stream(file, std::ios::binary);
    stream << text;
    stream.flush();
    if (!stream) throw UserError(option, "file", "a file that can be written", file.string());
}

void write_markdown(const StudyOptions& options, const std::string& command,
                    const std::string& text) {
    if (options.markdown.empty()) return;
    write_file("--markdown", options.markdown,
               fmt::format("<!-- Written by {}; do not edit. -->\n{}", command, text));
}

void write_svg(const StudyOptions& options, const std::string& file, const std::string& text) {
    if (options.svg.empty()) return;
    write_file("--svg", std::filesystem::path(options.svg) / file, text);
}

int run_study(CLI::App& app, int argc, char** argv, const std::function<int()>& study) {
    // SystemC's banner does not belong between a user and the answer.
    setenv("SYSTEMC_DISABLE_COPYRIGHT_MESSAGE", "1", 1);
    try {
        app.parse(argc, argv);
        return study();
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    } catch (const UserError& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 2;
    } catch (const std::exception& error) {
        fmt::print(stderr, "{}\n", error.what());
        return 3;
    }
}

}  // namespace tandem::benchmarks
