// SPDX-License-Identifier: Apache-2.0
#include "firmware/driver/status.h"

namespace tandem::firmware {

const char* status_text(Status status) {
    switch (status) {
        case Status::kOk:
            return "ok";
        case Status::kBadArgument:
            return "bad argument";
        case Status::kNotReady:
            return "command ring not started";
        case Status::kNoDevice:
            return "no TPU at the register block";
        case Status::kWrongVersion:
            return "unknown register version";
        case Status::kWrongChip:
            return "image is for a chip with other figures";
        case Status::kWrongIsa:
            return "image is for another instruction set";
        case Status::kResetFailed:
            return "TPU did not come out of reset";
        case Status::kRingFull:
            return "command ring full";
        case Status::kTimeout:
            return "time-out";
        case Status::kDeviceError:
            return "TPU error";
        case Status::kProtocol:
            return "completion without status";
        case Status::kImageTruncated:
            return "image truncated or too long";
        case Status::kImageMagic:
            return "not a program image";
        case Status::kImageVersion:
            return "image is of another container version";
        case Status::kImageSection:
            return "image section missing";
        case Status::kImageChecksum:
            return "image section corrupt";
        case Status::kImageCode:
            return "image without whole programs";
        case Status::kDeviceMemory:
            return "program exceeds device memory";
        case Status::kTooFewCores:
            return "image is for more cores";
        case Status::kBadJob:
            return "bad job block";
    }
    return "unknown status";
}

}  // namespace tandem::firmware
