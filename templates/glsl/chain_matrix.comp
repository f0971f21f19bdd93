/* Layers of a batch's rows by the matrices of KHR_cooperative_matrix. */

//@ use "kernel.comp"
//@ use("chain_kernels.comp").define(use("chain_layers.comp").define)
