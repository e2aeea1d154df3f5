# Everything that a program behind a wall might try to reach Keryx. `escape.pl <facts>`: prints one line per attempt,
# `<group>\t<name>\t<R|D|H|-|?>\t<text>`: what was read, done, answered over HTTP, refused, or cannot be tried here. What was read counts only
# if it holds the secret, which this program is not told. Mounts are tried behind walls alone: without one there is nothing to uncover.
use strict;
use warnings;
use Config;
use Cwd ();
use Errno ();
use Fcntl qw(:DEFAULT :mode);
use IO::Socket::INET;
use POSIX ();
use Socket qw(:DEFAULT IPPROTO_TCP IPPROTO_IPV6 IPV6_V6ONLY inet_pton pack_sockaddr_in6 SO_REUSEADDR SO_REUSEPORT);

my ($facts_file, $is_control) = @ARGV;
my %f;
open(my $facts, "<", $facts_file) or die "facts: $!";
while (<$facts>) { chomp; my ($name, $value) = split /\t/, $_, 2; $f{$name} = $value }
close $facts;
my ($home, $user, $top, $ws, $pid, $port) = @f{qw(home user top ws pid port)};
my $secret = "$home/operator.secret";

my $x64 = $Config{archname} =~ /x86_64/;
my %X = (
    ioctl => 16, getpid => 39, socket => 41, socketpair => 53, clone => 56, ptrace => 101, syslog => 103, pivot_root => 155, acct => 163,
    chroot => 161, mount => 165, umount2 => 166, swapoff => 168, sethostname => 170, setdomainname => 171, iopl => 172, ioperm => 173, init_module => 175,
    tgkill => 234, mq_open => 240, mq_timedreceive => 243, kexec_load => 246, add_key => 248, request_key => 249, keyctl => 250, ioprio_get => 252,
    inotify_init1 => 294, inotify_add_watch => 254, migrate_pages => 256, openat => 257, get_robust_list => 274, unshare => 272, move_pages => 279,
    rt_tgsigqueueinfo => 297, perf_event_open => 298, fanotify_init => 300, prlimit64 => 302, name_to_handle_at => 303,
    open_by_handle_at => 304, setns => 308, process_vm_readv => 310, process_vm_writev => 311, kcmp => 312, sched_getattr => 315, renameat2 => 316,
    bpf => 321, userfaultfd => 323, statx => 332, pidfd_send_signal => 424, io_uring_setup => 425, open_tree => 428, move_mount => 429,
    fsopen => 430, fsconfig => 431, fsmount => 432, fspick => 433, pidfd_open => 434, clone3 => 435, openat2 => 437,
    pidfd_getfd => 438, process_madvise => 440, mount_setattr => 442, sched_getaffinity => 204, getsid => 124, getpgid => 121, capget => 125,
    getpriority => 140, rt_sigqueueinfo => 129, setxattr => 188, mknodat => 259, linkat => 265, prctl => 157, open_tree_attr => 467, shmat => 30,
);
my %A = (
    ioctl => 29, getpid => 172, socket => 198, socketpair => 199, clone => 220, ptrace => 117, syslog => 116, pivot_root => 41, acct => 89, chroot => 51,
    mount => 40, umount2 => 39, swapoff => 225, sethostname => 161, setdomainname => 162, init_module => 105, tgkill => 131, mq_open => 180,
    mq_timedreceive => 183, kexec_load => 104, add_key => 217, request_key => 218, keyctl => 219, ioprio_get => 31, inotify_init1 => 26,
    inotify_add_watch => 27, migrate_pages => 238, openat => 56, get_robust_list => 100, unshare => 97, move_pages => 239,
    rt_tgsigqueueinfo => 240, perf_event_open => 241, fanotify_init => 262, prlimit64 => 261, name_to_handle_at => 264,
    open_by_handle_at => 265, setns => 268, process_vm_readv => 270, process_vm_writev => 271, kcmp => 272, sched_getattr => 275, renameat2 => 276,
    bpf => 280, userfaultfd => 282, statx => 291, pidfd_send_signal => 424, io_uring_setup => 425, open_tree => 428, move_mount => 429,
    fsopen => 430, fsconfig => 431, fsmount => 432, fspick => 433, pidfd_open => 434, clone3 => 435, openat2 => 437,
    pidfd_getfd => 438, process_madvise => 440, mount_setattr => 442, sched_getaffinity => 123, getsid => 156, getpgid => 155, capget => 90,
    getpriority => 141, rt_sigqueueinfo => 138, setxattr => 5, mknodat => 33, linkat => 37, prctl => 167, open_tree_attr => 467, shmat => 196,
);
my %nr = $x64 ? %X : %A;

my ($MS_RDONLY, $MS_REMOUNT, $MS_BIND, $MS_MOVE, $MS_REC) = (1, 32, 4096, 8192, 16384);
my ($NEWNS, $NEWCGROUP, $NEWUTS, $NEWIPC, $NEWUSER, $NEWPID, $NEWNET, $NEWTIME) =
    (0x20000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000, 0x80);
my @attempts;

# --- how attempts are made ---------------------------------------------------------------------------------------------------------
sub attempt { my ($group, $name, $code, %more) = @_; push @attempts, { group => $group, name => $name, code => $code, %more } }
sub refused { my $why = shift; return ["-", defined $why ? $why : "$!"] }
sub done { return ["D", shift // ""] }
sub cannot { return ["?", shift // "cannot be tried here"] }

# Numbers are passed as they are, texts as memory, which the kernel may write to: so the arguments are not copied.
sub sys {
    my $name = shift;
    defined $nr{$name} or do { $! = Errno::ENOSYS(); return -1 };
    return syscall($nr{$name}, @_);
}
sub did { my $result = &sys; return $result < 0 ? refused() : done("= $result") }
sub address { return unpack("Q", pack("P", $_[0])) }

sub slurp {
    my ($path) = @_;
    sysopen(my $file, $path, O_RDONLY | O_NONBLOCK) or return undef;
    my $data = "";
    while (length $data < 200_000) {
        my $got = sysread($file, $data, 65536, length $data);
        last unless $got;
    }
    close $file;
    return $data;
}
sub rd { my ($path) = @_; my $data = slurp($path); return defined $data ? ["R", $data] : refused() }
sub wr { my ($path) = @_; sysopen(my $file, $path, O_WRONLY) or return refused(); close $file; return done("opened $path") }

# Writes the value that is there.
sub same {
    my ($path) = @_;
    my $value = slurp($path);
    return refused() unless defined $value;
    sysopen(my $file, $path, O_WRONLY) or return refused();
    defined(syswrite($file, $value)) or return refused();
    return done("wrote $path");
}
sub all_of { my $data = ""; for (@_) { my $part = slurp($_); $data .= $part if defined $part } return ["R", $data] }

# Makes an empty file and takes it away again.
sub plant {
    my ($path) = @_;
    return cannot("it exists") if -e $path;
    sysopen(my $file, $path, O_WRONLY | O_CREAT | O_EXCL) or return refused();
    close $file;
    unlink $path;
    return done("made $path");
}
# There and back again.
sub move_away {
    my ($from) = @_;
    my $to = "$from.moved";
    rename($from, $to) or return refused();
    rename($to, $from) or die "cannot be put back: $!";
    return done("renamed $from");
}

# --- paths -------------------------------------------------------------------------------------------------------------------------
(my $inside = $secret) =~ s{^/}{};
my $up = "../" x (() = $ws =~ m{/}g);
my %paths = (
    "direct" => $secret,
    "relative" => "$up$inside",
    "/proc/self/root" => "/proc/self/root$secret",
    "/proc/self/cwd" => "/proc/self/cwd/$up$inside",
    "/proc/thread-self/root" => "/proc/thread-self/root$secret",
        "/proc/1/root" => "/proc/1/root$secret",
    "/proc/1/cwd" => "/proc/1/cwd/$up$inside",
    "/proc/self/fd/0/.." => "/proc/self/fd/0/../$inside",
    "/proc/self/fd/1/.." => "/proc/self/fd/1/../operator.secret",
    "/dev/fd" => "/dev/fd/../root$secret",
    "/dev/stdin/.." => "/dev/stdin/../operator.secret",
    "doubled slashes" => do { (my $p = $secret) =~ s{/}{//}g; $p },
    "dots" => do { (my $p = $secret) =~ s{/}{/./}g; $p },
    "up and down" => "/usr/../var/..$secret",
    "down from the home" => "$home/../" . (split m{/}, $home)[-1] . "/operator.secret",
    "old link to the file" => "$ws/old-file-link",
    "old link to the home" => "$ws/old-home-link/operator.secret",
    "old link to a folder above" => "$ws/old-user-link/.local/share/keryx/operator.secret",
    "old chain of links" => "$ws/old-chain/operator.secret",
    "old link in /tmp" => "$f{tmp}/old-tmp-link",
    "another mount of the user's folder" => "$f{alias}/.local/share/keryx/operator.secret",
    "another mount, by its root" => "/proc/self/root$f{alias}/.local/share/keryx/operator.secret",
    "a part of the home mounted elsewhere" => "$f{part}/host-1.token",
    "token of the process host" => "$home/processes/host-1.token",
    "file one level deeper" => "$home/keys/audit.key",
    "root of a chroot" => "$f{proc2}/self/root$secret",
);
attempt("paths", $_, do { my $p = $paths{$_}; sub { rd($p) } }) for sort keys %paths;
attempt("paths", "/proc/self/task", sub { rd("/proc/self/task/$$/root$secret") });
attempt("paths", "an old hard link elsewhere", sub { rd("$user/old-hard-link") });
attempt("paths", "step by step with chdir", sub {
    chdir "/" or return refused();
    for (split m{/}, substr($home, 1)) { chdir $_ or return refused() }
    return rd("operator.secret");
});
attempt("paths", "openat below an open folder", sub {
    opendir(my $dir, $user) or return refused();
    my $name = ".local/share/keryx/operator.secret";
    my $fd = sys("openat", fileno($dir), $name, O_RDONLY, 0);
    return refused() if $fd < 0;
    open(my $file, "<&=", $fd) or return refused();
    return ["R", join "", <$file>];
});
attempt("paths", "openat2 without crossing mounts", sub {
    my $how = pack("QQQ", O_RDONLY, 0, 1);
    my $fd = sys("openat2", -100, my $p = $secret, $how, length $how);
    return refused() if $fd < 0;
    open(my $file, "<&=", $fd) or return refused();
    return ["R", join "", <$file>];
});
attempt("paths", "a link made now", sub { symlink($secret, "$ws/new-link") or $!{EEXIST} or return refused(); my $r = rd("$ws/new-link"); unlink "$ws/new-link"; $r });
attempt("paths", "a relative link made now", sub { symlink("$up$inside", "$ws/new-rel") or $!{EEXIST} or return refused(); my $r = rd("$ws/new-rel"); unlink "$ws/new-rel"; $r });
attempt("paths", "a hard link made now", sub { link($secret, "$ws/new-hard") or return refused(); my $r = rd("$ws/new-hard"); unlink "$ws/new-hard"; $r });
attempt("paths", "looking into every folder of the user", sub {
    my @found; my @queue = ($top); my $seen = 0;
    while (defined(my $folder = shift @queue)) {
        last if $seen++ > 3000;
        opendir(my $dir, $folder) or next;
        for my $name (readdir $dir) {
            next if $name =~ /^\.\.?$/ || "$folder/$name" =~ m{^\Q$f{proc2}\E};
            my $path = "$folder/$name";
            next if $path eq "$user/old-hard-link";
            push @queue, $path if -d $path && !-l $path;
            push @found, $path if -f $path && -s $path < 1000 && $name =~ /secret|token|key/;
        }
    }
    return all_of(@found);
});
attempt("paths", "run it as a script", sub { ["R", scalar `/bin/sh '$secret' 2>&1`] });
attempt("paths", "copy it with dd", sub { ["R", scalar `dd if='$secret' 2>/dev/null`] });
attempt("paths", "pack the home with tar", sub { ["R", scalar `tar -cf - '$home/operator.secret' '$home/keys' 2>/dev/null`] });
attempt("paths", "list the home", sub { opendir(my $dir, $home) or return refused(); (grep { /secret/ } readdir $dir) ? done("listed") : refused("empty") });
attempt("paths", "see that the secret is there", sub { lstat($secret) ? done("seen") : refused() });
attempt("paths", "watch the secret", sub { my $i = sys("inotify_init1", 0); return refused() if $i < 0; did("inotify_add_watch", $i, my $p = $secret, 1) });
attempt("paths", "a handle of the secret", sub { my $h = pack("LlC128", 128, 0); my $m = pack("l", 0); did("name_to_handle_at", -100, my $p = $secret, $h, $m, 0) });
attempt("paths", "open a known handle", sub {
    return cannot("no handle") unless $f{handle};
    opendir(my $dir, $ws) or return refused();
    my $handle = pack("H*", $f{handle});
    my $fd = sys("open_by_handle_at", fileno($dir), $handle, O_RDONLY);
    return refused() if $fd < 0;
    open(my $file, "<&=", $fd) or return refused();
    return ["R", join "", <$file>];
});

# --- writing into the home ---------------------------------------------------------------------------------------------------------
attempt("writes", "open the configuration to write", sub { wr("$home/config.yaml") });
attempt("writes", "open the secret to write", sub { wr($secret) });
attempt("writes", "a new file in the home", sub { plant("$home/planted") });
attempt("writes", "a new folder in the home", sub { mkdir("$home/planted.d") or return refused(); rmdir "$home/planted.d"; done() });
attempt("writes", "a link in the home", sub { symlink("/etc/passwd", "$home/planted-link") or return refused(); unlink "$home/planted-link"; done() });
attempt("writes", "rename a file of the home", sub { move_away("$home/config.yaml") });
attempt("writes", "rename over a file of the home", sub { open(my $n, ">", "$ws/new-config") or return refused(); close $n; rename("$ws/new-config", "$home/victim") or return refused(); done() });
attempt("writes", "delete a file of the home", sub { unlink("$home/victim") ? done() : refused() });
attempt("writes", "chmod the home", sub { my $mode = (stat $home)[2] // return refused(); chmod($mode & 07777, $home) && -e $secret ? done() : refused() });
attempt("writes", "chmod the secret", sub { chmod(0600, $secret) ? done() : refused() });
attempt("writes", "touch the configuration", sub { utime(undef, undef, "$home/config.yaml") ? done() : refused() });
attempt("writes", "cut the configuration", sub { my $size = -s "$home/config.yaml"; return refused() unless defined $size; truncate("$home/config.yaml", $size) ? done() : refused() });
attempt("writes", "an attribute of the configuration", sub { did("setxattr", my $p = "$home/config.yaml", my $n = "user.keryx", my $v = "x", 1, 0) });
attempt("writes", "append with a shell", sub { system("/bin/sh", "-c", ": >> '$home/config.yaml'") == 0 && -e "$home/config.yaml" ? done() : refused() });
attempt("writes", "through another mount", sub { wr("$f{alias}/.local/share/keryx/config.yaml") });
attempt("writes", "through the part that is mounted elsewhere", sub { wr("$f{part}/host-1.token") });
attempt("writes", "through an old link", sub { wr("$ws/old-home-link/config.yaml") });
attempt("writes", "through /proc/self/root", sub { wr("/proc/self/root$home/config.yaml") });
attempt("writes", "the log of a process", sub { wr("$home/processes/log.0") });

# --- another home in its place -----------------------------------------------------------------------------------------------------
my @above; for (my $folder = $home; $folder ne $top; $folder =~ s{/[^/]+$}{}) { push @above, $folder }
attempt("renames", "rename " . substr($_, length $top), do { my $folder = $_; sub { move_away($folder) } }) for @above;
attempt("renames", "exchange " . substr($_, length $top) . " for an own folder", do { my $folder = $_; sub {
    my $own = "$f{mine}/own"; mkdir $own;
    return refused() unless -d $own;
    my $r = sys("renameat2", -100, $own, -100, my $p = $folder, 2);
    return refused() if $r < 0;
    sys("renameat2", -100, $own, -100, $p, 2) == 0 or die "cannot be put back: $!";
    return done();
} }) for @above;
attempt("renames", "remove an empty folder above and make it anew", sub { rmdir($home) ? do { mkdir $home; done() } : refused() });
attempt("renames", "a home of its own under another name of the path", sub { mkdir("$home/../keryx ") or return refused(); rmdir "$home/../keryx "; refused("only beside it") });
attempt("renames", "rename the folder of Keryx's program", sub { move_away($f{program}) });
attempt("renames", "rename the folder above Keryx's program", sub { (my $p = $f{program}) =~ s{/[^/]+$}{}; move_away($p) });
attempt("renames", "rename the folder of Node", sub { move_away($f{node}) });
attempt("renames", "rename the folder above Node", sub { (my $p = $f{node}) =~ s{/[^/]+$}{}; move_away($p) });
attempt("renames", "through another mount", sub { move_away("$f{alias}/.local") });

# --- what the gateway runs ---------------------------------------------------------------------------------------------------------
attempt("programs", "write Keryx's program", sub { wr("$f{program}/dist/main.js") });
attempt("programs", "a new file beside Keryx's program", sub { plant("$f{program}/dist/planted.js") });
attempt("programs", "rename Keryx's program", sub { move_away("$f{program}/dist/main.js") });
attempt("programs", "a folder node_modules beside it", sub { mkdir("$f{program}/dist/node_modules") or return refused(); rmdir "$f{program}/dist/node_modules"; done() });
attempt("programs", "chmod Keryx's program", sub { chmod(0755, "$f{program}/dist/main.js") ? done() : refused() });
attempt("programs", "hard link to Keryx's program, written there", sub { link("$f{program}/dist/main.js", "$f{mine}/hl") or return refused(); my $r = wr("$f{mine}/hl"); unlink "$f{mine}/hl"; $r });
attempt("programs", "write Node", sub { wr("$f{node}/bin/node") });
attempt("programs", "a program in a folder of PATH", sub { plant("$f{bin}/git") });
attempt("programs", "rename a folder of PATH", sub { move_away($f{bin}) });

# --- files that others execute later (mask's limit, by name) -----------------------------------------------------------------------
attempt("plants", "~/$_", do { my $name = $_; sub { plant("$user/$name") } })
    for qw(.bashrc .profile .zshenv .ssh/authorized_keys .ssh/rc .config/systemd/user/x.service .config/autostart/x.desktop .gitconfig .npmrc .vimrc);
attempt("plants", $_, do { my $name = $_; sub { plant($name) } })
    for map { "$_/keryx-escape" } qw(/etc /etc/cron.d /etc/profile.d /etc/systemd/system /etc/sudoers.d /etc/apt/apt.conf.d /etc/ld.so.conf.d /usr/bin /usr/local/bin /usr/lib /root /var/spool/cron /opt);
attempt("plants", "open $_ to write", do { my $name = $_; sub { wr($name) } }) for qw(/etc/passwd /etc/ld.so.cache /usr/bin/bwrap /usr/bin/env /bin/sh);

# --- the gateway in /proc ----------------------------------------------------------------------------------------------------------
for my $name (qw(environ cmdline maps mem cwd root exe status stat comm io limits mountinfo auxv syscall stack wchan attr/current oom_score_adj)) {
    attempt("proc", "/proc/<pid>/$name", sub {
        my $path = "/proc/$pid/$name";
        if ($name =~ /^(root|cwd)$/) { return rd("$path/" . ($name eq "root" ? $inside : "operator.secret")) }
        if ($name eq "exe") { return defined readlink($path) ? done("seen") : refused() }
        if ($name eq "mem") { return memory($pid) }
        my $data = slurp($path);
        return refused() unless defined $data;
        return $name eq "environ" || $name eq "cmdline" ? ["R", $data] : done("read");
    });
}
attempt("proc", "/proc/<pid>/fd/<the secret's>", sub { rd("/proc/$pid/fd/$f{held}") });
attempt("proc", "/proc/<pid>/task/<pid>/environ", sub { rd("/proc/$pid/task/$pid/environ") });
attempt("proc", "/proc/<pid>/task/<pid>/fd", sub { rd("/proc/$pid/task/$pid/fd/$f{held}") });
attempt("proc", "/proc/<pid>/map_files", sub { opendir(my $d, "/proc/$pid/map_files") ? done("listed") : refused() });
attempt("proc", "/proc/<pid>/ns/mnt", sub { defined readlink("/proc/$pid/ns/mnt") ? done("seen") : refused() });
attempt("proc", "/proc/<pid>/cwd as a folder", sub { chdir("/proc/$pid/cwd") or return refused(); rd("operator.secret") });
attempt("proc", "write its oom_score_adj", sub { same("/proc/$pid/oom_score_adj") });
attempt("proc", "write its comm", sub { wr("/proc/$pid/comm") });
attempt("proc", "write its clear_refs", sub { wr("/proc/$pid/clear_refs") });
attempt("proc", "write its memory", sub { wr("/proc/$pid/mem") });
attempt("proc", "every environ", sub { all_of(glob "/proc/[0-9]*/environ") });
attempt("proc", "every command line", sub { all_of(glob "/proc/[0-9]*/cmdline") });
attempt("proc", "every root", sub { all_of(map { "$_$secret" } glob "/proc/[0-9]*/root") });
attempt("proc", "every cwd", sub { all_of(map { "$_/operator.secret" } glob "/proc/[0-9]*/cwd") });
attempt("proc", "every descriptor", sub { all_of(grep { my $l = readlink $_; defined $l && $l =~ m{^/} && -f $_ && -s $_ < 10000 } glob "/proc/[0-9]*/fd/*") });
attempt("proc", "its name among all processes", sub { my @seen = grep { (slurp($_) // "") =~ /gateway\.pl/ } glob "/proc/[0-9]*/cmdline"; @seen ? done("seen") : refused("not there") });
attempt("proc", "ps", sub { my $out = `ps axeww 2>/dev/null`; $out =~ /gateway\.pl/ ? done("seen") : refused("not there") });
for my $name (qw(environ cmdline cwd root fd mem maps)) {
    attempt("proc", "another procfs: $name", sub {
        my $path = "$f{proc2}/$pid/$name";
        if ($name eq "cwd") { return rd("$path/operator.secret") }
        if ($name eq "root") { return rd("$path$secret") }
        if ($name eq "fd") { return rd("$path/$f{held}") }
        if ($name eq "mem" || $name eq "maps") { return defined slurp("$f{proc2}/$pid/maps") ? done("read") : refused() }
        return rd($path);
    });
}
attempt("proc", "another procfs: kernel settings", sub { same("$f{proc2}/sys/kernel/core_pattern") });
attempt("proc", "another procfs: every process", sub { all_of(glob "$f{proc2}/[0-9]*/environ") });
for my $name (qw(environ mem)) { attempt("proc", "/proc/1/$name", sub { $name eq "mem" ? memory(1) : rd("/proc/1/$name") }) }
attempt("proc", "descriptors of process 1", sub { all_of(grep { -f $_ } glob "/proc/1/fd/*") });

sub memory {
    my ($of) = @_;
    my $maps = slurp("/proc/$of/maps");
    return refused() unless defined $maps && length $maps;
    open(my $mem, "<", "/proc/$of/mem") or return refused();
    my $data = "";
    for my $line (split /\n/, $maps) {
        my ($from, $to) = $line =~ /^([0-9a-f]+)-([0-9a-f]+) rw.*(?:\[heap\]|\[stack\])/ or next;
        no warnings "portable";
        sysseek($mem, hex $from, 0);
        my $length = hex($to) - hex($from);
        $length = 4_000_000 if $length > 4_000_000;
        sysread($mem, $data, $length, length $data);
    }
    my @texts = $data =~ /(secret-[0-9a-f]+)/g;
    return ["R", "@texts"];
}

# --- kernel settings: only the value that is there is written, or nothing ----------------------------------------------------------
attempt("kernel", "/proc/sys/$_", do { my $name = $_; sub { same("/proc/sys/$name") } })
    for qw(kernel/core_pattern kernel/core_uses_pid kernel/core_pipe_limit kernel/modprobe kernel/hotplug kernel/hostname kernel/domainname kernel/printk kernel/sysrq
    kernel/panic kernel/randomize_va_space kernel/dmesg_restrict kernel/kptr_restrict kernel/perf_event_paranoid kernel/pid_max kernel/threads-max
    kernel/yama/ptrace_scope kernel/keys/maxkeys fs/suid_dumpable fs/protected_symlinks fs/protected_hardlinks fs/file-max fs/mqueue/msg_max
    vm/overcommit_memory vm/mmap_min_addr vm/swappiness user/max_user_namespaces user/max_mnt_namespaces net/ipv4/ip_forward net/ipv4/ip_unprivileged_port_start
    net/ipv4/ping_group_range net/core/somaxconn);
attempt("kernel", "open $_ to write", do { my $name = $_; sub { wr($name) } })
    for qw(/proc/sysrq-trigger /proc/irq/default_smp_affinity /proc/mtrr /proc/acpi/wakeup /proc/scsi/scsi /proc/dynamic_debug/control /proc/sys/fs/binfmt_misc/register
    /sys/kernel/uevent_helper /sys/power/state /sys/kernel/mm/transparent_hugepage/enabled /sys/kernel/profiling /sys/fs/cgroup/cgroup.procs
    /sys/fs/cgroup/unified/cgroup.procs /sys/fs/cgroup/memory/release_agent /sys/fs/cgroup/memory/cgroup.procs /sys/fs/cgroup/devices/devices.allow /sys/fs/cgroup/freezer/cgroup.procs
    /sys/module/kernel/parameters/panic /sys/kernel/security/lockdown /sys/kernel/debug/sched/features);
attempt("kernel", "a cgroup of its own", sub { for my $base (glob "/sys/fs/cgroup/*") { if (mkdir "$base/keryx-escape") { rmdir "$base/keryx-escape"; return done($base) } } refused() });
attempt("kernel", "the kernel's memory", sub { my $fd; sysopen($fd, "/proc/kcore", O_RDONLY) ? done() : refused() });
attempt("kernel", "addresses of the kernel", sub { my $d = slurp("/proc/kallsyms") // return refused(); $d =~ /^(?!0+ )[0-9a-f]+ /m ? done() : refused("hidden") });
attempt("kernel", "the kernel's log by syslog", sub { my $b = "\0" x 4096; did("syslog", 3, $b, 4096) });
attempt("kernel", "the kernel's log by /dev/kmsg", sub { sysopen(my $fd, "/dev/kmsg", O_RDONLY | O_NONBLOCK) ? done() : refused() });
attempt("kernel", "the kernel's log by /proc/kmsg", sub { sysopen(my $fd, "/proc/kmsg", O_RDONLY | O_NONBLOCK) ? done() : refused() });
attempt("kernel", "the name of the host", sub { my $name = (POSIX::uname())[1]; did("sethostname", my $n = $name, length $name) });
attempt("kernel", "a module", sub { my $r = sys("init_module", my $m = "", 0, my $o = ""); $!{EPERM} || $!{ENOSYS} ? refused() : done("$!") });
attempt("kernel", "swapoff", sub { my $r = sys("swapoff", my $p = "/nowhere"); $!{EPERM} || $!{ENOSYS} ? refused() : done("$!") });
attempt("kernel", "kexec", sub { my $r = sys("kexec_load", 0, 17, 0, 0); $!{EPERM} || $!{ENOSYS} ? refused() : done("$!") });
attempt("kernel", "accounting", sub { my $r = sys("acct", my $p = "/nowhere/at/all"); $!{EPERM} || $!{ENOSYS} ? refused() : done("$!") });
attempt("kernel", "ports of the machine", sub { did("ioperm", 0x80, 1, 0) });
attempt("kernel", "privilege of ports", sub { did("iopl", 3) });
attempt("kernel", "bpf", sub { my $a = pack("LLLL", 2, 4, 8, 1) . "\0" x 112; did("bpf", 0, $a, 128) });
attempt("kernel", "perf of everything", sub { my $a = pack("LLQ", 1, 112, 0) . "\0" x 96; did("perf_event_open", $a, -1, 0, -1, 0) });
attempt("kernel", "perf of the gateway", sub { my $a = pack("LLQ", 1, 112, 0) . "\0" x 96; did("perf_event_open", $a, $pid + 0, -1, -1, 0) });
attempt("kernel", "userfaultfd", sub { did("userfaultfd", 0) });
attempt("kernel", "io_uring", sub { my $p = "\0" x 120; did("io_uring_setup", 4, $p) });
attempt("kernel", "fanotify that decides", sub { did("fanotify_init", 4, 0) });

# --- devices -----------------------------------------------------------------------------------------------------------------------
attempt("devices", "open $_", do { my $name = $_; sub { sysopen(my $fd, $name, O_RDWR | O_NONBLOCK | O_NOCTTY) ? done() : refused() } })
    for (qw(/dev/mem /dev/port /dev/kvm /dev/fuse /dev/net/tun /dev/loop-control /dev/loop0 /dev/uinput /dev/hpet /dev/vhost-net /dev/vsock /dev/cuse /dev/console /dev/tty0 /dev/btrfs-control /dev/mapper/control), $f{disk});
attempt("devices", "the owner's terminal", sub { sysopen(my $fd, $f{pts}, O_RDWR | O_NONBLOCK | O_NOCTTY) ? done() : refused() });
attempt("devices", "type into the owner's terminal", sub { sysopen(my $fd, $f{pts}, O_RDWR | O_NONBLOCK | O_NOCTTY) or return refused(); my $c = "x"; ioctl($fd, 0x5412, $c) ? done() : refused() });
attempt("devices", "a device of its own: memory", sub { mknod_open(S_IFCHR, 1, 1) });
attempt("devices", "a device of its own: the disk", sub { my ($major, $minor) = split /:/, $f{diskno}; mknod_open(S_IFBLK, $major, $minor) });
sub mknod_open {
    my ($type, $major, $minor) = @_;
    my $path = "$ws/device";
    unlink $path;
    sys("mknodat", -100, $path, $type | 0600, ($major << 8) | $minor) == 0 or return refused();
    my $r = sysopen(my $fd, $path, O_RDONLY) ? done() : refused();
    unlink $path;
    return $r;
}

# --- signals and other ways to a process -------------------------------------------------------------------------------------------
my $p = $pid + 0;
attempt("processes", "signal", sub { kill(0, $p) ? done() : refused() });
attempt("processes", "signal to its group", sub { kill(0, -$f{group}) ? done() : refused() });
attempt("processes", "SIGURG, which it ignores", sub { kill("URG", $p) ? done() : refused() });
attempt("processes", "tgkill", sub { did("tgkill", $p, $p, 0) });
attempt("processes", "a queued signal", sub { my $i = pack("lll", 0, 0, -1) . "\0" x 116; did("rt_sigqueueinfo", $p, 0, $i) });
attempt("processes", "a queued signal to its thread", sub { my $i = pack("lll", 0, 0, -1) . "\0" x 116; did("rt_tgsigqueueinfo", $p, $p, 0, $i) });
attempt("processes", "pidfd", sub { did("pidfd_open", $p, 0) });
attempt("processes", "a signal by pidfd", sub { my $d = sys("pidfd_open", $p, 0); return refused() if $d < 0; did("pidfd_send_signal", $d, 0, 0, 0) });
attempt("processes", "a descriptor by pidfd", sub { my $d = sys("pidfd_open", $p, 0); return refused() if $d < 0; my $fd = sys("pidfd_getfd", $d, $f{held} + 0, 0); return refused() if $fd < 0; open(my $file, "<&=", $fd) or return refused(); sysseek($file, 0, 0); my $data = ""; sysread($file, $data, 1000); ["R", $data] });
attempt("processes", "ptrace seize", sub { did("ptrace", 0x4206, $p, 0, 0) });
attempt("processes", "ptrace attach to process 1", sub { my $r = sys("ptrace", 0x4206, 1, 0, 0); $r < 0 ? refused() : ["R", "process 1 is the wall's own"] });
attempt("processes", "read its memory by process_vm_readv", sub {
    my $maps = slurp("/proc/$p/maps") // return refused();
    no warnings "portable";
    my ($from, $to) = map { hex } ($maps =~ /^([0-9a-f]+)-([0-9a-f]+) rw.*\[heap\]/m) or return refused("no heap");
    my $length = $to - $from;
    my $buffer = "\0" x $length;
    my $local = pack("QQ", address($buffer), $length);
    my $remote = pack("QQ", $from, $length);
    sys("process_vm_readv", $p, $local, 1, $remote, 1, 0) < 0 and return refused();
    my @texts = $buffer =~ /(secret-[0-9a-f]+)/g;
    return ["R", "@texts"];
});
attempt("processes", "its limits", sub { my $b = "\0" x 16; did("prlimit64", $p, 7, 0, $b) });
attempt("processes", "its affinity", sub { my $b = "\0" x 128; did("sched_getaffinity", $p, 128, $b) });
attempt("processes", "its scheduling", sub { my $b = "\0" x 56; did("sched_getattr", $p, $b, 56, 0) });
attempt("processes", "its priority", sub { did("getpriority", 0, $p) });
attempt("processes", "its priority of input and output", sub { did("ioprio_get", 1, $p) });
attempt("processes", "its session", sub { did("getsid", $p) });
attempt("processes", "its group", sub { did("getpgid", $p) });
attempt("processes", "its capabilities", sub { my $h = pack("Ll", 0x20080522, $p); my $d = "\0" x 24; did("capget", $h, $d) });
attempt("processes", "its robust list", sub { my ($h, $l) = ("\0" x 8, "\0" x 8); did("get_robust_list", $p, $h, $l) });
attempt("processes", "compare its files", sub { did("kcmp", $p, $p, 2, 0, 0) });
attempt("processes", "move its pages", sub { did("move_pages", $p, 0, 0, 0, 0, 0) });
attempt("processes", "setuid to its user", sub { POSIX::setuid($f{otheruid}) ; $> == $f{otheruid} && $< == $f{otheruid} ? done() : refused() });
attempt("processes", "a setuid program", sub { rd_by("$f{suid}") });
attempt("processes", "a program with file capabilities", sub { rd_by("$f{fcap}") });
attempt("processes", "sudo", sub { -x "/usr/bin/sudo" or return cannot("not installed"); ["R", scalar `sudo -n cat '$f{rootonly}' 2>/dev/null`] });
attempt("processes", "chown to another user", sub { open(my $n, ">", "$ws/chowned") or return refused(); my $r = chown($f{otheruid}, -1, "$ws/chowned") ? done() : refused(); unlink "$ws/chowned"; $r });
sub rd_by { my ($program) = @_; -x $program or return cannot("not there"); my $out = `'$program' '$f{rootonly}' 2>/dev/null`; ["R", $out] }

# --- System V, POSIX, keyrings -----------------------------------------------------------------------------------------------------
attempt("ipc", "System V memory by key", sub { my $id = shmget($f{sysvkey} + 0, 0, 0); return refused() unless defined $id; my $b = ""; shmread($id, $b, 0, 256) ? ["R", $b] : refused() });
attempt("ipc", "System V memory by number", sub { my $b = ""; shmread($f{shmid} + 0, $b, 0, 256) ? ["R", $b] : refused() });
attempt("ipc", "System V queue by key", sub { defined msgget($f{sysvkey} + 0, 0) ? done() : refused() });
attempt("ipc", "System V queue by number", sub { my $b = ""; msgctl($f{msgid} + 0, 2, $b) ? done() : refused() });
attempt("ipc", "POSIX memory", sub { rd($f{posixshm}) });
attempt("ipc", "every POSIX memory", sub { all_of(grep { -f } glob "/dev/shm/*") });
attempt("ipc", "POSIX queue", sub { did("mq_open", my $n = $f{mqueue}, O_RDONLY | O_NONBLOCK, 0, 0) });
attempt("ipc", "POSIX queue as a file", sub { rd("/dev/mqueue/$f{mqueue}") });
attempt("ipc", "the user's keyring by name", sub { my $id = sys("keyctl", 10, -4, my $t = "user", my $n = $f{keyname}, 0); return refused() if $id < 0; my $b = "\0" x 256; sys("keyctl", 11, $id, $b, 256) < 0 ? refused() : ["R", $b] });
attempt("ipc", "a key by number", sub { return cannot("no key") if $f{keyid} <= 0; my $b = "\0" x 256; sys("keyctl", 11, $f{keyid} + 0, $b, 256) < 0 ? refused() : ["R", $b] });
attempt("ipc", "the session's keyring", sub { my $id = sys("keyctl", 10, -3, my $t = "user", my $n = $f{keyname}, 0); return refused() if $id < 0; my $b = "\0" x 256; sys("keyctl", 11, $id, $b, 256) < 0 ? refused() : ["R", $b] });
attempt("ipc", "ask for the key", sub { my $id = sys("request_key", my $t = "user", my $n = $f{keyname}, 0, 0); return refused() if $id < 0; my $b = "\0" x 256; sys("keyctl", 11, $id, $b, 256) < 0 ? refused() : ["R", $b] });
attempt("ipc", "plant a key", sub { my $id = sys("add_key", my $t = "user", my $n = "keryx-planted", my $d = "x", 1, -4); return refused() if $id < 0; sys("keyctl", 9, $id, -4); done() });

# --- sockets -----------------------------------------------------------------------------------------------------------------------
sub unix_stream {
    my ($name) = @_;
    socket(my $s, AF_UNIX, SOCK_STREAM, 0) or return refused();
    connect($s, pack_sockaddr_un($name)) or return refused();
    my $data = "";
    sysread($s, $data, 1000);
    return ["R", $data];
}
attempt("sockets", "the home's", sub { unix_stream($f{sockhome}) });
attempt("sockets", "the home's, by /proc/self/root", sub { unix_stream("/proc/self/root$f{sockhome}") });
attempt("sockets", "the home's, by another mount", sub { unix_stream("$f{alias}/.local/share/keryx/keryx.sock") });
attempt("sockets", "the home's, by a link", sub { unix_stream("$ws/old-home-link/keryx.sock") });
attempt("sockets", "the home's, by a relative path", sub { chdir $home or return refused(); unix_stream("keryx.sock") });
attempt("sockets", "one of the same user elsewhere", sub { unix_stream($f{sockelse}) });
attempt("sockets", "an abstract one", sub { unix_stream("\0$f{abstract}") });
attempt("sockets", "a datagram", sub { socket(my $s, AF_UNIX, SOCK_DGRAM, 0) or return refused(); send($s, "x", 0, pack_sockaddr_un($f{datagram})) ? done() : refused() });
for my $kind ([SOCK_DGRAM, "datagrams"], [SOCK_RAW, "raw"], [SOCK_STREAM, "streams"], [5, "packets"]) {
    attempt("sockets", "half of a pair of $kind->[1], sent elsewhere", sub { socketpair(my $a, my $b, AF_UNIX, $kind->[0], 0) or return refused(); send($a, "x", 0, pack_sockaddr_un($f{datagram})) ? do { $kind->[0] == SOCK_DGRAM || $kind->[0] == SOCK_RAW ? done() : refused("it stays a pair") } : refused() });
    attempt("sockets", "half of a pair of $kind->[1], connected elsewhere", sub { socketpair(my $a, my $b, AF_UNIX, $kind->[0], 0) or return refused(); connect($a, pack_sockaddr_un($kind->[0] == SOCK_STREAM || $kind->[0] == 5 ? $f{sockelse} : $f{datagram})) ? done() : refused() });
}
attempt("sockets", "by the second set of calls (x32)", sub { $x64 or return cannot(); my $fd = syscall(0x40000000 | 41, AF_UNIX, SOCK_STREAM, 0); $fd < 0 ? refused() : done() });
attempt("sockets", "by calls of 32 bits", sub { $x64 or return cannot(); i386("socket") });
attempt("sockets", "sniff the loopback", sub { socket(my $s, 17, SOCK_RAW, 0x300) ? done() : refused() });
attempt("sockets", "raw packets", sub { socket(my $s, AF_INET, SOCK_RAW, 6) ? done() : refused() });
attempt("sockets", "vsock", sub { socket(my $s, 40, SOCK_STREAM, 0) or return refused(); done() });
attempt("sockets", "the audit's netlink", sub { socket(my $s, 16, SOCK_RAW, 9) or return refused(); bind($s, pack("SSLL", 16, 0, 0, 1)) ? done() : refused() });
sub i386 {
    my $code = pack("H*", "b866000000bb01000000b9") . pack("L", 0x08048074) . pack("H*", "cd80c1e81f89c3b801000000cd80");
    my $args = pack("LLL", AF_UNIX, SOCK_STREAM, 0);
    my $header = pack("a4CCCx9SSLLLLLSSSSSS", "\x7fELF", 1, 1, 1, 2, 3, 1, 0x08048080, 52, 0, 0, 52, 32, 1, 0, 0, 0);
    my $program = pack("LLLLLLLL", 1, 0, 0x08048000, 0x08048000, 0x80 + length $code, 0x80 + length $code, 5, 0x1000);
    my $image = $header . $program;
    $image .= "\0" x (0x74 - length $image);
    $image .= $args . $code;
    open(my $file, ">", "$ws/i386") or return refused();
    binmode $file; print $file $image; close $file; chmod 0755, "$ws/i386";
    my $status = system("$ws/i386");
    unlink "$ws/i386";
    return $status == 0 ? done() : refused("status $status");
}

# --- ports -------------------------------------------------------------------------------------------------------------------------
sub http {
    my ($host, $target, @headers) = @_;
    my $s;
    if ($host =~ /:/) {
        socket($s, AF_INET6, SOCK_STREAM, IPPROTO_TCP) or return refused();
        connect($s, pack_sockaddr_in6($port, inet_pton(AF_INET6, $host))) or return refused();
    } else {
        socket($s, AF_INET, SOCK_STREAM, IPPROTO_TCP) or return refused();
        my $address = inet_aton($host) or return refused("no such host");
        connect($s, pack_sockaddr_in($port, $address)) or return refused();
    }
    my $method = $target =~ s/^([A-Z]+) // ? $1 : "GET";
    syswrite $s, join("\r\n", "$method $target HTTP/1.1", "Host: localhost:$port", @headers, "", "");
    my $answer = "";
    while (sysread($s, $answer, 4096, length $answer)) { last if length $answer > 100_000 }
    my ($status, $body) = $answer =~ m{^HTTP/1\.1 (\d+).*?\r\n\r\n(.*)}s;
    return ["H", ($status // 0) . " $target " . ($body // "")];
}
attempt("ports", "/health", sub { http("127.0.0.1", "/health") });
attempt("ports", "the page", sub { http("127.0.0.1", "/") });
attempt("ports", "$_ without a token", do { my $t = $_; sub { http("127.0.0.1", $t) } })
    for ("/api/sessions", "/api/confirmations", "POST /api/confirmations/1/approve", "POST /api/tokens", "/v1/models", "/metrics", "/events", "//api/sessions", "/health/../api/sessions", "/%61pi/sessions", "/health%2f..%2fapi", "/health;/api", "/HEALTH/..", "http://localhost/api/sessions", "/?token=", "*");
attempt("ports", "a guessed token", sub { http("127.0.0.1", "/api/sessions", "Authorization: Bearer secret") });
attempt("ports", "an empty token", sub { http("127.0.0.1", "/api/sessions", "Authorization: Bearer ") });
attempt("ports", "said to be local", sub { http("127.0.0.1", "/api/sessions", "X-Forwarded-For: 127.0.0.1", "X-Real-IP: 127.0.0.1") });
attempt("ports", "by $_", do { my $h = $_; sub { http($h, "/api/sessions") } }) for ("localhost", "0.0.0.0", "127.0.0.2", "::1", "::ffff:127.0.0.1", "2130706433", $f{address} || "127.0.0.1");
sub listens {
    my ($host, %options) = @_;
    my $s;
    if ($host =~ /:/) {
        socket($s, AF_INET6, SOCK_STREAM, IPPROTO_TCP) or return refused();
        setsockopt($s, IPPROTO_IPV6, IPV6_V6ONLY, 1);
        setsockopt($s, SOL_SOCKET, $_, 1) for @{ $options{set} || [] };
        bind($s, pack_sockaddr_in6($port, inet_pton(AF_INET6, $host))) or return refused();
    } else {
        socket($s, AF_INET, SOCK_STREAM, IPPROTO_TCP) or return refused();
        setsockopt($s, SOL_SOCKET, $_, 1) for @{ $options{set} || [] };
        bind($s, pack_sockaddr_in($port, inet_aton($host))) or return refused();
    }
    listen($s, 1) or return refused();
    # In a network of its own nobody comes by.
    return $f{network} ne "host" ? refused("nobody is there to hear") : done("listens");
}
attempt("ports", "listen on $_", do { my $h = $_; sub { listens($h) } }) for ("127.0.0.1", "0.0.0.0", "::1", "::");
attempt("ports", "listen on $_, shared", do { my $h = $_; sub { listens($h, set => [SO_REUSEADDR, SO_REUSEPORT]) } }) for ("127.0.0.1", "0.0.0.0", "::1");

# --- what was left open ------------------------------------------------------------------------------------------------------------
attempt("inherited", "its environment", sub { ["R", join "\0", map { "$_=$ENV{$_}" } keys %ENV] });
attempt("inherited", "/proc/self/environ", sub { rd("/proc/self/environ") });
attempt("inherited", "its parent's environment", sub { rd("/proc/" . getppid() . "/environ") });
attempt("inherited", "descriptors, read", sub { my $data = ""; for my $fd (3 .. 300) { open(my $file, "<&=", $fd) or next; -f $file or next; sysseek($file, 0, 0); sysread($file, $data, 1000, length $data); } ["R", $data] });
attempt("inherited", "descriptors, as folders", sub { all_of(map { "/proc/self/fd/$_/operator.secret" } 3 .. 300) });
attempt("inherited", "descriptors, as sockets", sub { my @found = grep { my $l = readlink "/proc/self/fd/$_"; defined $l && $l =~ /^socket:/ } 3 .. 300; @found ? done("@found") : refused("none") });
attempt("inherited", "the folder behind its output", sub { all_of(map { "/proc/self/fd/$_/../operator.secret" } 0 .. 2) });
attempt("inherited", "its arguments and those of its parents", sub { all_of("/proc/self/cmdline", "/proc/" . getppid() . "/cmdline", "/proc/1/cmdline") });

# --- mounts: behind walls alone ----------------------------------------------------------------------------------------------------
my $m = "$ws/mount-point";
sub then_read { my ($ok, @paths) = @_; return refused() unless $ok; return all_of(@paths ? @paths : $secret) }
my %mounts = (
    "umount the home" => sub { then_read(sys("umount2", my $x = $home, 0) == 0) },
    "umount it lazily" => sub { then_read(sys("umount2", my $x = $home, 2) == 0) },
    "umount it by force" => sub { then_read(sys("umount2", my $x = $home, 1) == 0) },
    "umount without following" => sub { then_read(sys("umount2", my $x = $home, 8) == 0) },
    "umount a folder above" => sub { then_read(sys("umount2", my $x = "/proc", 2) == 0) },
    "umount with the program" => sub { then_read(system("umount '$home' 2>/dev/null") == 0) },
    "bind the user's folder" => sub { then_read(sys("mount", my $x = $user, my $y = $m, 0, $MS_BIND, 0) == 0, "$m/.local/share/keryx/operator.secret") },
    "bind everything with what is below" => sub { then_read(sys("mount", my $x = "/", my $y = $m, 0, $MS_BIND | $MS_REC, 0) == 0, "$m$secret") },
    "bind everything without what is below" => sub { then_read(sys("mount", my $x = "/", my $y = $m, 0, $MS_BIND, 0) == 0, "$m$secret") },
    "move the cover away" => sub { then_read(sys("mount", my $x = $home, my $y = $m, 0, $MS_MOVE, 0) == 0) },
    "remount the cover" => sub { did("mount", 0, my $y = $home, 0, $MS_REMOUNT | $MS_BIND, 0) },
    "remount /proc/sys" => sub { did("mount", 0, my $y = "/proc/sys", 0, $MS_REMOUNT | $MS_BIND, 0) },
    "remount the root" => sub { did("mount", 0, my $y = "/", 0, $MS_REMOUNT | $MS_BIND, 0) },
    "another procfs" => sub { then_read(sys("mount", my $x = "proc", my $y = $m, my $t = "proc", 0, 0) == 0, "$m/$pid/environ") },
    "another sysfs" => sub { did("mount", my $x = "sysfs", my $y = $m, my $t = "sysfs", 0, 0) },
    "all devices" => sub { did("mount", my $x = "dev", my $y = $m, my $t = "devtmpfs", 0, 0) },
    "all terminals" => sub { did("mount", my $x = "devpts", my $y = $m, my $t = "devpts", 0, 0) },
    "the disk again" => sub { then_read(sys("mount", my $x = $f{disk}, my $y = $m, my $t = "ext4", $MS_RDONLY, 0) == 0, "$m$secret") },
    "an overlay over everything" => sub { my $o = "lowerdir=/,upperdir=$ws/u,workdir=$ws/w"; then_read(sys("mount", my $x = "overlay", my $y = $m, my $t = "overlay", 0, $o) == 0, "$m$secret") },
    "cgroups" => sub { did("mount", my $x = "c", my $y = $m, my $t = "cgroup2", 0, 0) },
    "security files" => sub { did("mount", my $x = "s", my $y = $m, my $t = "securityfs", 0, 0) },
    "an empty folder over the workspace" => sub { did("mount", my $x = "t", my $y = $m, my $t = "tmpfs", 0, 0) },
    "open_tree, cloned" => sub { my $fd = sys("open_tree", -100, my $x = "/", 1); return refused() if $fd < 0; then_read(1, "/proc/self/fd/$fd$secret") },
    "open_tree, cloned with all below" => sub { my $fd = sys("open_tree", -100, my $x = "/", 0x8001); return refused() if $fd < 0; then_read(1, "/proc/self/fd/$fd$secret") },
    "open_tree with attributes" => sub { my $a = "\0" x 32; did("open_tree_attr", -100, my $x = "/", 1, $a, 32) },
    "move_mount" => sub { did("move_mount", -100, my $x = $home, -100, my $y = $m, 0) },
    "fsopen" => sub { did("fsopen", my $t = "proc", 0) },
    "fspick" => sub { did("fspick", -100, my $x = "/", 0) },
    "mount_setattr" => sub { my $a = pack("QQQQ", 0, 1, 0, 0); did("mount_setattr", -100, my $x = $home, 0, $a, 32) },
    "pivot_root" => sub { did("pivot_root", my $x = $ws, my $y = "$ws/mount-point") },
    "chroot" => sub { chroot($ws) ? done() : refused() },
    "out of a chroot" => sub { mkdir "$ws/jail"; chroot("$ws/jail") or return refused(); chdir ".." for 1 .. 64; chroot "."; rd($secret) },
    "setns to process 1's mounts" => sub { open(my $n, "<", "/proc/1/ns/mnt") or return refused(); then_read(sys("setns", fileno($n), 0) == 0) },
    "setns to the gateway's mounts" => sub { open(my $n, "<", "/proc/$pid/ns/mnt") or return refused(); then_read(sys("setns", fileno($n), 0) == 0) },
    "setns by pidfd" => sub { my $fd = sys("pidfd_open", 1, 0); return refused() if $fd < 0; did("setns", $fd, $NEWNS) },
    "the namespace above, by ioctl" => sub { open(my $n, "<", "/proc/self/ns/pid") or return refused(); my $fd = ioctl($n, 0xb702, 0); defined $fd ? done() : refused() },
    "the user namespace above, by ioctl" => sub { open(my $n, "<", "/proc/self/ns/user") or return refused(); my $fd = ioctl($n, 0xb702, 0); defined $fd ? done() : refused() },
    "nsenter" => sub { ["R", scalar `nsenter -t 1 -m cat '$secret' 2>/dev/null`] },
    "mount with the program" => sub { then_read(system("mount --bind '$user' '$m' 2>/dev/null") == 0, "$m/.local/share/keryx/operator.secret") },
    "mount by the second set of calls (x32)" => sub { $x64 or return cannot(); my ($x, $y) = ($user, $m); syscall(0x40000000 | 165, $x, $y, 0, $MS_BIND, 0) == 0 ? done() : refused() },
);
attempt("mounts", $_, $mounts{$_}, control => 0) for sort keys %mounts;

# --- namespaces inside -------------------------------------------------------------------------------------------------------------
attempt("namespaces", "a user namespace by unshare", sub { did("unshare", $NEWUSER) });
attempt("namespaces", "a user namespace by clone", sub { my $r = sys("clone", $NEWUSER | 17, 0, 0, 0, 0); if ($r == 0) { POSIX::_exit(0) } return refused() if $r < 0; waitpid $r, 0; done() });
attempt("namespaces", "a user namespace by clone3", sub { my $a = pack("Q11", $NEWUSER, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0); my $r = sys("clone3", $a, 88); if ($r == 0) { POSIX::_exit(0) } return refused() if $r < 0; waitpid $r, 0; done() });
attempt("namespaces", "a user namespace by the program", sub { system("unshare -r true 2>/dev/null") == 0 ? done() : refused() });
attempt("namespaces", "another wall inside", sub { system("bwrap --unshare-user --bind / / true 2>/dev/null") == 0 ? done() : refused() });
attempt("namespaces", "mounts of its own", sub { did("unshare", $NEWNS) }, control => 0);
attempt("namespaces", "$_->[0] of its own", do { my $flag = $_->[1]; sub { did("unshare", $flag) } }, control => 0)
    for ["names", $NEWUTS], ["queues", $NEWIPC], ["processes", $NEWPID], ["network", $NEWNET], ["cgroups", $NEWCGROUP], ["clocks", $NEWTIME];
sub nested { my ($code) = @_; return sub { sys("unshare", $NEWUSER | $NEWNS) == 0 or return refused(); if (open(my $map, ">", "/proc/self/uid_map")) { print $map "0 $< 1\n"; close $map } return $code->() } }
attempt("namespaces", "nested: $_", nested($mounts{$_}), control => 0) for ("umount the home", "umount it lazily", "bind everything with what is below", "move the cover away", "another procfs", "another sysfs", "an overlay over everything", "open_tree, cloned", "pivot_root", "out of a chroot", "remount the cover", "remount /proc/sys");
attempt("namespaces", "nested: rename a folder above through a kept descriptor", nested(sub { opendir(my $d, $user) or return refused(); sys("mount", my $t = "tmpfs", my $x = $ws, my $y = "tmpfs", 0, 0) == 0 or return refused(); my ($a, $b) = (".local", ".moved"); my $r = sys("renameat2", fileno($d), $a, fileno($d), $b, 0); return refused() if $r < 0; sys("renameat2", fileno($d), $b, fileno($d), $a, 0); done() }), control => 0);

# --- core files --------------------------------------------------------------------------------------------------------------------
attempt("cores", "a core file in the home", sub { chdir $home or return refused(); crash(); my @found = glob "$home/core*"; unlink @found; @found ? done() : refused("none") });
attempt("cores", "a core file over the configuration", sub { symlink("$home/config.yaml", "$ws/core"); chdir $ws; my $before = -s "$home/config.yaml"; crash(); unlink "$ws/core"; my $after = -s "$home/config.yaml"; defined $after && $after != ($before // -1) ? done() : refused("none") });
sub crash { my $child = fork(); if ($child == 0) { my $l = pack("QQ", 1 << 20, 1 << 20); sys("prlimit64", 0, 4, $l, 0); kill "SEGV", $$; sleep 1; POSIX::_exit(0) } waitpid $child, 0 }

# --- one after another, each in a process of its own -------------------------------------------------------------------------------
$| = 1;
mkdir $m;
for my $one (@attempts) {
    next if $is_control && exists $one->{control} && !$one->{control};
    pipe(my $reader, my $writer) or die "pipe: $!";
    my $child = fork() // die "fork: $!";
    if ($child == 0) {
        close $reader;
        $SIG{ALRM} = sub { syswrite $writer, "-\ttimed out"; POSIX::_exit(0) };
        alarm 10;
        open(STDERR, ">", "/dev/null");
        my $result = eval { $one->{code}->() } // ["-", "died: " . ($@ || "nothing answered")];
        my ($verdict, $text) = @$result;
        $text //= "";
        $text =~ s/[^\x20-\x7e]/ /g;
        # What was read may be long; only the part around what matters is told.
        my @secrets = $text =~ /(secret-[0-9a-f]+|marker-[0-9a-f]+)/g;
        $text = join " ", substr($text, 0, 120), @secrets[0 .. ($#secrets > 3 ? 3 : $#secrets)];
        syswrite $writer, "$verdict\t$text";
        POSIX::_exit(0);
    }
    close $writer;
    my $line = join "", <$reader>;
    waitpid $child, 0;
    $line = "-\tended with " . ($? & 127 ? "signal " . ($? & 127) : "code " . ($? >> 8)) if $line eq "";
    print "$one->{group}\t$one->{name}\t$line\n";
}
rmdir $m;
print "end\n";
