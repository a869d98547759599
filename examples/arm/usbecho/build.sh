#!/bin/sh
# build.sh [OUT]: builds usbecho.elf with Debian's gcc-arm-none-eabi, here or as OUT.
set -eu
out=$(realpath -m "${1:-$(dirname "$0")/usbecho.elf}")
cd "$(dirname "$0")/../.."
arm-none-eabi-gcc -mcpu=cortex-m33 -mthumb -mfloat-abi=softfp -mfpu=fpv5-sp-d16 -O2 -g -std=gnu17 \
	-ffreestanding -fno-tree-loop-distribute-patterns -Wall -Wextra -Werror -ffile-prefix-map="$PWD=." -ffile-prefix-map=/usr/lib=. \
	-nostdlib -Wl,-T,arm/hello/hello.ld -Wl,--build-id=none -Wl,--no-warn-rwx-segments -o "$out" arm/usbecho/usbecho.c usbecho/usbcdc.c -lgcc
chmod a-x "$out"
