/* Runs blocks of random instructions. Each block begins with an exception
   return into a state from the input table and ends with SVC or a fault, whose
   handler saves the state into the output table. At the end the output table and
   the data area are written to the file out.bin by semihosting. */
    .syntax unified
    .cpu cortex-m33
    .fpu fpv5-sp-d16
    .thumb
    .equ HEADER, 0x10008000     /* number of blocks, bytes of data */
    .equ IN, 0x10080000
    .equ OUT, 0x10100000
    .equ DATA, 0x38000000
    .text
    .global main, svc_handler, hardfault_handler, memmanage_handler, busfault_handler, usagefault_handler
    .thumb_func
main:
    ldr r0, =0xe000ed24
    ldr r1, =0x000f0000
    str r1, [r0]                /* SHCSR: all faults enabled */
    ldr r0, =0xe000ed88
    ldr r1, =0x00f00000
    str r1, [r0]                /* CPACR */
    ldr r0, =0xe000ef34
    movs r1, #0
    str r1, [r0]                /* FPCCR: no automatic stacking */
    dsb
    isb
    ldr r0, =0x38180000
    msr psp, r0
    movs r0, #2
    msr control, r0
    isb
    ldr r0, =index
    mvn r1, #0
    str r1, [r0]
    svc 0

    .thumb_func
svc_handler:
    .thumb_func
hardfault_handler:
    .thumb_func
memmanage_handler:
    .thumb_func
busfault_handler:
    .thumb_func
usagefault_handler:
    ldr r0, =index
    ldr r1, [r0]
    cmp r1, #0
    blt 1f
    ldr r2, =OUT
    add r2, r2, r1, lsl #8
    mrs r3, psp
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    ldr r12, [r3], #4
    str r12, [r2], #4
    stmia r2!, {r4-r11}
    mrs r3, psp
    str r3, [r2], #4
    vmrs r3, fpscr
    str r3, [r2], #4
    ldr r12, =0xe000ed28
    ldr r3, [r12]
    str r3, [r12]
    str r3, [r2], #4
    ldr r3, [r12, #4]
    str r3, [r12, #4]
    str r3, [r2], #4
    mrs r3, ipsr
    str r3, [r2], #4
    mrs r3, control
    str r3, [r2], #12
    vstmia r2!, {s0-s31}
1:  adds r1, r1, #1
    str r1, [r0]
    ldr r0, =HEADER
    ldr r2, [r0]
    cmp r1, r2
    beq finish
    ldr r2, =IN
    add r2, r2, r1, lsl #8
    ldr r3, [r2, #64]
    msr psp, r3
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldr r12, [r2], #4
    str r12, [r3], #4
    ldmia r2!, {r4-r11}
    ldr r3, [r2, #4]
    vmsr fpscr, r3
    adds r2, #32
    vldmia r2!, {s0-s31}
    clrex
    bx lr

finish:
    ldr r1, =openargs
    movs r0, #1
    bkpt 0xab
    ldr r4, =writeargs
    str r0, [r4]
    str r0, [r4, #12]
    ldr r0, =HEADER
    ldr r1, [r0]
    lsls r1, r1, #8
    str r1, [r4, #8]
    ldr r1, [r0, #4]
    str r1, [r4, #20]
    mov r1, r4
    movs r0, #5
    bkpt 0xab
    add r1, r4, #12
    movs r0, #5
    bkpt 0xab
    mov r1, r4
    movs r0, #2
    bkpt 0xab
    movs r0, #0
    bl plat_exit
    .pool
name:
    .asciz "out.bin"
    .align 2
    .section .data
    .align 2
openargs:
    .word name, 5, 7
writeargs:
    .word 0, OUT, 0
    .word 0, DATA, 0
index:
    .word 0
