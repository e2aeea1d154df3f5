# A throw-away machine: everything that this one has, in which whatever is written goes to memory, without a network and with processes of
# its own. `machine.sh <empty folder> <uid> <cgroup or -> <command...>`, by root, in fresh namespaces. Descriptor 9 is the folder with all
# that was written; no path leads there.
set -e
top=$1 id=$2 group=$3
shift 3
# Root has no limit of processes but this one.
[ "$group" = - ] || echo 0 >"$group/cgroup.procs"
mount -t tmpfs -o size=512m,mode=755 throwaway "$top"
mkdir "$top/upper" "$top/work" "$top/root"
mount -t overlay -o "lowerdir=/,upperdir=$top/upper,workdir=$top/work" throwaway "$top/root"
cd "$top/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 devices dev
for device in null:3 zero:5 full:7 random:8 urandom:9; do mknod -m 666 "dev/${device%:*}" c 1 "${device#*:}"; done
mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 terminals dev/pts
mount -t tmpfs -o mode=1777,size=64m memory dev/shm
ln -s pts/ptmx dev/ptmx
for name in fd stdin:0 stdout:1 stderr:2; do
	case $name in fd) ln -s /proc/self/fd dev/fd ;; *) ln -s "/proc/self/fd/${name#*:}" "dev/${name%:*}" ;; esac
done
exec 9<"$top/upper"
mkdir -p mnt
pivot_root . mnt
cd /
umount -l /mnt
ip link set lo up
echo "ann:x:$id:$id:Ann:/home/ann:/bin/bash" >>/etc/passwd
echo "ann:x:$id:" >>/etc/group
mkdir -p /home/ann /opt/keryx /srv/others
chown -R "$id:$id" /home/ann /opt/keryx /srv/others
set -- prlimit --nproc=600 setpriv --reuid="$id" --regid="$id" --clear-groups "$@"
# This shell stays, as the first process here, and takes in what others leave behind.
exec 3<&0
"$@" <&3 3<&- &
exec 3<&- 9<&-
wait $!
