// SPDX-License-Identifier: Apache-2.0
#include "cosim/rtl_sources.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace tandem::cosim {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> text_of(const fs::path& path) {
    std::error_code error;
    std::ifstream in(path, std::ios::binary);
    if (!in || !fs::is_regular_file(path, error)) return std::nullopt;
    return std::string{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

fs::path resolved(const fs::path& path) {
    std::error_code error;
    const fs::path place = fs::weakly_canonical(path, error);
    return error ? fs::absolute(path).lexically_normal() : place;
}

/// $NAME, ${NAME}, $(NAME), as Verilator replaces them.
std::string with_environment(std::string_view word) {
    std::string text;
    for (size_t at = 0; at < word.size();) {
        if (word[at] != '$') {
            text += word[at++];
            continue;
        }
        size_t start = at + 1;
        const char close = start < word.size() && word[start] == '{'   ? '}'
                           : start < word.size() && word[start] == '(' ? ')'
                                                                       : '\0';
        if (close != '\0') ++start;
        size_t end = start;
        while (end < word.size() &&
               (std::isalnum(static_cast<unsigned char>(word[end])) != 0 || word[end] == '_'))
            ++end;
        const std::string name(word.substr(start, end - start));
        if (const char* value = std::getenv(name.c_str())) text += value;
        at = close != '\0' && end < word.size() ? end + 1 : end;
    }
    return text;
}

struct Word {
    std::string text;
    size_t line;
};

/// Words of a file list, without its comments.
std::vector<Word> words_of(const std::string& text) {
    std::vector<Word> words;
    std::string word;
    size_t line = 1, counted = 0;  // lines before `counted`
    const auto close = [&](size_t end) {
        end = std::min(end, text.size());
        if (!word.empty()) words.push_back({with_environment(word), line});
        word.clear();
        line += static_cast<size_t>(std::count(text.begin() + static_cast<ptrdiff_t>(counted),
                                               text.begin() + static_cast<ptrdiff_t>(end), '\n'));
        counted = end;
    };
    for (size_t at = 0; at < text.size(); ++at) {
        const bool line_comment =
            text.compare(at, 2, "//") == 0 || (text[at] == '#' && word.empty());
        if (line_comment) {
            at = text.find('\n', at);
        } else if (text.compare(at, 2, "/*") == 0) {
            at = text.find("*/", at + 2);
            if (at != text.npos) ++at;
        } else if (std::isspace(static_cast<unsigned char>(text[at])) == 0) {
            if (text[at] != '"') word += text[at];
            continue;
        }
        if (at == text.npos) break;
        close(at + 1);
    }
    close(text.size());
    return words;
}

/// What says nothing about files: macros, language, warnings. Anything else is an option of the
/// tool, which is the builder's to choose: where results go, say, or what is run.
bool has_no_file(const std::string& word) {
    return word == "-sv" || word.starts_with("+define+") || word.starts_with("-D") ||
           word.starts_with("-U") || word.starts_with("+libext+") || word.starts_with("-Wno-") ||
           word.starts_with("-Wwarn-");
}

bool looks_like_source(const fs::path& file) {
    const std::string ending = file.extension().string();
    return ending == ".sv" || ending == ".v" || ending == ".svh" || ending == ".vh" ||
           ending == ".h" || ending == ".inc";
}

}  // namespace

RtlSources::RtlSources(const fs::path& filelist)
    : filelist_(fs::absolute(filelist)), top_folder_(resolved(filelist_.parent_path())) {
    folders_.insert(top_folder_);
    if (!text_of(filelist)) throw UserError(filelist.string() + " cannot be read");
    read_list(filelist, top_folder_);
    add_included();
}

void RtlSources::read_list(const fs::path& list, const fs::path& base) {
    const auto text = text_of(list);
    if (!text || !files_.insert(resolved(list)).second) return;
    const auto words = words_of(*text);
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i].text;
        const auto mistake = [&, line = words[i].line](const std::string& expected) {
            return UserError(list.string(), "line " + std::to_string(line), expected, word);
        };
        const auto next = [&]() -> std::string {
            if (i + 1 == words.size()) throw mistake("a name after " + word);
            return words[++i].text;
        };
        if (word == "-f") {
            read_list(base / next(), top_folder_);  // relative to where Verilator runs
        } else if (word == "-F") {
            const fs::path nested = base / next();
            read_list(nested, resolved(nested).parent_path());
        } else if (word == "-v") {
            add_source(base / next());
        } else if (word == "-y") {
            add_folder(base / next());
        } else if (word == "-I") {
            folders_.insert(resolved(base / next()));
        } else if (word.starts_with("-I")) {
            folders_.insert(resolved(base / word.substr(2)));
        } else if (word.starts_with("+incdir+")) {
            for (size_t at = 8; at < word.size();) {
                const size_t end = std::min(word.find('+', at), word.size());
                folders_.insert(resolved(base / word.substr(at, end - at)));
                at = end + 1;
            }
        } else if (!word.starts_with("-") && !word.starts_with("+")) {
            add_source(base / word);
        } else if (!has_no_file(word)) {
            throw mistake(
                "a file, -f, -F, -v, -y, -I, +incdir+, +define+, -D, -U, +libext+, -sv or -Wno-");
        }
    }
}

void RtlSources::add_source(const fs::path& file) {
    std::error_code error;
    if (fs::is_regular_file(file, error)) files_.insert(resolved(file));
}

/// A library folder: any of its files may be taken.
void RtlSources::add_folder(const fs::path& folder) {
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error))
        if (looks_like_source(entry.path())) add_source(entry.path());
    folders_.insert(resolved(folder));
}

void RtlSources::add_included() {
    std::set<fs::path> unread = files_;
    while (!unread.empty()) {
        std::set<fs::path> next;
        for (const fs::path& file : unread) add_includes_of(file, next);
        for (const fs::path& file : next) files_.insert(file);
        unread = std::move(next);
    }
}

void RtlSources::add_includes_of(const fs::path& file, std::set<fs::path>& next) {
    constexpr std::string_view kInclude = "`include";
    const auto text = text_of(file);
    if (!text) return;
    for (size_t at = text->find(kInclude); at != text->npos; at = text->find(kInclude, at + 1)) {
        const size_t open = text->find_first_not_of(" \t", at + kInclude.size());
        if (open == text->npos) break;
        if ((*text)[open] != '"' && (*text)[open] != '<') {  // a macro names the file
            for (const fs::path& folder : std::set<fs::path>(folders_)) {
                std::error_code error;
                for (const auto& entry : fs::directory_iterator(folder, error))
                    if (looks_like_source(entry.path()) && !files_.contains(resolved(entry.path())))
                        next.insert(resolved(entry.path()));
            }
            continue;
        }
        const size_t close = text->find((*text)[open] == '"' ? '"' : '>', open + 1);
        if (close == text->npos) break;
        const std::string name = text->substr(open + 1, close - open - 1);
        auto folders = folders_;
        folders.insert(file.parent_path());
        for (const fs::path& folder : folders) {
            std::error_code error;
            const fs::path found = resolved(folder / name);
            if (fs::is_regular_file(found, error) && !files_.contains(found)) next.insert(found);
        }
    }
}

void RtlSources::add_to(base::Fnv128& hash) const {
    for (const fs::path& file : files_) {
        hash.add(file.lexically_relative(top_folder_).string());
        hash.add(text_of(file).value_or(""));
    }
    // Where included files are looked for decides which one is taken.
    for (const fs::path& folder : folders_)
        hash.add(folder.lexically_relative(top_folder_).string());
}

void RtlSources::check_used(const fs::path& dependencies, const std::vector<fs::path>& others,
                            std::string_view ours) const {
    std::istringstream words(base::read_text(dependencies));
    std::string word;
    while (words >> word && word != ":") {
    }
    while (words >> word) {
        const fs::path file =
            fs::path(word).is_absolute() ? fs::path(word) : filelist_.parent_path() / word;
        const std::string place = file.lexically_normal().string();
        const bool other =
            std::ranges::any_of(
                others,
                [&](const fs::path& folder) { return place.starts_with(folder.string()); }) ||
            file.filename().string().starts_with("verilator") || (!ours.empty() && word == ours);
        if (!other && !contains(file))
            throw UserError(filelist_.string() + ": file " + word +
                            " is used but not named: add it, or its folder with +incdir+");
    }
}

bool RtlSources::contains(const fs::path& file) const { return files_.contains(resolved(file)); }

}  // namespace tandem::cosim
