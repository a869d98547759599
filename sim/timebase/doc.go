// Package timebase converts between cycles of clk_sys and everything else that
// counts: seconds of simulated time, ticks of timers, bits of a UART.
//
// The simulated chip has one clock, cycles of clk_sys since power-up, and
// firmware changes its frequency while other clocks go on. A Counter is a clock
// whose rate is a fraction of clk_sys, and which is rebased whenever that
// fraction changes: within one rate all conversions are exact in 128-bit
// integers, and a change of rate loses less than one part of a tick. Timeline
// is the same for simulated time.
//
// The package must never use floating point for anything that decides when
// something happens, and must never look at the wall clock.
package timebase
