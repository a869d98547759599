#!/bin/sh
# Builds the test programs. Needs Debian's gcc-riscv64-unknown-elf; the results
# are committed, so that the tests need no compiler.
set -e
cd "$(dirname "$0")"
flags="-march=rv32imac_zicsr -mabi=ilp32 -O1 -g -gdwarf-4 -fno-omit-frame-pointer
    -fdebug-prefix-map=$PWD=/src -ffreestanding -Wall -Wextra -Werror"
gcc=riscv64-unknown-elf-gcc
trap 'rm -f ./*.o' EXIT
$gcc $flags -c start.S tb.c
for name in status texts busy crash colors echo file; do
    $gcc $flags -c $name.c
    $gcc $flags -nostdlib -nostartfiles -T tb.ld -Wl,--build-id=none start.o tb.o $name.o -o $name.elf
done
# The same crash without DWARF: callers are found by reading prologues.
riscv64-unknown-elf-objcopy --strip-debug crash.elf crash-nodebug.elf
