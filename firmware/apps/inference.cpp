// SPDX-License-Identifier: Apache-2.0
#include "firmware/apps/inference.h"

#include <stdio.h>

#include "arch/container.h"
#include "arch/generated/registers.h"
#include "firmware/driver/driver.h"
#include "firmware/driver/image.h"

namespace tandem::firmware {

namespace {

constexpr uint64_t kCodeAddress = 0;

// total = count * bytes; false when it does not fit.
bool multiply(uint32_t count, uint64_t bytes, uint64_t* total) {
    return !__builtin_mul_overflow(uint64_t{count}, bytes, total);
}

class InferenceRun {
  public:
    InferenceRun(Hal& hal, Job& job) : hal_(hal), job_(job), driver_(hal) {}

    Status execute() {
        Status status = check_job();
        if (status == Status::kOk) status = parse();
        if (status == Status::kOk) status = prepare_device();
        if (status == Status::kOk) status = load();
        if (status == Status::kOk) status = run_all();
        if (status == Status::kOk) enter(Stage::kDone);
        report(status);
        return status;
    }

  private:
    void enter(Stage stage) { job_.stage = static_cast<uint32_t>(stage); }

    Status check_job() {
        enter(Stage::kCheckJob);
        job_.runs_done = 0;
        job_.error_code = 0;
        job_.error_info = 0;
        job_.error_core = 0;
        job_.device_cycles = 0;
        uint64_t inputs = 0;
        uint64_t outputs = 0;
        if (job_.magic != kJobMagic || job_.version != kJobVersion || job_.runs == 0 ||
            job_.image_bytes == 0 || job_.timeout_us == 0 ||
            !multiply(job_.runs, job_.input_bytes, &inputs) ||
            !multiply(job_.runs, job_.output_bytes, &outputs)) {
            return Status::kBadJob;
        }
        if ((inputs != 0 && hal_.pointer(job_.input_address, inputs) == nullptr) ||
            (outputs != 0 && hal_.pointer(job_.output_address, outputs) == nullptr)) {
            return Status::kBadJob;
        }
        return Status::kOk;
    }

    Status parse() {
        enter(Stage::kParseImage);
        const void* bytes = hal_.pointer(job_.image_address, job_.image_bytes);
        if (bytes == nullptr) return Status::kBadJob;
        return parse_image(static_cast<const uint8_t*>(bytes), job_.image_bytes, &image_);
    }

    Status prepare_device() {
        enter(Stage::kDiscover);
        DeviceInfo info;
        Status status = driver_.discover({image_.isa_hash, image_.chip_hash}, &info);
        if (status != Status::kOk) return status;
        if (image_.cores > info.cores) return Status::kTooFewCores;
        // The parser has seen that these are parts of the image: no sum can wrap.
        table_address_ = container::aligned(image_.code_bytes, container::kTableAlignment);
        data_address_ =
            container::aligned(table_address_ + image_.table_bytes, container::kDataAlignment);
        if (data_address_ > info.memory_bytes ||
            image_.data_bytes > info.memory_bytes - data_address_) {
            return Status::kDeviceMemory;
        }
        log_device(info);
        enter(Stage::kReset);
        status = driver_.reset();
        if (status != Status::kOk) return status;
        reset_done_ = true;
        enter(Stage::kStartRing);
        return driver_.start({job_.ring_address, job_.ring_entries});
    }

    Status load() {
        enter(Stage::kLoadCode);
        Status status = copy(image_.code_offset, kCodeAddress, image_.code_bytes);
        if (status == Status::kOk)
            status = copy(image_.table_offset, table_address_, image_.table_bytes);
        if (status != Status::kOk || image_.data_bytes == 0) return status;
        enter(Stage::kLoadData);
        return copy(image_.data_offset, data_address_, image_.data_bytes);
    }

    Status copy(uint64_t image_offset, uint64_t device_address, uint64_t bytes) {
        Command command;
        command.opcode = TANDEM_COMMAND_LOAD;
        command.source = job_.image_address + image_offset;
        command.destination = device_address;
        command.bytes = bytes;
        uint32_t ticket = 0;
        const Status status = driver_.submit(command, &ticket);
        return status == Status::kOk ? driver_.wait(ticket, job_.timeout_us, nullptr) : status;
    }

    // Keeps the ring filled, so that the TPU never waits for the host between runs.
    Status run_all() {
        enter(Stage::kRun);
        uint32_t submitted = 0;
        uint32_t first_ticket = 0;
        while (job_.runs_done < job_.runs) {
            while (submitted < job_.runs && submitted - job_.runs_done < job_.ring_entries) {
                uint32_t ticket = 0;
                const Status status = driver_.submit(run_command(submitted), &ticket);
                if (status == Status::kRingFull) break;
                if (status != Status::kOk) return status;
                if (submitted == 0) first_ticket = ticket;
                ++submitted;
            }
            const uint32_t oldest = first_ticket + job_.runs_done;
            const Status status = driver_.wait(oldest, job_.timeout_us, nullptr);
            if (status != Status::kOk) return status;
            ++job_.runs_done;
        }
        return Status::kOk;
    }

    Command run_command(uint32_t index) const {
        Command command;
        command.opcode = TANDEM_COMMAND_RUN;
        command.source = kCodeAddress;
        command.destination = table_address_;
        command.bytes = image_.table_bytes;
        command.args[0] = data_address_;
        command.args[1] = job_.input_address + index * job_.input_bytes;
        command.args[2] = job_.output_address + index * job_.output_bytes;
        return command;
    }

    void report(Status status) {
        job_.status = static_cast<uint32_t>(status);
        if (reset_done_) job_.device_cycles = driver_.counters().cycles;
        if (status == Status::kDeviceError) {
            const ErrorReport error = driver_.error();
            job_.error_code = error.code;
            job_.error_info = error.info;
            job_.error_core = error.core;
            write_message("%s %u at %u of core %u in run %u", status_text(status), error.code,
                          error.info, error.core, job_.runs_done);
        } else {
            write_message("%s, %u of %u runs", status_text(status), job_.runs_done, job_.runs);
        }
        if (reset_done_) {
            if (status == Status::kTimeout) {
                (void)driver_.reset();  // nothing more can be done about a second failure
            } else {
                driver_.stop();
            }
        }
        hal_.log(job_.message);
        hal_.memory_barrier();
    }

    void log_device(const DeviceInfo& info) {
        write_message("TPU %u x %u of %ux%u at %u kHz, chip %08x%08x", info.cores, info.arrays,
                      info.rows, info.cols, info.clock_khz, info.hashes.chip >> 32,
                      info.hashes.chip);
        hal_.log(job_.message);
    }

    // uint32_t is another type on each side, and printf of 64 bits costs too much firmware: every
    // number goes out as 32 bits.
    template <class... Numbers>
    void write_message(const char* format, const char* text, Numbers... numbers) {
        snprintf(job_.message, sizeof job_.message, format, text,
                 static_cast<unsigned>(numbers)...);
    }

    template <class... Numbers>
    void write_message(const char* format, Numbers... numbers) {
        snprintf(job_.message, sizeof job_.message, format, static_cast<unsigned>(numbers)...);
    }

    Hal& hal_;
    Job& job_;
    Driver driver_;
    Image image_;
    uint64_t table_address_ = 0;
    uint64_t data_address_ = 0;
    bool reset_done_ = false;
};

}  // namespace

int run_inference_job(Hal& hal, Job* job) {
    if (job == nullptr) return static_cast<int>(Status::kBadArgument);
    InferenceRun run(hal, *job);
    return static_cast<int>(run.execute());
}

}  // namespace tandem::firmware
