import { constants } from "node:os";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { assemble, jumpIfEqual, label, load, refuse } from "./bpf.ts";
import { type Architecture, seccompProgram } from "./program.ts";

const { EPERM, ENOSYS, EAFNOSUPPORT } = constants.errno;
const AUDIT = { x64: 0xc000003e, arm64: 0xc00000b7 } as const;
const I386 = 0x40000003;

interface Call {
	readonly arch?: number;
	readonly number: number;
	readonly args?: readonly bigint[];
}

/** Runs the program as the kernel does; answers the errno, or 0 where the call is allowed. */
function judge(architecture: Architecture, call: Call, { hasUnixSockets = false } = {}): number {
	const program = seccompProgram(architecture, { hasUnixSockets });
	const data = Buffer.alloc(64);
	data.writeUInt32LE(call.number >>> 0, 0);
	data.writeUInt32LE(call.arch ?? AUDIT[architecture], 4);
	for (const [index, value] of (call.args ?? []).entries())
		data.writeBigUInt64LE(BigInt.asUintN(64, value), 16 + 8 * index);
	let accumulator = 0;
	for (let at = 0; at < program.length / 8; at++) {
		const code = program.readUInt16LE(at * 8);
		const value = program.readUInt32LE(at * 8 + 4);
		const jump = (isTrue: boolean) => program.readUInt8(at * 8 + (isTrue ? 2 : 3));
		if (code === 0x20) accumulator = data.readUInt32LE(value);
		else if (code === 0x54) accumulator = (accumulator & value) >>> 0;
		else if (code === 0x15) at += jump(accumulator === value);
		else if (code === 0x45) at += jump((accumulator & value) !== 0);
		else if (code === 0x06) return value === 0x7fff0000 ? 0 : value & 0xffff;
		else throw new Error(`unknown instruction ${code}`);
	}
	throw new Error("the program has no end");
}

const NUMBERS = {
	x64: {
		read: 0,
		socketpair: 53,
		mount: 165,
		setns: 308,
		clone: 56,
		unshare: 272,
		ioctl: 16,
		socket: 41,
		keyctl: 250,
		bpf: 321,
	},
	arm64: {
		read: 63,
		socketpair: 199,
		mount: 40,
		setns: 268,
		clone: 220,
		unshare: 97,
		ioctl: 29,
		socket: 198,
		keyctl: 219,
		bpf: 280,
	},
} as const;

describe.each(["x64", "arm64"] as const)("the seccomp program of %s", (architecture) => {
	const calls = NUMBERS[architecture];
	const answer = (number: number, ...args: bigint[]) => judge(architecture, { number, args });

	test("lets ordinary calls through", () => {
		expect(answer(calls.read, 0n, 0n, 10n)).toBe(0);
		expect(answer(calls.socketpair, 1n, 1n)).toBe(0);
		expect(answer(calls.ioctl, 0n, 0x5401n)).toBe(0);
	});

	test("refuses mounts and other namespaces, and hides keyrings, bpf, io_uring and clone3", () => {
		for (const number of [calls.mount, calls.setns, 428, 429, 430, 431, 432, 433, 442, 467])
			expect([number, answer(number)]).toEqual([number, EPERM]);
		for (const number of [calls.keyctl, calls.bpf, 425, 426, 427, 435])
			expect([number, answer(number)]).toEqual([number, ENOSYS]);
	});

	test("refuses a new user namespace among whatever other flags, and no other clone", () => {
		fc.assert(
			fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (flags) => {
				const expected = (flags & 0x10000000n) === 0n ? 0 : EPERM;
				expect(answer(calls.clone, flags)).toBe(expected);
				expect(answer(calls.unshare, flags)).toBe(expected);
			}),
		);
	});

	test("looks at the half of a number that the kernel looks at", () => {
		expect(answer(calls.ioctl, 0n, 0x5412n)).toBe(EPERM);
		expect(answer(calls.ioctl, 0n, 0xdeadbeef00005412n)).toBe(EPERM);
		expect(answer(calls.ioctl, 0n, 0x541cn)).toBe(EPERM);
		expect(answer(calls.socket, 0xffffffff00000001n)).toBe(EAFNOSUPPORT);
	});

	test("knows the families of the internet alone, and Unix sockets where they are wanted", () => {
		for (let family = 0; family < 64; family++) {
			const isOpen = [2, 10, 16].includes(family);
			expect([family, answer(calls.socket, BigInt(family))]).toEqual([family, isOpen ? 0 : EAFNOSUPPORT]);
		}
		const unix = { number: calls.socket, args: [1n] };
		expect(judge(architecture, unix, { hasUnixSockets: true })).toBe(0);
		expect(judge(architecture, { ...unix, args: [17n] }, { hasUnixSockets: true })).toBe(EAFNOSUPPORT);
	});

	test("lets pairs be made of streams and packets, and of datagrams only with Unix sockets", () => {
		for (const flags of [0n, 0o2000000n, 0o4000n]) {
			const pair = (type: bigint) => ({ number: calls.socketpair, args: [1n, type | flags] });
			expect([1n, 2n, 3n, 5n].map((type) => judge(architecture, pair(type)))).toEqual([
				0,
				EAFNOSUPPORT,
				EAFNOSUPPORT,
				0,
			]);
			expect(judge(architecture, pair(2n), { hasUnixSockets: true })).toBe(0);
		}
	});

	test("answers calls of any other architecture as if there were none", () => {
		for (const arch of [I386, 0, AUDIT[architecture === "x64" ? "arm64" : "x64"]])
			expect(judge(architecture, { arch, number: calls.read })).toBe(ENOSYS);
	});
});

test("the second set of calls on x64 is not there", () => {
	for (const number of [0, 41, 165, 512]) expect(judge("x64", { number: 0x40000000 | number })).toBe(ENOSYS);
});

test("a jump that cannot be made is an error, never a guess", () => {
	expect(() => assemble([jumpIfEqual(1, { yes: "nowhere" })])).toThrow("nowhere");
	const far = Array.from({ length: 300 }, () => load(0));
	expect(() => assemble([jumpIfEqual(1, { yes: "end" }), ...far, label("end"), refuse(1)])).toThrow(
		"too far",
	);
	expect(() => assemble([label("back"), load(0), jumpIfEqual(1, { yes: "back" })])).toThrow("too far");
});
