#!/bin/bash
# The recipe `quick` by hand, on an image and as root. Tells the microseconds that things took.
#
#   by_hand.sh DIRECTORY IMAGE_SIZE ROUNDS TREE_WORKER FILE_SIZE FILES TOTAL_BYTES "FOUR RUN TIMES" "FILESYSTEM ..."
#
# "FILESYSTEM WHOLE OUTSIDE": of a cell as a whole, and of what was no workload's program in it.
set -eu
here=$1 size=$2 rounds=$3 worker=$4 file_size=$5 files=$6 total=$7 filesystems=$9
read -r -a times <<< "$8"
image=$here/image mount=$here/mount

now() { echo "${EPOCHREALTIME/./}"; }

program() { # counts its time
    local from; from=$(now)
    "$@" > "$here/output"
    inside=$((inside + $(now) - from))
}

job() { # FILE NAME BLOCK DEPTH SECONDS OPTIONS...
    local file=$1 name=$2 block=$3 depth=$4 seconds=$5; shift 5
    program fio --name="$name" --filename="$file" --rw="$name" --bs="$block" --size="$file_size" --ioengine=libaio \
        --iodepth="$depth" --direct=1 --randrepeat=0 --fallocate=none --thread --group_reporting \
        --clat_percentiles=0 --lat_percentiles=1 --output-format=json \
        ${seconds:+--time_based --runtime="$seconds"} "$@"
}

jobs_on() { # FILE BEFORE-EACH
    $2; job "$1" write 1M 8 "${times[0]}" --end_fsync=1
    $2; job "$1" read 1M 8 "${times[1]}"
    $2; job "$1" randwrite 4K 32 "${times[2]}" --end_fsync=1 --refill_buffers
    $2; job "$1" randread 4K 32 "${times[3]}"
}

again() { umount "$mount"; mount -t "$filesystem" "$device" "$mount"; }

workloads() {
    local tree=$mount/tree copy=$mount/copy
    job "$mount/file" write 1M 4 "" --end_fsync=1
    jobs_on "$mount/file" again
    program python3 -I -S "$worker" make small-files "$files" "$total" "$tree"
    again; program cp -a --reflink=never "$tree" "$copy"; program sync --file-system "$mount"
    again; program rm -rf "$copy"; program sync --file-system "$mount"
}

cell() {
    local options from; from=$(now)
    case $filesystem in
        ext4) options="-F -E lazy_itable_init=0,lazy_journal_init=0,nodiscard" ;;
        xfs | btrfs) options="-f -K" ;;
    esac
    inside=0
    wipefs --quiet --all "$device"
    dd if=/dev/zero of="$device" bs=1M count=1 conv=fsync status=none
    dd if=/dev/zero of="$device" bs=1M count=1 seek=$((sectors / 2048 - 1)) conv=fsync status=none
    # shellcheck disable=SC2086
    "mkfs.$filesystem" -q $options "$device" > /dev/null
    mount -t "$filesystem" "$device" "$mount"
    workloads
    sync --file-system "$mount"
    umount "$mount"
    local whole=$(($(now) - from))
    echo "$filesystem $whole $((whole - inside))"
}

mkdir "$mount"
fallocate --length "$size" "$image"
dd if=/dev/zero of="$image" bs=4M count=$(($(stat --format=%s "$image") / 4194304)) oflag=direct conv=notrunc,fsync \
    status=none
device=$(losetup --direct-io=on --show --find "$image")
trap 'umount "$mount" 2> /dev/null || :; losetup --detach "$device"; rm -f "$image"' EXIT
sectors=$(blockdev --getsz "$device")
inside=0
jobs_on "$image" :
for _ in $(seq "$rounds"); do
    for filesystem in $filesystems; do cell; done
done
