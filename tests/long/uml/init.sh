#!/bin/sh
# The first process of the simulated machine. Of the host it sees everything and changes nothing but $OUT.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/run/home PYTHONDONTWRITEBYTECODE=1 LANG=C.UTF-8
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t cgroup2 cgroup /sys/fs/cgroup
for point in /tmp /var/tmp /run /mnt /srv; do
	mount -t tmpfs tmp $point
done
checkout=${0%/tests/long/uml/init.sh}
if [ ! -d "$checkout" ]; then # it lies below one of these
	mkdir -p "$checkout"
	mount -r -t hostfs -o "$checkout" checkout "$checkout"
fi
mkdir -p /dev/shm /run/home /mnt/a /mnt/b
ln -s /proc/self/fd /dev/fd
mount -t tmpfs tmp /dev/shm
mkdir -p /run/out
mount -t hostfs -o "$OUT" out /run/out
ip link set lo up
# The processor's counter, which fio reads otherwise, runs on while the clock stands still.
if fio=$(command -v fio); then
	touch /run/fio
	mount --bind $fio /run/fio
	printf '#!/bin/sh\nexec /run/fio --clocksource=clock_gettime "$@"\n' > /run/fio-by-clock
	chmod +x /run/fio-by-clock
	mount --bind /run/fio-by-clock $fio
fi
cd /run/out
sh ./script > said 2>&1
echo $? > ended
sync
halt -f
