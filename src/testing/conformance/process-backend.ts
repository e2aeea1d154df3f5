// The promises of every process backend. Run this suite over your own backend.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { LogPiece, ProcessBackend, ProcessInfo, SpawnRequest } from "../../processes/index.ts";
import type { WallRequest } from "../../walls/index.ts";

export interface BackendUnderTest {
	readonly backend: ProcessBackend;
	/** A directory where the programs run. */
	readonly cwd: string;
	/** Whether any process on its machine has one of these ids in KERYX_PROCESS. */
	isAnyLeft(ids: readonly string[]): Promise<boolean>;
	/** The wall around all programs. With one, an end ends everything, a signal is reported as a code, and a closed input is not noticed. */
	readonly wall?: WallRequest;
	close(): Promise<void>;
}

const ENV = { PATH: "/usr/local/bin:/usr/bin:/bin", LC_ALL: "C" };
const MB = 1024 * 1024;

export function processBackendConformance(name: string, make: () => Promise<BackendUnderTest>): void {
	describe(`processes: ${name}`, () => {
		const ids: string[] = [];
		let under: BackendUnderTest;
		let backend: ProcessBackend;

		beforeAll(async () => {
			under = await make();
			backend = under.backend;
		});

		afterAll(async () => {
			for (const { id } of await backend.list()) await backend.kill(id, { graceMs: 0 });
			expect(await under.isAnyLeft(ids)).toBe(false);
			await under.close();
		});

		function drawId(): string {
			const id = `proc_${randomBytes(6).toString("hex")}`;
			ids.push(id);
			return id;
		}

		function start(argv: readonly string[], options: Partial<SpawnRequest> = {}): Promise<ProcessInfo> {
			const id = drawId();
			const { cwd, wall } = under;
			return backend.spawn({
				...{ id, argv, cwd, env: ENV, pty: null, maxLogBytes: MB },
				...(wall && { wall }),
				...options,
			});
		}

		const run = (script: string, options: Partial<SpawnRequest> = {}) => start(["sh", "-c", script], options);

		/** As a caller learns of it: reported, or found on request. */
		async function ended(id: string): Promise<ProcessInfo> {
			const end = Promise.withResolvers<ProcessInfo>();
			const stop = backend.onEnd((info) => info.id === id && end.resolve(info));
			const now = await backend.get(id);
			if (now.status !== "running") end.resolve(now);
			try {
				return await end.promise;
			} finally {
				stop();
			}
		}

		async function wholeLog(id: string): Promise<LogPiece[]> {
			const pieces: LogPiece[] = [];
			for (let from = 0; ; ) {
				const piece = await backend.read(id, { from, limit: MB });
				if (piece.next === from) return pieces;
				pieces.push(piece);
				from = piece.next;
			}
		}

		async function output(id: string): Promise<Buffer> {
			const pieces = await wholeLog(id);
			expect(pieces.every(({ lost }) => lost === 0)).toBe(true);
			return Buffer.concat(pieces.map(({ data }) => data));
		}

		/** Follows until the text appears. */
		async function until(id: string, text: string): Promise<string> {
			let seen = "";
			for await (const { data } of backend.follow(id)) {
				seen += data.toString("latin1");
				if (seen.includes(text)) return seen;
			}
			throw new Error(`${id} ended after ${JSON.stringify(seen)}`);
		}

		test("what a program prints is its log, stdout and stderr in the order in which they were written", async () => {
			const { id, status, identity, startedAt } = await run(
				"for i in 1 2 3; do echo out$i; echo err$i >&2; done",
			);
			expect(status).toBe("running");
			expect(identity?.pid).toBeGreaterThan(1);
			expect(startedAt).toBeGreaterThan(0);
			const info = await ended(id);
			expect(info).toMatchObject({
				status: "exited",
				survivors: [],
				end: { cause: "exited", code: 0, signal: null },
			});
			expect((await output(id)).toString()).toBe("out1\nerr1\nout2\nerr2\nout3\nerr3\n");
			expect(info.logSize).toBe(30);
		});

		test("a script may write to /dev/stderr, and is not taken for a remote login", async () => {
			const { id } = await run(
				"echo one >/dev/stderr; echo two >/dev/stdout; test -S /dev/stdin || echo three",
			);
			await ended(id);
			expect((await output(id)).toString()).toBe("one\ntwo\nthree\n");
		});

		test.each([0, 1, 7, 255])("the exit code %i is told", async (code) => {
			const { id } = await run(`exit ${code}`);
			expect((await ended(id)).end).toMatchObject({ cause: "exited", code, signal: null });
		});

		test("a signal that was not ours is told as one", async () => {
			const { id } = await run("kill -USR2 $$");
			expect(await ended(id)).toMatchObject({
				status: "exited",
				end: under.wall
					? { cause: "exited", code: 140, signal: "SIGUSR2" }
					: { cause: "signal", code: null, signal: "SIGUSR2" },
			});
		});

		test("a program that prints 5 KB and exits at once loses nothing", async () => {
			const text = "x".repeat(5000);
			const started = await Promise.all(Array.from({ length: 20 }, () => start(["printf", "%s", text])));
			for (const { id } of started) {
				expect((await ended(id)).logSize).toBe(5000);
				expect((await output(id)).toString()).toBe(text);
			}
		});

		test("it starts where it is told, with the environment it is given and its mark, and nothing else", async () => {
			const { id } = await start(["env"], { env: { ...ENV, "weird name": "a=b\nc" } });
			await ended(id);
			const lines = (await output(id)).toString().trimEnd().split("\n").sort();
			expect(lines).toEqual(
				[`KERYX_PROCESS=${id}`, "LC_ALL=C", `PATH=${ENV.PATH}`, "c", "weird name=a=b"].sort(),
			);
			const where = await start(["pwd", "-P"], { cwd: "/" });
			await ended(where.id);
			expect((await output(where.id)).toString()).toBe("/\n");
		});

		test("arguments reach the program as they are", async () => {
			const args = ["", "a b", "$HOME", "'", '"', "*", "\n", "-n", "ü", "\u{1f600}"];
			const { id } = await start(["printf", "[%s]", ...args]);
			await ended(id);
			expect((await output(id)).toString()).toBe(args.map((arg) => `[${arg}]`).join(""));
		});

		test("where an argument is secret, another text is shown and recorded", async () => {
			const { id, argv } = await start(["printf", "%s", "hunter2"], { shownArgv: ["printf", "%s", "***"] });
			expect(argv).toEqual(["printf", "%s", "***"]);
			await ended(id);
			expect(JSON.stringify(await backend.get(id))).not.toContain("hunter2");
			expect((await output(id)).toString()).toBe("hunter2");
		});

		test("input reaches the program until it is ended, and then no more", async () => {
			const { id } = await run("cat; echo bye");
			await backend.write(id, Buffer.from("one\n"));
			await until(id, "one\n");
			await backend.write(id, Buffer.from([0, 255, 10]));
			await backend.endInput(id);
			await expect(backend.write(id, Buffer.from("two"))).rejects.toMatchObject({
				code: expect.stringMatching(/^process\.(input_closed|ended)$/),
			});
			expect((await ended(id)).end?.code).toBe(0);
			expect(await output(id)).toEqual(
				Buffer.from([...Buffer.from("one\n"), 0, 255, 10, ...Buffer.from("bye\n")]),
			);
		});

		test("a program that has closed its input is told as such", async () => {
			const { id } = await run("exec <&-; echo closed; exec sleep 60");
			await until(id, "closed");
			if (!under.wall)
				await expect(backend.write(id, Buffer.from("x"))).rejects.toMatchObject({
					code: "process.input_closed",
				});
			await backend.kill(id);
		});

		test("input that is not read is bounded, and what was taken is delivered", async () => {
			const { id } = await run(
				"exec 2>/dev/null; trap 'cat | wc -c; exit' USR1; echo ready; while :; do sleep 0.05; done",
			);
			await until(id, "ready");
			const part = Buffer.alloc(256 * 1024, "x");
			let taken = 0;
			const refused = await (async () => {
				for (let i = 0; i < 40; i++) {
					const error = await backend.write(id, part).then(
						() => null,
						(error: unknown) => error,
					);
					if (error) return error;
					taken += part.length;
				}
				return null;
			})();
			expect(refused).toMatchObject({ code: "process.input_full" });
			expect(taken).toBeGreaterThan(0);
			await backend.endInput(id);
			await backend.signal(id, "SIGUSR1");
			await ended(id);
			expect((await output(id)).toString().replace("ready\n", "").trim()).toBe(String(taken));
		});

		test("a signal reaches the whole group", async () => {
			const child = "trap 'echo child; exit' USR1; echo up; while :; do sleep 0.05; done";
			const { id } = await run(`exec 2>/dev/null; trap 'wait; echo parent; exit 5' USR1; (${child}) & wait`);
			await until(id, "up");
			await backend.signal(id, "SIGUSR1");
			expect((await ended(id)).end).toMatchObject({ cause: "exited", code: 5 });
			expect((await output(id)).toString()).toBe("up\nchild\nparent\n");
			await expect(backend.signal(id, "SIGINT")).rejects.toMatchObject({ code: "process.ended" });
		});

		test("a polite program is killed with SIGTERM, and says so in its end", async () => {
			const { id } = await run(
				"exec 2>/dev/null; trap 'echo tidy; exit 3' TERM; echo up; while :; do sleep 0.05; done",
			);
			await until(id, "up");
			expect(await backend.kill(id)).toMatchObject({ result: "killed", survivors: [] });
			expect(await backend.get(id)).toMatchObject({ status: "killed", end: { cause: "killed", code: 3 } });
			expect((await output(id)).toString()).toBe("up\ntidy\n");
			expect(await backend.kill(id)).toEqual({ result: "already_exited", survivors: [] });
		});

		test.each([
			["ignores SIGTERM", "trap '' TERM; echo up; while :; do sleep 0.05; done"],
			[
				"forks on SIGTERM",
				'trap \'setsid sh -c "trap \\"\\" TERM; while :; do sleep 0.05; done" & \' TERM; echo up; while :; do sleep 0.05; done',
			],
			[
				"keeps starting children, in sessions of their own",
				"trap '' TERM; echo up; while :; do setsid sleep 60 & setsid sh -c 'sleep 60 & sleep 60' & sleep 0.05; done",
			],
			["has orphans in sessions of their own", "setsid sh -c 'sleep 60 & exit'; echo up; sleep 60"],
			["is stopped", "echo up; kill -STOP $$; sleep 60"],
			["starts others without their environment", "echo up; env -i setsid /bin/sleep 60 & sleep 60"],
		])("one that %s is killed, with all it started", async (_, script) => {
			const { id } = await run(script);
			await until(id, "up");
			expect(await backend.kill(id, { graceMs: 300 })).toMatchObject({ result: "killed", survivors: [] });
			expect(await backend.get(id)).toMatchObject({ status: "killed", survivors: [] });
			expect(await under.isAnyLeft([id])).toBe(false);
		});

		test("a child that keeps the output open does not keep the end from being told, and is listed", async () => {
			const { id } = await run("sleep 60 & echo parent; exit 4");
			const info = await ended(id);
			expect(info).toMatchObject({ status: "exited", end: { code: 4 } });
			expect((await output(id)).toString()).toBe("parent\n");
			if (under.wall) return expect(info.survivors).toEqual([]);
			expect(info.survivors.length).toBeGreaterThan(0);
			await expect(backend.forget(id)).rejects.toMatchObject({ code: "process.running" });
			expect(await backend.kill(id)).toEqual({ result: "already_exited", survivors: [] });
			expect((await backend.get(id)).survivors).toEqual([]);
			expect((await backend.get(id)).end).toMatchObject({ cause: "exited", code: 4 });
		});

		test("what a child prints after its parent's end is in the log", async () => {
			const { id } = await run(
				"(while kill -0 $$; do sleep 0.05; done 2>/dev/null; sleep 0.4; echo late) & exit 0",
			);
			await ended(id);
			const late = under.wall ? "" : "late\n";
			await expect.poll(async () => (await output(id)).toString(), { timeout: 20_000 }).toBe(late);
		});

		test("a directory that does not exist is the reason of a failed start, which is listed", async () => {
			const info = await run("true", { cwd: "/nowhere/at/all" });
			expect(info).toMatchObject({
				status: "failed_start",
				identity: null,
				end: { cause: "failed_start", code: null, reason: expect.stringContaining("/nowhere/at/all") },
			});
			expect(await backend.get(info.id)).toEqual(info);
			expect((await backend.list()).map(({ id }) => id)).toContain(info.id);
			expect(await wholeLog(info.id)).toEqual([]);
		});

		test.each([["no-such-program-anywhere"], ["/no/such/program"], ["/tmp"]])(
			"%s cannot be started, and the reason names it",
			async (program) => {
				const { status, end } = await start([program, "x"]);
				expect(status).toBe("failed_start");
				expect(end?.reason).toContain(program);
			},
		);

		test("binary output and invalid UTF-8 are kept byte for byte", async () => {
			const all = Array.from({ length: 256 }, (_, byte) => `\\${byte.toString(8).padStart(3, "0")}`).join("");
			const { id } = await run(`printf '${all}'; printf '\\303\\050\\377\\376'`);
			await ended(id);
			expect(await output(id)).toEqual(
				Buffer.from([...Array.from({ length: 256 }, (_, byte) => byte), 0xc3, 0x28, 0xff, 0xfe]),
			);
		});

		test("of too much output the head and the tail stay, and a reader is told what is lost", async () => {
			const maxLogBytes = 100_000;
			// Each line has ten bytes, so a byte's position determines its value.
			const { id } = await start(["seq", "-f", "%09.0f", "0", "99999"], { maxLogBytes });
			const { logSize } = await ended(id);
			expect(logSize).toBe(1_000_000);
			const pieces = await wholeLog(id);
			let at = 0;
			for (const { from, data, lost, next, size } of pieces) {
				expect(from).toBe(at + lost);
				expect(next).toBe(from + data.length);
				expect(size).toBe(logSize);
				expect(data.equals(expectedLines(from, next))).toBe(true);
				at = next;
			}
			expect(at).toBe(logSize);
			expect(pieces[0]?.data.length).toBe(40_000);
			const kept = pieces.reduce((sum, { data }) => sum + data.length, 0);
			expect(kept).toBeLessThanOrEqual(maxLogBytes);
			expect(kept).toBeGreaterThan(maxLogBytes * 0.9);
			expect(kept + pieces.reduce((sum, { lost }) => sum + lost, 0)).toBe(logSize);
			const inTheGap = await backend.read(id, { from: 45_000, limit: 10 });
			expect(inTheGap.lost).toBe(inTheGap.from - 45_000);
			expect(inTheGap.data).toEqual(expectedLines(inTheGap.from, inTheGap.from + 10));
		});

		test("a follower gets everything from its cursor on, once, while it is written and afterwards", async () => {
			const { id } = await start(["seq", "-f", "%09.0f", "0", "49999"]);
			const follow = async (from: number) => {
				const parts: Buffer[] = [];
				let at = from;
				for await (const piece of backend.follow(id, { from })) {
					expect(piece.from).toBe(at);
					expect(piece.lost).toBe(0);
					at = piece.next;
					parts.push(piece.data);
				}
				return Buffer.concat(parts);
			};
			const [all, some] = await Promise.all([follow(0), follow(123_456)]);
			expect(all.equals(expectedLines(0, 500_000))).toBe(true);
			expect(some.equals(expectedLines(123_456, 500_000))).toBe(true);
			expect((await follow(499_990)).toString()).toBe("000049999\n");
			expect(await follow(500_000)).toEqual(Buffer.alloc(0));
		});

		test("a follower that leaves is followed by another, and the program does not wait for either", async () => {
			const { id } = await run("echo one; read go; echo two");
			for await (const { data } of backend.follow(id)) {
				expect(data.toString()).toBe("one\n");
				break;
			}
			await backend.write(id, Buffer.from("go\n"));
			expect(await until(id, "two\n")).toBe("one\ntwo\n");
		});

		test("a terminal is one, of the size that was asked for, and can be resized", async () => {
			const script = "stty size; test -t 0 && test -t 1 && test -t 2 && echo yes; read go; stty size; exit 6";
			const { id, pty } = await run(script, { pty: { rows: 30, cols: 120 } });
			expect(pty).toEqual({ rows: 30, cols: 120 });
			await until(id, "yes");
			await backend.resize(id, { rows: 50, cols: 99 });
			expect((await backend.get(id)).pty).toEqual({ rows: 50, cols: 99 });
			await backend.write(id, Buffer.from("go\r"));
			expect((await ended(id)).end).toMatchObject({ cause: "exited", code: 6 });
			expect((await output(id)).toString()).toBe("30 120\r\nyes\r\ngo\r\n50 99\r\n");
		});

		test("a terminal's program loses nothing either, and its end of input is typed", async () => {
			const text = "y".repeat(3000);
			for (let i = 0; i < 5; i++) {
				const { id } = await start(["printf", "%s", text], { pty: { rows: 30, cols: 120 } });
				expect((await ended(id)).logSize).toBe(3000);
			}
			const { id } = await run("cat >/dev/null; echo done", { pty: { rows: 30, cols: 120 } });
			await backend.endInput(id);
			expect((await ended(id)).end?.code).toBe(0);
			expect((await output(id)).toString()).toContain("done");
		});

		test("a terminal's program is killed, with all it started", async () => {
			const { id } = await run("trap '' TERM HUP; setsid sleep 60 & echo up; while :; do sleep 0.05; done", {
				pty: { rows: 30, cols: 120 },
			});
			await until(id, "up");
			expect(await backend.kill(id, { graceMs: 200 })).toMatchObject({ result: "killed", survivors: [] });
			expect(await backend.get(id)).toMatchObject({
				status: "killed",
				end: { cause: "killed", signal: "SIGKILL" },
			});
		});

		test("what has no terminal cannot be resized", async () => {
			const { id } = await run("sleep 60");
			await expect(backend.resize(id, { rows: 1, cols: 1 })).rejects.toMatchObject({
				code: "process.no_pty",
			});
			await backend.kill(id, { graceMs: 0 });
		});

		test("an id that is not there is unknown to every call", async () => {
			const id = drawId();
			const calls: (() => Promise<unknown>)[] = [
				() => backend.get(id),
				() => backend.read(id, { from: 0, limit: 1 }),
				() => backend.write(id, Buffer.from("x")),
				() => backend.endInput(id),
				() => backend.resize(id, { rows: 1, cols: 1 }),
				() => backend.signal(id, "SIGINT"),
				() => backend.kill(id),
				() => backend.forget(id),
				() => backend.remove(id),
				async () => {
					for await (const piece of backend.follow(id)) return piece;
				},
			];
			for (const call of calls) await expect(call()).rejects.toMatchObject({ code: "process.unknown" });
		});

		test("an id is used once, and only a form that can be a folder's name is one", async () => {
			const { id } = await run("true");
			await expect(start(["true"], { id })).rejects.toMatchObject({ code: "process.taken" });
			for (const bad of ["..", "../x", "abc", "a/bc", "ABCD", "a bcd", "", "x".repeat(41), "proc\0x"])
				await expect(start(["true"], { id: bad })).rejects.toMatchObject({ code: "argument.invalid" });
			await ended(id);
		});

		test.each<[string, Partial<SpawnRequest>]>([
			["no program", { argv: [] }],
			["a NUL in an argument", { argv: ["echo", "a\0b"] }],
			["a NUL in a variable", { env: { A: "\0" } }],
			["a variable without a name", { env: { "": "x" } }],
			["a relative directory", { cwd: "tmp" }],
			["a terminal without rows", { pty: { rows: 0, cols: 1 } }],
			["no room for a log", { maxLogBytes: 0 }],
		])("%s is refused, and nothing is left behind", async (_, options) => {
			const id = drawId();
			await expect(start(["true"], { id, ...options })).rejects.toMatchObject({ code: "argument.invalid" });
			await expect(backend.get(id)).rejects.toMatchObject({ code: "process.unknown" });
		});

		test("a signal that does not exist is refused", async () => {
			const { id } = await run("sleep 60");
			await expect(backend.signal(id, "SIGNONE")).rejects.toMatchObject({ code: "argument.invalid" });
			await expect(backend.kill(id, { signal: "9" })).rejects.toMatchObject({ code: "argument.invalid" });
			await backend.kill(id, { graceMs: 0 });
		});

		test("an ended one can be removed as soon as its end is told", async () => {
			const id = drawId();
			const removed = new Promise<void>((resolve, reject) => {
				const stop = backend.onEnd((info) => {
					if (info.id !== id) return;
					stop();
					backend.remove(id).then(resolve, reject);
				});
			});
			await run("echo short", { id });
			await removed;
			await expect(backend.get(id)).rejects.toMatchObject({ code: "process.unknown" });
		});

		test("a forgotten process is off the list and keeps its log until it is removed", async () => {
			const { id } = await run("echo kept; read go");
			await until(id, "kept");
			await expect(backend.forget(id)).rejects.toMatchObject({ code: "process.running" });
			await expect(backend.remove(id)).rejects.toMatchObject({ code: "process.running" });
			await backend.write(id, Buffer.from("\n"));
			await ended(id);
			await backend.forget(id);
			expect((await backend.list()).map((info) => info.id)).not.toContain(id);
			await expect(backend.get(id)).rejects.toMatchObject({ code: "process.unknown" });
			expect((await output(id)).toString()).toBe("kept\n");
			await expect(start(["true"], { id })).rejects.toMatchObject({ code: "process.taken" });
			await backend.remove(id);
			await expect(backend.read(id, { from: 0, limit: 1 })).rejects.toMatchObject({
				code: "process.unknown",
			});
		});
	});
}

/** The output of `seq -f %09.0f 0`, from one byte to another. */
function expectedLines(from: number, to: number): Buffer {
	const first = Math.floor(from / 10);
	const lines = Array.from({ length: Math.ceil(to / 10) - first }, (_, index) =>
		String(first + index)
			.padStart(9, "0")
			.concat("\n"),
	);
	return Buffer.from(lines.join("")).subarray(from - first * 10, to - first * 10);
}
