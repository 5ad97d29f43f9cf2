tree_column.sv
tree_accumulators.sv
tree_mxu.sv
