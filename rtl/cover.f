-F filelist.f
tpu_mxu_cover.sv
