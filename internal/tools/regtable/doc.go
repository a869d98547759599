// Command regtable writes the register tables of package
// sim/rp2350/periph/regs from its registers.csv, one file for each block. It is
// run by go generate.
package main
