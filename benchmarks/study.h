// SPDX-License-Identifier: Apache-2.0
// What the studies share: their options, tables, and files that nobody edits by hand.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace tandem::benchmarks {

/// Where results go besides the screen; empty: nowhere.
struct StudyOptions {
    std::string markdown, svg, json;
};

void add_study_options(CLI::App& app, StudyOptions& options);

using Row = std::vector<std::string>;

/// A markdown table whose columns are padded, so that it reads well on a screen too.
std::string table(const Row& heading, const std::vector<Row>& rows);

/// The markdown of a picture in `svg`, seen from where the markdown file is; empty when either is
/// not written.
std::string picture(const StudyOptions& options, const std::string& file, const std::string& text);

/// Throws UserError naming `option`.
void write_file(const std::string& option, const std::filesystem::path& file,
                const std::string& text);

/// Writes the document, under a heading that says who did it, if it is asked for.
void write_markdown(const StudyOptions& options, const std::string& command,
                    const std::string& text);
void write_svg(const StudyOptions& options, const std::string& file, const std::string& text);

/// main() of a study: parses, runs, and turns mistakes into messages and exit statuses.
int run_study(CLI::App& app, int argc, char** argv, const std::function<int()>& study);

}  // namespace tandem::benchmarks
