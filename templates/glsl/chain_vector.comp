/* Layers of a batch's rows by the vectors of NV_cooperative_vector. */

//@ use "kernel.comp"
//@ use("chain_kernels.comp").define(use("chain_vectors.comp").define)
