#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# selftest.sh [FOLDER]: the test bed tests itself with unmodified system programs. FOLDER has the
# programs of ./build (default: they are built into a temporary one). Run as root, it runs most checks
# again as an ordinary user. Prints "ok - ..." and "not ok - ..."; exits 0, 1, or 77 where fakehost
# cannot run at all. What a missing program would have checked is "skip - ...".

# shellcheck disable=SC2015,SC2016,SC2086  # the commands run in shells of their own; $as is words

bed=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
programs=${1:-$work/programs}
[ -n "$1" ] || "$bed/build" "$programs" || exit 1
programs=$(cd "$programs" && pwd)
PATH=$programs:$PATH
failed=0

# check NAME COMMAND...: the command must succeed.
check() {
    name=$1
    shift
    if "$@" >"$work/out" 2>"$work/err"; then
        echo "ok - $who: $name"
    else
        echo "not ok - $who: $name"
        sed 's/^/  # /' "$work/out" "$work/err" | head -20
        failed=1
    fi
}

# equal NAME WANTED GOT
equal() {
    if [ "$2" = "$3" ]; then
        echo "ok - $who: $1"
    else
        printf 'not ok - %s: %s\n  # wanted: %s\n  # got: %s\n' "$who" "$1" "$2" "$3"
        failed=1
    fi
}

skip() {
    echo "skip - $who: $1"
}

have() {
    command -v "$1" >/dev/null
}

# host OPTIONS TREE -- COMMAND: fakehost, as the user whose turn it is.
host() {
    $as fakehost --quiet "$@"
}

# A tree belongs to whoever runs the command on it: its root-only files are theirs.
tree() {
    [ -d "$work/$who/$1" ] || $as "$bed/mkmachine" "$1" "$work/$who/$1" || exit 1
    echo "$work/$who/$1"
}

# new_log: an empty log that both users may write.
new_log() {
    rm -f "$work/log"
    : >"$work/log"
    chmod 666 "$work/log"
}

see() {
    first=$(tree first-customer)
    equal "host name" serverhost1 "$(host "$first" -- uname -n)"
    equal "kernel release" 5.11.22-1-pve "$(host "$first" -- uname -r)"
    equal "osrelease" 5.11.22-1-pve "$(host "$first" -- cat /proc/sys/kernel/osrelease)"
    equal "mountinfo of PID 1" zfs \
        "$(host "$first" -- awk '$5 == "/" { print $9 }' /proc/1/mountinfo)"
    equal "os-release" 11 "$(host "$first" -- sh -c '. /etc/os-release; echo "$VERSION_ID"')"
    equal "cpuinfo" 32 "$(host "$first" -- grep -c ^processor /proc/cpuinfo)"
    equal "dpkg status" 7.0-2 "$(host "$first" -- sed -n '/^Package: proxmox-ve/,/^$/s/^Version: //p' \
        /var/lib/dpkg/status)"
    equal "/run is fresh" "lock pnhw pnhw-probe udev" "$(host "$first" -- ls /run | xargs)"
    equal "nothing real in an empty host" 0 \
        "$(host "$(tree empty)" -- sh -c 'ls /sys/bus/*/devices /sys/firmware /sys/class/* 2>/dev/null' |
            grep -c ':..:\|dmi\|eth')"
    equal "/proc file that the kernel lacks" raid1 \
        "$(host "$(tree storage)" -- sh -c 'grep -o raid1 /proc/mdstat | head -1')"
    check "sysfs stays sysfs" host "$first" -- sh -c 'test "$(stat -f -c %T /sys)" = sysfs'
    check "/run/pnhw and /var/lib/pnhw are writable" host "$first" -- \
        touch /run/pnhw/x /run/pnhw-probe/x /var/lib/pnhw/x
    if have lspci; then
        equal "lspci: functions" 47 "$(host "$first" -- lspci | wc -l)"
        equal "lspci: link of nvme1" "8GT/s, x4" "$(host "$first" -- lspci -vv -s 05:00.0 |
            sed -n 's/.*LnkSta:.*Speed \([^ ,]*\).*Width \(x[0-9]*\).*/\1, \2/p')"
        equal "lspci: a domain of five digits" 2 \
            "$(host "$(tree vmd)" -- lspci -D | grep -c '^10000:e[12]:00.0')"
    fi
    if have lsblk; then
        equal "lsblk: zpool members" 5 "$(host "$first" -- lsblk -n -o FSTYPE | grep -c zfs_member)"
        # Without block nodes it does not follow /dev/mapper.
        [ "$who" = root ] && equal "lsblk: LVM on md" "vg0-root vg0-my--images" "$(host "$(tree storage)" -- \
            sh -c 'lsblk -n -l -o NAME | grep vg0 | sort -ru | xargs')"
    fi
    have udevadm && equal "udevadm: a partition's file system" zfs_member \
        "$(host "$first" -- udevadm info -q property -p /sys/class/block/nvme0n1p3 |
            sed -n s/ID_FS_TYPE=//p)"
    have sensors && equal "sensors: chips" 7 "$(host "$first" -- sensors 2>/dev/null | grep -c Adapter)"
}

privileges() {
    first=$(tree first-customer)
    config=/sys/bus/pci/devices/0000:05:00.0/config
    equal "config space" 4096 "$(host "$first" -- sh -c "wc -c <$config")"
    equal "config space of another user" 64 "$(host --uid 1234 "$first" -- sh -c "wc -c <$config")"
    equal "user and group" "1234 1234" \
        "$(host --uid 1234 "$first" -- sh -c 'echo "$(id -u) $(id -g)"')"
    for file in /sys/firmware/dmi/tables/DMI /sys/class/dmi/id/product_uuid; do
        check "$file" host "$first" -- cat "$file"
        check "$file is not another user's" host --uid 1234 "$first" -- sh -c "! cat $file"
    done
    check "/var/lib/pnhw is the other user's" host --uid 1234 "$first" -- touch /var/lib/pnhw/x
}

commands() {
    have nvme || {
        skip "no nvme"
        return
    }
    first=$(tree first-customer)
    wanted=5
    [ "$who" = user ] && wanted=0 # block nodes are root's
    new_log
    equal "nvme list" $wanted "$(host --log "$work/log" "$first" -- nvme list | grep -c ^/dev/nvme)"
    # nvme-cli 2.3 sends two to each drive, 2.13 one.
    equal "nvme list: commands" $wanted \
        "$(sed -n 's/^\([^ ]*\) .* opcode=0x06 .* ok$/\1/p' "$work/log" | sort -u | wc -l)"
    new_log
    equal "smart-log" 47 "$(host --log "$work/log" "$first" -- nvme smart-log -o json /dev/nvme1 |
        sed -n 's/.*"temperature":\([0-9]*\).*/\1/p' | awk '{ print $1 - 273 }')"
    # The time-out differs between versions of nvme-cli.
    equal "the log" "nvme1 admin opcode=0x02 cdw10=0x007f0002 nsid=0xffffffff length=512 timeout= ok" \
        "$(head -1 "$work/log" | sed 's/timeout=[0-9]*/timeout=/')"
    new_log
    check "an unexpected command fails" host --script none --log "$work/log" "$first" -- \
        sh -c '! nvme smart-log /dev/nvme1'
    equal "and is recorded" "# end: commands=1 unexpected=1 never-answered=0 unused-answers=0" \
        "$(tail -1 "$work/log")"
    new_log
    check "another user is denied" host --uid 1234 --log "$work/log" "$first" -- \
        sh -c '! nvme smart-log /dev/nvme1'

    cat >"$work/script" <<END
nvme1 log:2 file:nvme/nvme1/smart-log times=1 # then it goes away
nvme1 log:2 errno:ENODEV
nvme2 log:2 hang
nvme3 log:2 status:0x4002
nvme4 log:2 file:nvme/nvme4/smart-log delay=700
nvme0 log:2 ok times=3
END
    new_log
    check "an answer, then ENODEV" host --script "$work/script" --log "$work/log" "$first" -- \
        sh -c 'nvme smart-log /dev/nvme1 && ! nvme smart-log /dev/nvme1'
    check "unused answers are told" grep -q "^# unused: script line 6 (nvme0 log): 0 of 3" "$work/log"
    check "a status" host --script "$work/script" "$first" -- \
        sh -c 'nvme smart-log /dev/nvme3 2>&1 | grep -q 0x4002'
    start=$(date +%s%N)
    check "a late answer" host --script "$work/script" "$first" -- nvme smart-log /dev/nvme4
    check "was late" test $((($(date +%s%N) - start) / 1000000)) -ge 700
    equal "a hung command can be killed" 124 "$(host --script "$work/script" "$first" -- \
        sh -c 'timeout 0.5 nvme smart-log /dev/nvme2 >/dev/null; echo $?')"
    check "and nobody else is disturbed" host --script "$work/script" "$first" -- \
        sh -c 'nvme smart-log /dev/nvme2 & sleep 0.2; nvme smart-log /dev/nvme1'
    check "fakehost ends with a hung command left" timeout 10 \
        $as fakehost --quiet --script "$work/script" "$first" -- sh -c 'nvme smart-log /dev/nvme2 & sleep 0.2'
}

endings() {
    first=$(tree first-customer)
    host "$first" -- sh -c 'exit 42'
    equal "exit status" 42 $?
    host "$first" -- sh -c 'kill -9 $$'
    equal "exit status of a killed command" 137 $?
    host "$first" -- /no/such/program 2>/dev/null
    equal "no such command" 127 $?
    host "$work/no-such-tree" -- true 2>/dev/null
    equal "no such tree" 125 $?
    echo "nvme0 log:2 wrong" >"$work/script"
    host --script "$work/script" "$first" -- true 2>/dev/null
    equal "a wrong script" 125 $?
    host "$first" -- sh -c 'sleep 987654 & setsid sleep 987654 & sleep 0.1'
    equal "nothing is left running" 0 "$(pgrep -c -f 'sleep 98765[4]')"
    equal "nothing is left mounted" "" "$(grep "$work" /proc/self/mountinfo)"
    # Not by host(): $! must be fakehost, not a shell that waits for it.
    $as fakehost --quiet "$first" -- sh -c 'trap "exit 7" TERM; while :; do sleep 0.05; done' &
    pid=$!
    sleep 0.5
    kill -TERM $pid
    wait $pid
    equal "TERM is passed on" 7 $?
    host "$first" -- fakehost "$first" -- true 2>/dev/null
    equal "fakehost in fakehost is a skip" 77 $?
}

attributes() {
    have slowfile && $as test -w /dev/fuse || {
        skip "no slowfile or /dev/fuse"
        return
    }
    first=$(tree first-customer)
    over='f=$(readlink -f /sys/class/nvme/nvme2)/model'
    equal "a slow attribute" "SLOW DRIVE" "$(host "$first" -- sh -c "$over"'
        slowfile "$f" 300 "SLOW DRIVE" & sleep 0.3; cat "$f"')"
    check "a failing attribute" host "$first" -- sh -c "$over"'
        slowfile "$f" 0 "!5" & sleep 0.3; dd if="$f" 2>&1 | grep -q "Input/output"'
    start=$(date +%s%N)
    check "a hung attribute" host "$first" -- sh -c "$over"'
        slowfile "$f" -1 x & sleep 0.3; dd if="$f" & sleep 0.5; kill -0 $!'
    check "obeys no signal until slowfile ends" host "$first" -- sh -c "$over"'
        slowfile "$f" -1 x & s=$!; sleep 0.3; dd if="$f" & d=$!; sleep 0.3; kill -9 $d; sleep 0.3
        kill -0 $d && grep -q "State:.D" /proc/$d/status && kill -9 $s && sleep 0.3 &&
        ! grep -q "State:.D" /proc/$d/status'
    check "does not hold fakehost" test $((($(date +%s%N) - start) / 1000000)) -lt 5000
}

network() {
    first=$(tree first-customer)
    check "uevents arrive at a libudev monitor" host --net "$first" -- python3 - <<'END'
import ctypes, select, subprocess, sys
udev = ctypes.CDLL("libudev.so.1")
for name in "new monitor_new_from_netlink monitor_receive_device".split():
    getattr(udev, "udev_" + name).restype = ctypes.c_void_p
udev.udev_device_get_property_value.restype = ctypes.c_char_p
p = ctypes.c_void_p
monitor = p(udev.udev_monitor_new_from_netlink(p(udev.udev_new()), b"udev"))
udev.udev_monitor_filter_add_match_subsystem_devtype(monitor, b"nvme", None)
udev.udev_monitor_enable_receiving(monitor)
path = "/devices/pci0000:00/0000:00:01.1/0000:01:00.0/nvme/nvme0"
for subsystem in "block", "nvme":
    subprocess.run(["uevent", "change", path, "SUBSYSTEM=" + subsystem,
                    "PNHW_MARK=" + subsystem], check=True)
select.select([udev.udev_monitor_get_fd(monitor)], [], [], 3)
device = udev.udev_monitor_receive_device(monitor)
sys.exit(device is None or
         udev.udev_device_get_property_value(p(device), b"PNHW_MARK") != b"nvme")
END
    have ethtool || return
    equal "SIOCETHTOOL: driver" ixgbe \
        "$(host "$first" -- ethtool -i enp4s0f0 | sed -n 's/^driver: //p')"
    host --links "$first" -- true 2>/dev/null
    if [ $? != 77 ]; then
        equal "netlink: speed" 10000Mb/s "$(host --links "$first" -- ethtool enp4s0f0 2>/dev/null |
            sed -n 's/.*Speed: //p')"
        equal "netlink: index as in sysfs" "" "$(host --links "$first" -- sh -c '
            for n in enp4s0f0 enp7s0; do ip -o link show $n |
            grep -q "^$(cat /sys/class/net/$n/ifindex): " || echo $n; done')"
    else
        skip "no tap devices"
    fi
}

machines() {
    for name in $("$bed/mkmachine" --list); do
        check "machine $name" host "$(tree "$name")" -- sh -c '
            cd /sys/bus/pci/devices && for d in *; do [ -e "$d" ] || continue
                [ "$(cat "$d/vendor")" != "" ] && [ "$(readlink -f "$d")" != "" ] || exit 1; done
            cd /sys/class/block && for b in *; do [ ! -e "$b" ] || [ -s "$b/size" ] || exit 1; done'
    done
    find "$work" -xtype l -path "*/sys/*" ! -name iommu_group ! -path "*/drivers/*" >"$work/dangling"
    equal "no dangling links" "" "$(grep -v '/subsystem$' "$work/dangling" | head -3)"
}

server() {
    printf '{"an":"answer"}' >"$work/$who/answer"
    bareserver "$work/$who/socket" "$work/$who/answer" &
    pid=$!
    check "bareserver answers each request" python3 - "$work/$who/socket" <<'END'
import socket, sys, time
client = socket.socket(socket.AF_UNIX)
for _ in range(50):
    try:
        client.connect(sys.argv[1])
        break
    except OSError:
        time.sleep(0.1)
client.settimeout(5)
client.sendall(b"one\0two\0thr")
client.sendall(b"ee\0")
wanted = b'{"an":"answer"}\0' * 3
got = b""
while len(got) < len(wanted):
    got += client.recv(4096)
sys.exit(got != wanted)
END
    kill $pid
}

sanitizers() {
    first=$(tree first-customer)
    if have valgrind && have nvme; then
        # It does not know that the ioctl fills the buffer, so it complains of what nvme prints.
        check "under valgrind" host "$first" -- valgrind -q nvme smart-log /dev/nvme1
    fi
    printf '%s\n' '#include <fcntl.h>' '#include <sys/ioctl.h>' '#include <linux/nvme_ioctl.h>' \
        'int main(void) { struct nvme_admin_cmd c = {.opcode = 2, .cdw10 = 2}; char b[512];' \
        'c.addr = (__u64)(unsigned long)b; c.data_len = sizeof b;' \
        'return ioctl(open("/dev/nvme1", O_RDONLY), NVME_IOCTL_ADMIN_CMD, &c) || b[3] != 100; }' \
        >"$work/sanitized.c"
    if ${CC:-cc} -fsanitize=address,undefined -o "$work/sanitized" "$work/sanitized.c" 2>/dev/null; then
        check "under ASan" host "$first" -- "$work/sanitized"
    fi
}

as=
who=$([ "$(id -u)" = 0 ] && echo root || echo user)
mkdir -m 1777 "$work/$who"
fakehost "$(tree empty)" -- true || exit
while :; do
    see
    privileges
    commands
    endings
    attributes
    network
    server
    sanitizers
    [ "$who" = root ] && machines
    [ "$who" = root ] && have setpriv || break
    who=user
    as="setpriv --reuid 65534 --regid 65534 --clear-groups"
    mkdir -m 1777 "$work/$who"
    host "$(tree empty)" -- true 2>/dev/null || {
        skip "no user namespaces"
        break
    }
done
exit $failed
