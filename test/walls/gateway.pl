# Stands in for Keryx: a program with a secret in its memory, its environment, an open file, its sockets, shared memory, queues and
# keyrings. It answers /health and / to everybody, and everything else with 401. `gateway.pl <home> <user's folder> <marker>`
use strict;
use warnings;
use Config;
use IO::Select;
use IO::Socket::INET;
use IO::Socket::UNIX;
use POSIX ();
use Socket qw(:DEFAULT IPPROTO_TCP IPPROTO_IPV6 IPV6_V6ONLY inet_pton pack_sockaddr_in6 SO_REUSEADDR);

my ($home, $user, $marker) = @ARGV;
my $secret = $ENV{KERYX_SECRET};
my ($hex) = $marker =~ /([0-9a-f]+)$/;
my $x64 = $Config{archname} =~ /x86_64/;
my %nr = $x64
    ? (add_key => 248, keyctl => 250, mq_open => 240, mq_unlink => 241, mq_timedsend => 242, name_to_handle_at => 303)
    : (add_key => 217, keyctl => 219, mq_open => 180, mq_unlink => 181, mq_timedsend => 182, name_to_handle_at => 264);

open(my $held, "<", "$home/operator.secret") or die "secret: $!";
my @servers;
my $tcp = IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 16, ReuseAddr => 1) or die "tcp: $!";
my $port = $tcp->sockport;
push @servers, $tcp;
# As Keryx does: whoever asks for localhost must not get somebody else.
if (socket(my $six, AF_INET6, SOCK_STREAM, IPPROTO_TCP)) {
    setsockopt($six, IPPROTO_IPV6, IPV6_V6ONLY, 1);
    if (bind($six, pack_sockaddr_in6($port, inet_pton(AF_INET6, "::1"))) && listen($six, 16)) { push @servers, $six }
}
my %unix = (home => "$home/keryx.sock", elsewhere => "$user/agent.sock");
for my $path (values %unix) { push @servers, IO::Socket::UNIX->new(Local => $path, Listen => 16) || die "unix: $!" }
my $abstract = "keryx-$hex";
push @servers, IO::Socket::UNIX->new(Local => "\0$abstract", Listen => 16) || die "abstract: $!";
my $datagrams = IO::Socket::UNIX->new(Local => "$user/datagram.sock", Type => SOCK_DGRAM) or die "datagram: $!";
my $got = "$user/datagram.got";

my ($shm, $msg) = (-1, -1);
my $key = hex(substr($hex, 0, 7)) | 1;
if (defined($shm = shmget($key, 256, 0600 | 01000))) { shmwrite($shm, $secret, 0, length $secret) }
if (defined($msg = msgget($key, 0600 | 01000))) { msgsnd($msg, pack("l! a*", 1, $secret), 04000) }
my $posix = "/dev/shm/keryx-$hex";
if (open(my $file, ">", $posix)) { print $file $secret; close $file }
my $queue = "keryx-$hex";
my $attributes = pack("l!8", 0, 10, 256, 0, 0, 0, 0, 0);
my $mq = syscall($nr{mq_open}, $queue, 0102, 0600, $attributes);
if ($mq >= 0) { syscall($nr{mq_timedsend}, $mq, $secret, length $secret, 0, 0) }
my $type = "user";
my $keyname = "keryx:$hex";
my @keys = map { syscall($nr{add_key}, $type, $keyname, $secret, length $secret, $_) } (-4, -3);

my $handle = pack("LlC128", 128, 0);
my $path = "$home/operator.secret";
my $mount = pack("l", 0);
my $known = syscall($nr{name_to_handle_at}, -100, $path, $handle, $mount, 0) == 0;

$SIG{TERM} = sub {
    shmctl($shm, 0, 0) if defined $shm;
    msgctl($msg, 0, 0) if defined $msg;
    unlink $posix;
    syscall($nr{mq_unlink}, $queue);
    syscall($nr{keyctl}, 9, $keys[0], -4) if $keys[0] > 0;
    syscall($nr{keyctl}, 9, $keys[1], -3) if $keys[1] > 0;
    exit 0;
};

my %told = (
    pid => $$,
    group => getpgrp(),
    port => $port,
    held => fileno($held),
    abstract => $abstract,
    sockhome => $unix{home},
    sockelse => $unix{elsewhere},
    datagram => "$user/datagram.sock",
    datagramgot => $got,
    sysvkey => $key,
    shmid => $shm // -1,
    msgid => $msg // -1,
    posixshm => $posix,
    mqueue => $queue,
    keyname => $keyname,
    keyid => $keys[0],
    handle => $known ? unpack("H*", $handle) : "",
);
$| = 1;
print join("", map { "$_\t$told{$_}\n" } sort keys %told), "ready\n";

my $select = IO::Select->new(@servers, $datagrams);
while (1) {
    for my $server ($select->can_read) {
        if ($server == $datagrams) {
            recv($datagrams, my $data, 1024, 0);
            if (open(my $file, ">", $got)) { print $file $data; close $file }
            next;
        }
        accept(my $client, $server) or next;
        serve($client, $server);
        close $client;
    }
}

sub serve {
    my ($client, $server) = @_;
    my $select = IO::Select->new($client);
    my $is_http = grep { $_ == $server } @servers[0 .. ($#servers - 3)];
    if (!$is_http) { syswrite $client, $secret; return }
    my $request = "";
    while ($request !~ /\r\n\r\n/ && $select->can_read(1)) {
        sysread($client, $request, 4096, length $request) or last;
    }
    my ($target) = $request =~ m{^GET (\S+) };
    my $body = "401 who are you";
    my $status = "401 Unauthorized";
    if (defined $target && $target eq "/health") { ($status, $body) = ("200 OK", "ok") }
    elsif (defined $target && $target eq "/") { ($status, $body) = ("200 OK", "<title>Keryx</title>") }
    elsif ($request =~ /^Authorization: Bearer \Q$secret\E\r$/m) { ($status, $body) = ("200 OK", $secret) }
    syswrite $client, "HTTP/1.1 $status\r\ncontent-length: " . length($body) . "\r\nconnection: close\r\n\r\n$body";
}
