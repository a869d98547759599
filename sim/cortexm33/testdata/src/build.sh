#!/bin/sh
# Builds the test programs into the folder named by the first argument, with
# Debian's gcc-arm-none-eabi.
set -eu
src=$(cd "$(dirname "$0")" && pwd)
out=$1
mkdir -p "$out"
cc="arm-none-eabi-gcc -mcpu=cortex-m33 -mthumb -O2 -ffreestanding -fno-builtin -nostdlib -g0 -Wall -Wno-misleading-indentation -ffile-prefix-map=$src=. -Wl,--build-id=none -T $src/link.ld"
one() {
    name=$1
    shift
    (cd "$src" && $cc -I. "$@" -o "$out/$name.elf" crt.S plat.c -lgcc && arm-none-eabi-strip "$out/$name.elf")
}
one work1 -mfloat-abi=soft -DREPS=1 work.c
one work24 -mfloat-abi=soft -DREPS=24 work.c
one work1600 -mfloat-abi=soft -DREPS=1600 work.c
one random -mfloat-abi=softfp -mfpu=fpv5-sp-d16 random.S
one faults -mfloat-abi=soft faults.c
one irqs -mfloat-abi=softfp -mfpu=fpv5-sp-d16 irqs.c
one tz -mfloat-abi=soft tz.c
