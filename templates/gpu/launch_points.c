//@ -- Kernels over all points, one after the other (schedule.map and schedule.reduce of each language).
//@ local call = use "launch_call.c"
//@ call.open(backend.kind == "vulkan")
//@ call.launch("c.mode != LATHE_ENDS", shape.kernels)
//@ call.close()
