// A wall's seccomp program: what the kernel refuses to everything inside. It refuses other namespaces, mounts and kernel settings, and
// sockets that lead past the wall; the rest is unchanged.
import { constants } from "node:os";
import {
	allow,
	assemble,
	type Instruction,
	jumpIfEqual,
	jumpIfSet,
	label,
	load,
	mask,
	refuse,
} from "./bpf.ts";

export type Architecture = "x64" | "arm64";

/** Calls that return EPERM: their numbers on x64 and arm64. -1: there is none. */
const FORBIDDEN: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
	setns: [308, 268],
	mount: [165, 40],
	umount2: [166, 39],
	pivot_root: [155, 41],
	chroot: [161, 51],
	open_tree: [428, 428],
	move_mount: [429, 429],
	fsopen: [430, 430],
	fsconfig: [431, 431],
	fsmount: [432, 432],
	fspick: [433, 433],
	mount_setattr: [442, 442],
	open_tree_attr: [467, 467],
	open_by_handle_at: [304, 265],
	kexec_load: [246, 104],
	kexec_file_load: [320, 294],
	init_module: [175, 105],
	finit_module: [313, 273],
	delete_module: [176, 106],
	settimeofday: [164, 170],
	clock_settime: [227, 112],
	clock_adjtime: [305, 266],
	swapon: [167, 224],
	swapoff: [168, 225],
	quotactl: [179, 60],
	quotactl_fd: [443, 443],
	reboot: [169, 142],
	acct: [163, 89],
	syslog: [103, 116],
	iopl: [172, -1],
	ioperm: [173, -1],
};
/** Calls that return ENOSYS, as on a kernel without them: programs then fall back. */
const ABSENT: Readonly<Record<string, readonly [x64: number, arm64: number]>> = {
	// Its flags are in memory, where a filter cannot read them; libc falls back to clone.
	clone3: [435, 435],
	add_key: [248, 217],
	request_key: [249, 218],
	keyctl: [250, 219],
	bpf: [321, 280],
	perf_event_open: [298, 241],
	userfaultfd: [323, 282],
	// It could open sockets without the call checked here.
	io_uring_setup: [425, 425],
	io_uring_enter: [426, 426],
	io_uring_register: [427, 427],
};
const CLONE: readonly [number, number] = [56, 220];
const UNSHARE: readonly [number, number] = [272, 97];
const IOCTL: readonly [number, number] = [16, 29];
const SOCKET: readonly [number, number] = [41, 198];
const SOCKETPAIR: readonly [number, number] = [53, 199];

const AUDIT_ARCH: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };
/** The bit of the second set of calls on x64. */
const X32 = 0x40000000;
const CLONE_NEWUSER = 0x10000000;
/** Types into another process's terminal. */
const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_TYPE_MASK = 0xf;
const SOCK_DGRAM = 2;
const SOCK_RAW = 3;
const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;

/** Offsets in struct seccomp_data; both architectures are little-endian, so the low half of an argument comes first. */
const NUMBER = 0;
const ARCH = 4;
const argument = (index: number) => 16 + 8 * index;

/** Null if there is no program for this processor: then there is no wall. */
export function thisArchitecture(): Architecture | null {
	return process.arch === "x64" || process.arch === "arm64" ? process.arch : null;
}

/** In the form the kernel takes: struct sock_filter, one after another. */
export function seccompProgram(
	architecture: Architecture,
	{ hasUnixSockets }: { readonly hasUnixSockets: boolean },
): Buffer {
	const column = architecture === "x64" ? 0 : 1;
	const numbers = (calls: typeof FORBIDDEN) =>
		Object.values(calls)
			.map((pair) => pair[column] as number)
			.filter((number) => number >= 0);
	const families = [AF_INET, AF_INET6, AF_NETLINK, ...(hasUnixSockets ? [AF_UNIX] : [])];
	const program: Instruction[] = [
		load(ARCH),
		jumpIfEqual(AUDIT_ARCH[architecture], { no: "absent" }),
		load(NUMBER),
		...(architecture === "x64" ? [jumpIfSet(X32, { yes: "absent" })] : []),
		...numbers(FORBIDDEN).map((number) => jumpIfEqual(number, { yes: "forbidden" })),
		...numbers(ABSENT).map((number) => jumpIfEqual(number, { yes: "absent" })),
		jumpIfEqual(CLONE[column] as number, { yes: "namespaces" }),
		jumpIfEqual(UNSHARE[column] as number, { yes: "namespaces" }),
		jumpIfEqual(SOCKET[column] as number, { yes: "socket" }),
		...(hasUnixSockets ? [] : [jumpIfEqual(SOCKETPAIR[column] as number, { yes: "pair" })]),
		jumpIfEqual(IOCTL[column] as number, { no: "allowed" }),

		load(argument(1)),
		jumpIfEqual(TIOCSTI, { yes: "forbidden" }),
		jumpIfEqual(TIOCLINUX, { yes: "forbidden", no: "allowed" }),

		label("namespaces"),
		load(argument(0)),
		mask(CLONE_NEWUSER),
		jumpIfEqual(CLONE_NEWUSER, { yes: "forbidden", no: "allowed" }),

		// Node and shells need pairs; but half of one that sends datagrams reaches every Unix socket that takes them.
		label("pair"),
		load(argument(1)),
		mask(SOCK_TYPE_MASK),
		jumpIfEqual(SOCK_DGRAM, { yes: "family" }),
		jumpIfEqual(SOCK_RAW, { yes: "family", no: "allowed" }),

		label("socket"),
		load(argument(0)),
		...families.map((family) => jumpIfEqual(family, { yes: "allowed" })),
		label("family"),
		refuse(EAFNOSUPPORT),

		label("allowed"),
		allow(),
		label("forbidden"),
		refuse(EPERM),
		label("absent"),
		refuse(ENOSYS),
	];
	return assemble(program);
}
