#!/usr/bin/perl
# SPDX-License-Identifier: LGPL-2.1-or-later
# A hook script for guests of Proxmox VE: before a guest starts, looks whether a device that is
# passed through to it, or the storage that its disks live on, has a finding of pnhw. It warns in the
# task's log, or refuses the start.
#
#   cp /usr/share/doc/pnhw/examples/pnhw-guest-hook.pl /var/lib/vz/snippets/
#   chmod +x /var/lib/vz/snippets/pnhw-guest-hook.pl
#   qm set 100 --hookscript local:snippets/pnhw-guest-hook.pl      (a container: pct set 100 …)
#
# From which severity on, /etc/default/pnhw-guest-hook says; these are the defaults:
#
#   WARN=warning           notice, warning, critical, or never
#   REFUSE=critical        the same
#
# A finding that was accepted (pnhwctl accept) does not count. A daemon that does not run or does not
# answer, and a file that cannot be read, stop no guest: there is a warning, no more.
#
# The hook knows no serial number and no name of a kind of finding: it compares the addresses, names
# of devices and what they affect, as the daemon gives them, with the guest's configuration.
use strict;
use warnings;

use IO::Socket::UNIX;
use JSON::PP;

my $PVE = $ENV{PNHW_PVE_DIR} // '/etc/pve';
my $DEFAULTS = $ENV{PNHW_HOOK_DEFAULTS} // '/etc/default/pnhw-guest-hook';
my $MOUNTS = $ENV{PNHW_MOUNTS} // '/proc/self/mounts';
my $SOCKET = $ENV{PNHW_SOCKET} // '/run/pnhw/pnhwd.sock';
my $TIMEOUT = 5;                    # seconds for the daemon
my $ANSWER_MAX = 64 * 1024 * 1024;
my %RANK = (info => 0, notice => 1, warning => 2, critical => 3, never => 9);

sub note { print STDERR 'pnhw: ', join('', @_), "\n"; return; }

# ---- what is configured ----

sub read_lines {
    my ($file) = @_;
    open(my $in, '<', $file) or return;
    my @lines = <$in>;
    close($in);
    s/[\r\n]+\z// for @lines;
    return @lines;
}

# KEY=value of a file for a shell; the environment wins.
sub settings {
    my %set = (WARN => 'warning', REFUSE => 'critical');

    for my $line (read_lines($DEFAULTS)) {
        next unless $line =~ /^\s*(WARN|REFUSE)\s*=\s*["']?(\w+)["']?\s*(?:#.*)?$/;
        $set{$1} = lc $2;
    }
    for my $key (sort keys %set) {
        my $given = $ENV{"PNHW_HOOK_$key"};
        $set{$key} = lc $given if defined $given && $given ne '';
        next if exists $RANK{$set{$key}};
        note("$key=$set{$key} is no severity (info, notice, warning, critical, never); ",
             'critical is taken');
        $set{$key} = 'critical';
    }
    return map { $_ => $RANK{$set{$_}} } keys %set;
}

# The guest's own settings as [key, value]: what comes after the first section is of snapshots, or
# pending. Also says whether it is a container; an empty list with undef if there is no such guest.
sub guest_config {
    my ($vmid) = @_;
    my @found;

    for my $kind ('qemu-server', 'lxc') {
        my $file = "$PVE/$kind/$vmid.conf";
        next unless -e $file;
        for my $line (read_lines($file)) {
            last if $line =~ /^\[/;
            push @found, [$1, $2] if $line =~ /^([a-z][\w.]*)\s*[:=]\s*(\S.*?)\s*$/;
        }
        return ($kind, @found);
    }
    return;
}

# "0000:01:00.0" or "0000:01:00", which is all functions, whichever way it was written.
sub full_address {
    my ($text) = @_;
    return unless $text =~ /^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}):([0-9a-f]{2})(?:\.([0-7]))?$/i;
    return lc(($1 // '0000') . ":$2:$3" . (defined $4 ? ".$4" : ''));
}

sub node_name {
    my $name = $ENV{PNHW_NODE} // '';
    if ($name eq '') {
        ($name) = read_lines('/proc/sys/kernel/hostname');
        $name //= '';
    }
    $name =~ s/\..*//;
    return $name;
}

# The devices on this node that a mapping stands for, each as a list of addresses: one of them is
# passed through, and which one shows when the guest starts.
sub mapped {
    my ($name) = @_;
    my ($node, $here, @choices) = (node_name(), 0);

    for my $line (read_lines("$PVE/mapping/pci.cfg")) {
        $here = $1 eq $name if $line =~ /^(?:pci\s*:\s*)?([\w-]+)\s*:?\s*$/;
        next unless $here && $line =~ /^\s+map\s+(\S+)\s*$/;
        my %part = map { my ($k, $v) = split(/=/, $_, 2); ($k => $v // '') } split(/,/, $1);
        next if defined $part{node} && $part{node} ne $node;
        my @addresses = grep { defined } map { full_address($_) } split(/;/, $part{path} // '');
        push @choices, \@addresses if @addresses;
    }
    note("there is no device for mapping $name on node $node") unless @choices;
    return @choices;
}

# What a guest gets: a list of {what, choices}, each choice a list of addresses.
sub passed_through {
    my (@config) = @_;
    my @found;

    for my $row (@config) {
        my ($key, $value) = @$row;
        next unless $key =~ /^hostpci\d+$/;
        my ($first, @rest) = split(/,/, $value);
        my %part = map { my ($k, $v) = split(/=/, $_, 2); ($k => $v // '') }
            grep { /=/ } ($first, @rest);
        my $host = $part{host} // ($first =~ /=/ ? undef : $first);
        if (defined $part{mapping}) {
            my @choices = mapped($part{mapping});
            push @found, {what => "$key (mapping $part{mapping})", choices => \@choices} if @choices;
        } elsif (defined $host) {
            my @addresses = grep { defined } map { full_address($_) } split(/;/, $host);
            note("$key: cannot read the address $host") unless @addresses;
            push @found, {what => $key, choices => [\@addresses]} if @addresses;
        }
    }
    return @found;
}

# ---- where disks live ----

sub storages {
    my (%found, $now);

    for my $line (read_lines("$PVE/storage.cfg")) {
        if ($line =~ /^(\w+):\s*(\S+)\s*$/) {
            $now = $found{$2} = {type => $1};
        } elsif ($now && $line =~ /^\s+([\w-]+)\s+(\S.*?)\s*$/) {
            $now->{$1} = $2;
        }
    }
    return %found;
}

# The mount that a folder is in and what that is on, as the daemon calls them; and the disk.
sub place_of_path {
    my ($path) = @_;
    my ($best, $disk, @labels) = ('');

    for my $line (read_lines($MOUNTS)) {
        my ($source, $where, $type) = split(/ /, $line);
        next unless defined $type;
        $where =~ s/\\([0-7]{3})/chr(oct($1))/ge;
        next unless $where eq '/' || $path eq $where || index($path, "$where/") == 0;
        next if length($where) < length($best);
        $best = $where;
        @labels = ("mount $where");
        $disk = $source =~ m{^/dev/} ? disk_name($source) : undef;
        push @labels, 'zpool ' . ($source =~ s{/.*}{}r) if $type eq 'zfs';
        push @labels, 'volume group ' . ($1 =~ s/--/-/gr)
            if $source =~ m{^/dev/mapper/((?:[^-]|--)+)-};
        push @labels, "array $1" if $source =~ m{^/dev/(md\w+)};
    }
    return (labels => \@labels, device => $disk);
}

# The name of a disk without its partition or namespace, for /dev/… and links to it.
sub disk_name {
    my ($path) = @_;
    for (1 .. 8) {
        my $to = readlink($path) // last;
        $path = $to =~ m{^/} ? $to : ($path =~ s{[^/]*\z}{}r) . $to;
    }
    my ($name) = $path =~ m{([^/]+)\z};
    return unless defined $name;
    $name =~ s/^(nvme\d+)(?:c\d+)?n\d+(?:p\d+)?\z/$1/ or $name =~ s/^([shv]d[a-z]+)\d+\z/$1/;
    return $name;
}

sub place_of_storage {
    my ($storage) = @_;
    my $type = $storage->{type};

    return (labels => ['zpool ' . ($storage->{pool} =~ s{/.*}{}r)])
        if $type eq 'zfspool' && $storage->{pool};
    return (labels => ["volume group $storage->{vgname}"])
        if $type =~ /^lvm(?:thin)?$/ && $storage->{vgname};
    return place_of_path($storage->{path})
        if $type =~ /^(?:dir|btrfs)$/ && $storage->{path};
    return (labels => []); # over the network
}

# A list of {what, labels, device} for each disk.
sub disks {
    my ($kind, @config) = @_;
    my %storages = storages();
    my $disk = $kind eq 'lxc' ? qr/^(?:rootfs|mp\d+|dev\d+)$/
        : qr/^(?:ide|sata|scsi|virtio|efidisk|tpmstate)\d+$/;
    my @found;

    for my $row (@config) {
        my ($key, $value) = @$row;
        next unless $key =~ $disk;
        my ($volume) = split(/,/, $value);
        $volume =~ s/^(?:file|volume|path)=//;
        next if $volume eq 'none' || $value =~ /\bmedia=cdrom\b/;
        if ($volume =~ m{^/dev/}) {
            push @found, {what => "$key ($volume)", device => disk_name($volume), labels => []};
        } elsif ($volume =~ m{^/}) {
            push @found, {what => "$key ($volume)", place_of_path($volume)};
        } elsif ($volume =~ /^([^:]+):/ && $storages{$1}) {
            push @found, {what => "$key (storage $1)", place_of_storage($storages{$1})};
        }
    }
    return @found;
}

# ---- what is wrong ----

sub findings {
    my $answer = '';
    my $call = encode_json({method => 'io.pnhw.Hardware.ListFindings',
                            parameters => {min_severity => 'info', include_accepted => JSON::PP::false}});

    eval {
        local $SIG{ALRM} = sub { die "no answer within $TIMEOUT seconds\n" };
        local $SIG{PIPE} = 'IGNORE';
        alarm($TIMEOUT);
        my $socket = IO::Socket::UNIX->new(Type => SOCK_STREAM, Peer => $SOCKET)
            or die "cannot connect to $SOCKET: $!\n";
        $socket->syswrite("$call\0") or die "$!\n";
        while (index($answer, "\0") < 0) {
            my $n = $socket->sysread($answer, 65536, length($answer));
            die "the answer ended too early\n" unless $n;
            die "the answer is too long\n" if length($answer) > $ANSWER_MAX;
        }
        alarm(0);
        1;
    } or do {
        my $why = $@;
        alarm(0);
        die $why;
    };
    $answer =~ s/\0.*//s;
    my $reply = decode_json($answer);
    die "the answer makes no sense\n" unless ref $reply eq 'HASH';
    die 'the daemon says ' . clean($reply->{error}) . "\n" if $reply->{error};
    my $findings = ref $reply->{parameters} eq 'HASH' ? $reply->{parameters}{findings} : undef;
    die "the answer makes no sense\n" unless ref $findings eq 'ARRAY';
    for my $finding (@$findings) {
        die "the answer makes no sense\n"
            if ref $finding ne 'HASH'
            || grep({ !defined $finding->{$_} || ref $finding->{$_} } qw(id code severity))
            || (defined $finding->{affects} && ref $finding->{affects} ne 'ARRAY');
    }
    return @$findings;
}

sub is_about_address {
    my ($finding, $address) = @_;
    my $at = $finding->{address} // '';

    return 1 if $at eq $address;
    # All functions; and the link of a card, which its functions share.
    my ($slot) = $address =~ /^(.*?)(?:\.\d)?\z/;
    return 1 if index($at, "$slot.") == 0 && ($slot eq $address || $finding->{code} =~ /^pcie\./);
    # A link further up names what is behind it.
    return scalar grep { $_ eq $address || index($_, "$slot.") == 0 } @{$finding->{affects} // []};
}

# The worst rank of a set of findings, -1 for none.
sub worst {
    my $worst = -1;
    for my $finding (@_) {
        my $rank = $RANK{$finding->{severity} // ''} // $RANK{critical};
        $worst = $rank if $rank > $worst;
    }
    return $worst;
}

sub about_device {
    my ($choices, @findings) = @_;
    my (@all, $least);

    for my $addresses (@$choices) {
        my @about = grep { my $f = $_; grep { is_about_address($f, $_) } @$addresses } @findings;
        my $rank = worst(@about);
        $least = $rank if !defined $least || $rank < $least;
        push @all, @about;
    }
    # Of several devices to choose from, the start is refused for none as long as one is well.
    return ($least // -1, @all);
}

sub about_disk {
    my ($disk, @findings) = @_;
    my %label = map { $_ => 1 } @{$disk->{labels}};
    my $name = $disk->{device};
    my @about = grep {
        my $finding = $_;
        (defined $name && defined $finding->{device} && $finding->{device} eq $name)
            || grep { $label{$_} || (defined $name && $_ eq $name) } @{$finding->{affects} // []}
    } @findings;
    return (worst(@about), @about);
}

sub clean {
    my ($text) = @_;
    # Nor what turns the direction of writing, or cannot be seen.
    $text =~ s/[^\x20-\x7e\x{a0}-\x{200a}\x{2010}-\x{2027}\x{2030}-\x{205f}\x{2070}-\x{d7ff}]/?/g;
    return $text;
}

# 0 to let the guest start, 1 to refuse.
sub pre_start {
    my ($vmid) = @_;
    my %from = settings();
    my ($kind, @config) = guest_config($vmid);
    my ($refuse, %told) = (0);

    if (!defined $kind) {
        note("there is no configuration of guest $vmid in $PVE: nothing is checked");
        return 0;
    }
    my @devices = passed_through(@config);
    my @disks = disks($kind, @config);
    return 0 unless @devices || @disks;

    my @findings = eval { findings() };
    if ($@) {
        chomp(my $why = $@);
        note("pnhwd cannot be asked, so nothing is checked: $why");
        return 0;
    }
    binmode(STDERR, ':encoding(UTF-8)');
    for my $part ((map { [$_->{what}, about_device($_->{choices}, @findings)] } @devices),
                  (map { [$_->{what}, about_disk($_, @findings)] } @disks)) {
        my ($what, $rank, @about) = @$part;
        my $refused = $rank >= $from{REFUSE};
        $refuse = 1 if $refused;
        for my $finding (@about) {
            my $own = worst($finding);
            next unless $own >= $from{WARN} || ($refused && $own >= $from{REFUSE});
            next if $told{$finding->{id}}++;
            note("$what: ", clean($finding->{severity}), ': ',
                 clean($finding->{summary} // $finding->{code}),
                 ' (pnhwctl accept ', clean($finding->{id}), ', if that may be)');
        }
    }
    note("guest $vmid is not started") if $refuse;
    return $refuse;
}

sub main {
    my ($vmid, $phase) = @_;

    if (!defined $phase || $vmid !~ /^([1-9][0-9]{0,9})\z/) {
        note('usage: pnhw-guest-hook.pl VMID PHASE, as Proxmox VE calls a hook script');
        return 2;
    }
    # Other phases are not for us, nor those of later versions.
    return $phase eq 'pre-start' ? pre_start($1) : 0;
}

exit main(@ARGV);
