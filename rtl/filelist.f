tpu_skew.sv
tpu_systolic_array.sv
tpu_accumulators.sv
tpu_mxu_control.sv
tpu_mxu.sv
