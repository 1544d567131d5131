#!/bin/sh
# The services of a desktop session as they ship, in the mount namespace that this was started in, until standard input
# ends. Polkit's rule says for one user what it says by itself for the active user of a local session.
# usage: desktop.sh USER ACTIONS [automounter]
set -eu
user=$1 actions=$2 automounter=${3:-}
for place in /run /media; do
	mount -t tmpfs -o mode=755 none "$place"
done
mkdir -p /run/dbus /run/lock /run/udev /run/udisks2
rules=$(mktemp -d)
chmod 755 "$rules"
mount --bind "$rules" /etc/polkit-1/rules.d
cat > "$rules/10-active.rules" <<RULE
polkit.addRule(function(action, subject) {
  var allowed = "$actions".split(",");
  if (subject.user == "$user" && allowed.indexOf(action.id.replace("org.freedesktop.udisks2.", "")) >= 0)
    return polkit.Result.YES;
});
RULE
udevd=/lib/systemd/systemd-udevd
[ -x "$udevd" ] || udevd=/usr/lib/systemd/systemd-udevd
"$udevd" 2> /run/udevd.log &
pids=$!
dbus-daemon --system --nofork --nopidfile 2> /run/dbus.log &
pids="$pids $!"
until [ -S /run/dbus/system_bus_socket ]; do sleep 0.05; done
/usr/lib/polkit-1/polkitd --no-debug > /run/polkit.log 2>&1 &
pids="$pids $!"
/usr/libexec/udisks2/udisksd > /run/udisks.log 2>&1 &
pids="$pids $!"
until dbus-send --system --print-reply --dest=org.freedesktop.UDisks2 /org/freedesktop/UDisks2/Manager \
	org.freedesktop.DBus.Peer.Ping > /dev/null 2>&1; do sleep 0.05; done
if [ -n "$automounter" ]; then
	su "$user" -c "$automounter" > /run/automounter.log 2>&1 &
	pids="$! $pids"
fi
echo ready
cat > /dev/null || :
kill $pids
rm -rf "$rules"
