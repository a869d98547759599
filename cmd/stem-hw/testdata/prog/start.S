/* Start-up for test programs on Hazard3's testbench: trap vector at 0, reset at
   0x40. An exception that main's program does not handle stops in a jump to
   itself. */
    .section .vectors, "ax"
    .option norvc
    .globl trap
    .weak trap
    .type trap, %function
trap:
    j trap
    .size trap, .-trap
    .org 0x40
    .globl _start
    .type _start, %function
_start:
    .cfi_startproc
    .cfi_undefined ra
    la sp, __stack_top
    call main
    j tb_exit
    .cfi_endproc
    .size _start, .-_start
