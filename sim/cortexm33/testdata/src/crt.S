/* Vectors and start-up of the test programs: a Cortex-M33 whose vector table is
   at 0x10000000, code and data in RAM. The same image runs on the package's
   bare machine and on QEMU's mps2-an505. */
    .syntax unified
    .cpu cortex-m33
    .thumb
    .section .vectors, "a"
    .global vectors
vectors:
    .word __stack_top
    .word _start
    .word nmi_handler, hardfault_handler, memmanage_handler, busfault_handler
    .word usagefault_handler, securefault_handler, unexpected, unexpected, unexpected
    .word svc_handler, debugmon_handler, unexpected, pendsv_handler, systick_handler
    .rept 64
    .word irq_handler
    .endr

    .macro weakly name
    .weak \name
    .thumb_set \name, unexpected
    .endm
    weakly nmi_handler
    weakly hardfault_handler
    weakly memmanage_handler
    weakly busfault_handler
    weakly usagefault_handler
    weakly securefault_handler
    weakly svc_handler
    weakly debugmon_handler
    weakly pendsv_handler
    weakly systick_handler
    weakly irq_handler

    .text
    .global _start
    .thumb_func
_start:
    ldr r0, =__bss_start
    ldr r1, =__bss_end
    movs r2, #0
1:  cmp r0, r1
    bhs 2f
    str r2, [r0], #4
    b 1b
2:  bl main
    movs r0, #0
    bl plat_exit

    .global unexpected
    .thumb_func
unexpected:
    mrs r4, ipsr
    ldr r0, =msg
    bl plat_puts
    adds r0, r4, #100
    bl plat_exit
    b .
msg: .asciz "unexpected exception\n"
    .align 2
