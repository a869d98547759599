/* The first instructions of core 1: the boot ROM has set sp and mtvec, but a C
 * program also wants gp. */

	.file "pico2/core1.S"

	.section .text.core1, "ax"
	.global core1_entry
	.type core1_entry, @function
core1_entry:
	.option push
	.option norelax
	la gp, __global_pointer$
	.option pop
	tail core1_main
	.size core1_entry, . - core1_entry
