/* int semihost(int operation, const void *argument)
 *
 * RISC-V semihosting: an ebreak between two instructions that do nothing, all
 * three uncompressed and in one piece of 16 bytes. */

	.file "pico2/semihost.S"

	.section .ram_text, "ax"
	.balign 16
	.global semihost
	.type semihost, @function
semihost:
	.option push
	.option norvc
	slli x0, x0, 0x1f
	ebreak
	srai x0, x0, 7
	.option pop
	ret
	.size semihost, . - semihost
