// SPDX-License-Identifier: Apache-2.0
// A virtual platform with Tandem's TPU chip: memory and bus are its own, chip and host CPU come
// from the package. The driver on the CPU runs one sample of a digit-recognition network.
//   virtual_platform PROGRAM.tpu INPUTS.bin LABELS.bin SAMPLE riscv|native
#include <tandem/systemc.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>

#include "platform.h"

using Bytes = std::vector<std::uint8_t>;

Bytes read(const char* file) {
    std::ifstream stream(file, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(stream), {});
}

int sc_main(int argc, char** argv) {
    namespace api = tandem::api;
    if (argc != 6) return 2;
    const Bytes inputs = read(argv[2]), labels = read(argv[3]);
    const auto sample = std::stoul(argv[4]), bytes = inputs.size() / labels.size();

    api::set_time_resolution();
    api::parameters().set_preset("host.cpu", argv[5]);

    Memory memory("memory", 16 << 20);
    Bus bus("bus", {{api::kRamBase, memory.bytes.size()},
                    {api::kChipBase, api::kChipBytes},
                    {api::kDeviceBase, api::kDeviceBytes}});
    api::Chip chip("chip", {"test_16x16"});
    api::Host host("host", {memory.bytes.data(), memory.bytes.size()});
    sc_core::sc_signal<bool> irq("irq");
    host.bus_out.bind(bus.in);
    chip.host_out.bind(bus.in);
    bus.out.bind(memory.in);
    bus.out.bind(chip.registers_in);
    bus.out.bind(host.device_in);
    chip.irq_out.bind(irq);
    host.irq_in.bind(irq);

    host.load({read(argv[1]), Bytes(&inputs[sample * bytes], &inputs[sample * bytes] + bytes)});
    sc_core::sc_spawn([&] {
        sc_core::wait(host.finished_event());
        sc_core::sc_stop();
    });
    sc_core::sc_start();

    if (!host.failure().empty()) return std::cerr << host.failure() << '\n', 1;
    const Bytes scores = host.outputs();  // int8
    const auto less = [](auto a, auto b) { return std::int8_t(a) < std::int8_t(b); };
    const auto digit = std::max_element(scores.begin(), scores.end(), less) - scores.begin();
    std::cout << "sample " << sample << ": digit " << digit << ", label " << +labels[sample] << "; "
              << chip.program_cycles() << " cycles, " << host.instructions() << " instructions, "
              << sc_core::sc_time_stamp() << "\n";
    return digit == labels[sample] ? 0 : 1;
}
