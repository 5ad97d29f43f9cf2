// SPDX-License-Identifier: Apache-2.0
#include "jobs/port_coverage_files.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/output_file.h"

namespace tandem::jobs {

using nlohmann::json;

json coverage_json(const cosim::PortCoverage& coverage) {
    json groups = json::array();
    size_t bins = 0, covered = 0;
    for (const cosim::CoverGroup& group : coverage.groups()) {
        json points = json::object(), crosses = json::array();
        for (const cosim::CoverPoint& point : group.points()) points[point.name] = point.bins;
        for (const cosim::CoverCross& cross : group.crosses())
            crosses.push_back({{"name", cross.name}, {"hits", cross.hits}});
        bins += group.size();
        covered += group.covered();
        groups.push_back({{"name", group.name()},
                          {"points", points},
                          {"bins", group.size()},
                          {"covered", group.covered()},
                          {"crosses", crosses}});
    }
    return {{"bins", bins}, {"covered", covered}, {"groups", groups}};
}

std::string coverage_text(const cosim::PortCoverage& coverage) {
    std::string text;
    for (const cosim::CoverGroup& group : coverage.groups()) {
        text +=
            fmt::format("  {:<12} {:>3} of {:>3}\n", group.name(), group.covered(), group.size());
        for (const cosim::CoverCross& cross : group.crosses())
            if (cross.hits == 0) text += fmt::format("    not seen: {}\n", cross.name);
    }
    return text;
}

void write_coverage(const std::filesystem::path& file, const cosim::PortCoverage& coverage) {
    if (file.extension() == ".json")
        return base::write_file(file, coverage_json(coverage).dump(2) + "\n");
    if (file.extension() != ".info")
        throw UserError(file.string(), "--coverage", "a name that ends with .json or .info",
                        file.extension().empty() ? "no ending" : file.extension().string());
    auto bins = file;
    bins.replace_extension(".txt");
    std::string lines, counts;
    size_t line = 0, covered = 0;
    for (const cosim::CoverGroup& group : coverage.groups())
        for (const cosim::CoverCross& cross : group.crosses()) {
            lines += fmt::format("{}: {}\n", group.name(), cross.name);
            counts += fmt::format("DA:{},{}\n", ++line, cross.hits);
            covered += cross.hits != 0;
        }
    base::write_file(bins, lines);
    base::write_file(file,
                     fmt::format("TN:tandem_verify\nSF:{}\n{}LF:{}\nLH:{}\nend_of_record\n",
                                 std::filesystem::absolute(bins).string(), counts, line, covered));
}

}  // namespace tandem::jobs
