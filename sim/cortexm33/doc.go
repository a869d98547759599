// Package cortexm33 is the Arm Cortex-M33 core in software, as RP2350 has it
// twice: Armv8-M Mainline with the DSP and Security Extensions and the
// single-precision FPv5 unit.
//
// It owns the instruction set, the register banks, exceptions and NVIC, SysTick,
// MPU, SAU, the floating-point unit with lazy stacking, the debug units (FPB,
// DWT, ITM, DHCSR and its kin) and RP2350's three coprocessors. It must never
// know what is at an address: memory is given to it as windows and a bus
// (sim/bus). The private peripheral bus at 0xe0000000 is the core's own and
// never reaches the machine.
//
// # How it runs
//
// Code is decoded once into blocks of small operations (translate.go), which end
// at branches and at instructions that change how others behave. run executes
// blocks and follows the links between them; cycles, interrupts and limits are
// accounted at block edges. A store into a line that holds decoded code drops
// the blocks there and leaves the running one at once. Pages of plain memory
// that the present regime (security state, privilege, MPU, SAU) may access are
// remembered in a small table, so that loads and stores need no check. With
// Plain set, every instruction is a block of its own and nothing is fused: that
// is the judge of the fast loop, and agrees with it to the cycle.
//
// # Cycles
//
// Arm publishes no timing table for the Cortex-M33. The model is deterministic
// and follows what is public: the Cortex-M4 table (Technical Reference Manual
// r0p1, 3.3), whose pipeline the M33's resembles, and the M33 Technical
// Reference Manual's statements on division and interrupt latency.
//
//	data processing, multiply, store         1
//	load                                     2; 1 if a load or store follows it
//	LDRD, STRD                               3
//	LDM, STM, PUSH, POP, VLDM, VSTM          1 + registers
//	branch                                   1, taken 2
//	BX, BLX, MOV PC                          3
//	TBB, TBH                                 4
//	SDIV, UDIV                               2 to 11 by quotient length
//	MRS, MSR                                 2
//	barriers                                 3
//	floating point                           1; multiply-accumulate 3; VDIV, VSQRT 14
//	exception entry, tail-chained, return    12, 6, 10
//
// An unaligned access costs one more, wait states of the bus are added.
package cortexm33
