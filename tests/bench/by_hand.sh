#!/bin/bash
# The recipe `quick` by hand, as root: an image, a loop device, and the programs that people use. It shares no code with
# the program, only the published quantiles of sizes and directories.
#
#   by_hand.sh DIRECTORY IMAGE_SIZE ROUNDS SCALE SHAPES_TOML "FILESYSTEM ..."
#
# PYTHON is one with tomli; SCALE divides all sizes. Prints "FILESYSTEM ROUND WORKLOAD RETURNED DURABLE" in microseconds, and "FILESYSTEM ROUND
# cell WHOLE OUTSIDE": the time of all, and of what was no workload's program.
set -eu
here=$1 size=$2 rounds=$3 scale=$4 shapes=$5 filesystems=$6
image=$here/image mount=$here/mount from_elsewhere=$here/elsewhere
export LC_ALL=C

now() { echo "${EPOCHREALTIME/./}"; }

again() { umount "$mount"; mount -t "$filesystem" $mounted "$device" "$mount"; }

timed() { # WORKLOAD PROGRAM...
    local name=$1 from returned durable; shift
    again
    from=$(now)
    "$@" > "$here/output"
    returned=$(($(now) - from))
    sync --file-system "$mount"
    durable=$(($(now) - from))
    inside=$((inside + durable))
    echo "$filesystem $round $name $returned $durable"
}

unpack() { tar --extract --file="$from_elsewhere/$1.tar" --one-top-level="$mount/$1"; }

search() { find "$mount/$1" -type f -size +1000000M; }

workloads() {
    local kind root
    cat "$from_elsewhere/video" > /dev/null
    timed copy-video cp "$from_elsewhere/video" "$mount/video"
    for tree in source home; do
        cat "$from_elsewhere/$tree.tar" > /dev/null
        timed "unpack-$tree" unpack "$tree"
    done
    for tree in source home; do timed "search-$tree" search "$tree"; done
    unpack mail
    timed search-mail search mail
    mkdir "$mount/history"
    sqlite3 "$mount/history/database" < "$from_elsewhere/first.sql" > "$here/output"
    timed sqlite sqlite3 "$mount/history/database" ".read $from_elsewhere/then.sql"
    for kind in programs scripts; do
        root=$mount/$kind
        mkdir --parents "$root/var/lib/dpkg"
        cat "$from_elsewhere/debs/$kind"/*.deb > /dev/null
        timed "install-$kind" dpkg --root="$root" --no-force-unsafe-io --force-script-chrootless --log=/dev/null \
            --unpack "$from_elsewhere/debs/$kind"/*.deb
    done
}

cell() {
    local options mounted="" from; from=$(now)
    case $filesystem in
        ext4) options="-F -E lazy_itable_init=1,lazy_journal_init=0,nodiscard" mounted="-o noinit_itable" ;;
        xfs | btrfs) options="-f -K" ;;
    esac
    inside=0
    wipefs --quiet --all "$device"
    # shellcheck disable=SC2086
    "mkfs.$filesystem" -q $options "$device" > /dev/null
    # shellcheck disable=SC2086
    mount -t "$filesystem" $mounted "$device" "$mount"
    workloads
    sync --file-system "$mount"
    umount "$mount"
    local whole=$(($(now) - from))
    echo "$filesystem $round cell $whole $((whole - inside))"
}

mkdir "$mount" "$from_elsewhere"
"$PYTHON" -I "${0%.sh}_files.py" "$from_elsewhere" "$shapes" "$scale"
for tree in source home mail; do
    tar --create --sort=name --file="$from_elsewhere/$tree.tar" --directory="$from_elsewhere/$tree" .
done
for kind in programs scripts; do
    mkdir --parents "$from_elsewhere/debs/$kind"
    for package in "$from_elsewhere/packages/$kind"/*; do
        dpkg-deb -Znone --build "$package" "$from_elsewhere/debs/$kind" > "$here/output"
    done
done
fallocate --length "$size" "$image"
dd if=/dev/zero of="$image" bs=4M count=$(($(stat --format=%s "$image") / 4194304)) oflag=direct conv=notrunc,fsync \
    status=none
sync
device=$(losetup --direct-io=on --show --find "$image")
trap 'umount "$mount" 2> /dev/null || :; losetup --detach "$device"; rm -f "$image"' EXIT
for round in $(seq "$rounds"); do
    for filesystem in $filesystems; do cell; done
done
