#!/bin/sh
# build.sh FILE builds light.bin with an Arm binutils.
set -eu
out=${1:?FILE}
cd "$(dirname "$0")"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
arm-none-eabi-as -o "$tmp/light.o" light.S
arm-none-eabi-ld -Ttext=0x20000000 -e vectors -o "$tmp/light.elf" "$tmp/light.o"
arm-none-eabi-objcopy -O binary "$tmp/light.elf" "$out"
