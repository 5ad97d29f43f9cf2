// SPDX-License-Identifier: Apache-2.0
#include "api/c/call.h"

#include <locale.h>

#include <cfenv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.h"

namespace tandem::c_api {
namespace {

class PlainEnvironment {
  public:
    PlainEnvironment() : locale_(uselocale(newlocale(LC_ALL_MASK, "C", nullptr))) {
        std::fegetenv(&floats_);
        std::fesetenv(FE_DFL_ENV);
    }
    PlainEnvironment(const PlainEnvironment&) = delete;
    PlainEnvironment& operator=(const PlainEnvironment&) = delete;
    ~PlainEnvironment() {
        std::fesetenv(&floats_);
        freelocale(uselocale(locale_));
    }

  private:
    const locale_t locale_;
    std::fenv_t floats_{};
};

tandem_status fail(char** error, tandem_status status, const char* why) noexcept {
    if (error != nullptr) *error = strdup(why);
    return status;
}

}  // namespace

char* copy_of(const std::string& text) {
    auto* copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) throw std::bad_alloc();
    std::memcpy(copy, text.c_str(), text.size() + 1);
    return copy;
}

void tell(char** error, const std::string& why) {
    if (error != nullptr) *error = copy_of(why);
}

tandem_status call(char** error, const std::function<tandem_status()>& work) noexcept {
    if (error != nullptr) *error = nullptr;
    const PlainEnvironment plain;
    try {
        return work();
    } catch (const UserError& mistake) {
        return fail(error, TANDEM_USER_ERROR, mistake.what());
    } catch (const std::filesystem::filesystem_error& mistake) {
        return fail(error, TANDEM_USER_ERROR, mistake.what());
    } catch (const std::bad_alloc&) {
        return fail(error, TANDEM_USER_ERROR, "no memory left");
    } catch (const std::system_error& mistake) {  // of this machine: no more processes or files
        return fail(error, TANDEM_USER_ERROR, mistake.what());
    } catch (const std::exception& fault) {
        return fail(error, TANDEM_FAULT, fault.what());
    } catch (...) {
        return fail(error, TANDEM_FAULT, "an exception of an unknown kind");
    }
}

}  // namespace tandem::c_api

extern "C" void tandem_free(char* text) { std::free(text); }
