#!/bin/sh
# Builds the test programs. Needs Debian's gcc-riscv64-unknown-elf; the results
# are committed, so that the tests need no compiler.
set -e
cd "$(dirname "$0")"
for name in status texts busy crash colors echo file; do
    riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32 -O1 -g -gdwarf-4 \
        -fno-omit-frame-pointer -fdebug-prefix-map="$PWD"=/src -ffreestanding -nostdlib -nostartfiles \
        -Wall -Wextra -Werror -T tb.ld -Wl,--build-id=none start.S tb.c $name.c -o $name.elf
done
