/* Layers of a batch's rows by an invocation each. */

//@ use "kernel.comp"
//@ use("chain_kernels.comp").define(use("chain_row.comp").define)
