import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import {
	createSshBackend,
	type ProcessBackend,
	type ProcessInfo,
	type SpawnRequest,
	type SshBackendOptions,
} from "../../src/processes/index.ts";
import { processBackendConformance } from "../../src/testing/conformance/process-backend.ts";
import { soon } from "../support/soon.ts";
import { SshServer } from "./sshd.ts";
import { ENV, HostScene, isAnyLeft } from "./support.ts";

/** A home, an sshd, and as many backends over them as are asked for. */
class SshScene {
	readonly host = new HostScene();
	readonly #backends: ProcessBackend[] = [];
	readonly server: SshServer;

	constructor(server: SshServer) {
		this.server = server;
	}

	async open(options: Partial<SshBackendOptions> = {}): Promise<ProcessBackend> {
		const local = await this.host.connect();
		const folder = join(this.host.home, "ssh");
		const backend = await createSshBackend({ name: "ssh", ...this.server.target, local, folder, ...options });
		this.#backends.push(backend);
		return backend;
	}

	async close(): Promise<void> {
		for (const backend of this.#backends) await backend.close();
		await this.host.close();
		await this.server.close();
	}
}

processBackendConformance("ssh", async () => {
	const scene = new SshScene(await SshServer.start());
	return {
		backend: await scene.open(),
		cwd: scene.host.home,
		isAnyLeft: async (ids) => isAnyLeft(ids),
		close: () => scene.close(),
	};
});

describe("processes over ssh", () => {
	const ids: string[] = [];
	let scene: SshScene;
	let backend: ProcessBackend;

	beforeAll(async () => {
		scene = new SshScene(await SshServer.start());
		backend = await scene.open();
	});

	afterAll(async () => {
		try {
			for (const { id } of await backend.list()) await backend.kill(id, { graceMs: 0 });
			expect(isAnyLeft(ids)).toBe(false);
			expect(readdirSync(stateFolder())).toEqual([]);
		} finally {
			await scene.close();
		}
	});

	const stateFolder = () => join(scene.server.folder, "state", "keryx");
	const file = (name: string) => join(scene.host.home, name);

	function run(script: string, options: Partial<SpawnRequest> = {}, over = backend): Promise<ProcessInfo> {
		const request = scene.host.script(script, options);
		ids.push(request.id);
		return over.spawn(request);
	}

	async function ended(id: string, over = backend): Promise<ProcessInfo> {
		const told = Promise.withResolvers<ProcessInfo>();
		const stop = over.onEnd((info) => info.id === id && told.resolve(info));
		const now = await over.get(id);
		if (now.status !== "running") told.resolve(now);
		return told.promise.finally(stop);
	}

	async function until(id: string, text: string, over = backend): Promise<void> {
		let seen = "";
		for await (const { data } of over.follow(id)) {
			seen += data.toString();
			if (seen.includes(text)) return;
		}
		throw new Error(`${id} ended after ${JSON.stringify(seen)}`);
	}

	async function output(id: string, over = backend): Promise<string> {
		return (await over.read(id, { from: 0, limit: 1024 * 1024 })).data.toString();
	}

	/** Cuts the connection that a process was started over, at the other end. */
	function cut({ identity }: ProcessInfo): void {
		process.kill(scene.server.connectionOf(identity?.pid ?? 0), "SIGKILL");
	}

	test("a process whose connection is cut goes on, and its real exit code is told in the end", async () => {
		const started = await run(`echo up; until [ -e ${file("go")} ]; do sleep 0.05; done; exit 9`);
		const { id } = started;
		await until(id, "up");
		cut(started);
		await expect
			.poll(() => backend.endInput(id).then(() => "", codeOf))
			.toMatch(/process\.(ended|input_closed)/);
		expect(await backend.get(id)).toMatchObject({ status: "running", end: null });
		writeFileSync(file("go"), "");
		expect(await ended(id)).toMatchObject({ status: "exited", end: { cause: "exited", code: 9 } });
		expect(await output(id)).toBe("up\n");
	});

	test("one whose connection is cut can be signalled and killed", async () => {
		const started = await run("exec 2>/dev/null; trap 'exit 8' USR1; echo up; while :; do sleep 0.05; done");
		await until(started.id, "up");
		cut(started);
		await backend.signal(started.id, "SIGUSR1");
		expect((await ended(started.id)).end).toMatchObject({ cause: "exited", code: 8 });
		const other = await run("trap '' TERM; echo up; while :; do sleep 0.05; done");
		await until(other.id, "up");
		cut(other);
		expect(await backend.kill(other.id, { graceMs: 100 })).toEqual({ result: "killed", survivors: [] });
		expect(await backend.get(other.id)).toMatchObject({ status: "killed", end: { signal: "SIGKILL" } });
	});

	test("one that prints after its connection was cut is ended by that, and says so", async () => {
		const started = await run("while echo x; do sleep 0.05; done");
		await until(started.id, "x");
		cut(started);
		expect((await ended(started.id)).end).toMatchObject({ cause: "signal", signal: "SIGPIPE" });
		expect(await output(started.id)).toMatch(/^(x\n)+$/);
	});

	test("a terminal whose connection is cut hangs up", async () => {
		const started = await run("echo up; sleep 60", { pty: { rows: 30, cols: 120 } });
		await until(started.id, "up");
		cut(started);
		expect((await ended(started.id)).end).toMatchObject({ cause: "signal", signal: "SIGHUP" });
	});

	test("where the machine stays away it is lost; what lives of it is found once it is back, and can be killed", async () => {
		const other = new SshScene(await SshServer.start());
		try {
			const impatient = await other.open({ reconnectMs: 200 });
			const request = other.host.script("echo up; while :; do sleep 0.05; done");
			ids.push(request.id);
			const { identity, id } = await impatient.spawn(request);
			await until(id, "up", impatient);
			const connections = other.server.connections();
			await other.server.stop();
			for (const pid of connections) process.kill(pid, "SIGKILL");
			expect(await ended(id, impatient)).toMatchObject({ status: "lost", end: null });
			await expect(impatient.kill(id)).rejects.toMatchObject({ code: "process.unreachable" });
			await expect(impatient.signal(id, "SIGINT")).rejects.toMatchObject({ code: "process.ended" });
			await other.server.listen();
			expect((await impatient.get(id)).survivors).toContain(identity?.pid);
			await expect(impatient.forget(id)).rejects.toMatchObject({ code: "process.running" });
			expect(await impatient.kill(id)).toEqual({ result: "killed", survivors: [] });
			expect(await impatient.get(id)).toMatchObject({ status: "lost", end: null, survivors: [] });
			await impatient.forget(id);
		} finally {
			await other.close();
		}
	});

	test("a connection for questions that is cut is made again", async () => {
		const started = await run("echo up; sleep 60");
		await until(started.id, "up");
		const own = scene.server.connectionOf(started.identity?.pid ?? 0);
		for (const pid of scene.server.connections()) if (pid !== own) process.kill(pid, "SIGKILL");
		expect(await backend.kill(started.id)).toEqual({ result: "killed", survivors: [] });
	});

	test("what ran while Keryx was away is taken up again, with its output and its end", async () => {
		const away = await scene.open();
		const ends = await run("echo one; read line; echo $line; exit 5", {}, away);
		const stays = await run("echo up; exec sleep 60", {}, away);
		await until(ends.id, "one", away);
		await until(stays.id, "up", away);
		await away.write(ends.id, Buffer.from("two\n"));
		await away.close();
		const back = await scene.open();
		expect(await ended(ends.id, back)).toMatchObject({ status: "exited", end: { code: 5 } });
		expect(await output(ends.id, back)).toBe("one\ntwo\n");
		expect(await back.get(stays.id)).toMatchObject({ status: "running", identity: stays.identity });
		expect(await back.kill(stays.id)).toEqual({ result: "killed", survivors: [] });
	});

	test("when the host here dies, the process there goes on, and its real exit code is told in the end", async () => {
		const other = new SshScene(await SshServer.start());
		try {
			const before = await other.open();
			const go = join(other.host.home, "go");
			const request = other.host.script(`echo up; until [ -e ${go} ]; do sleep 0.05; done; exit 6`);
			ids.push(request.id);
			const { id, identity } = await before.spawn(request);
			await until(id, "up", before);
			const gone = new Promise<void>((resolve) => before.onGone(resolve));
			process.kill((await other.host.connect()).hostPid, "SIGKILL");
			await gone;
			await before.close();
			const after = await other.open();
			expect(await after.get(id)).toMatchObject({ status: "running", identity });
			writeFileSync(go, "");
			expect(await ended(id, after)).toMatchObject({ status: "exited", end: { cause: "exited", code: 6 } });
			expect(await output(id, after)).toBe("up\n");
		} finally {
			await other.close();
		}
	});

	test("a terminal that the host here cannot give is an error, and leaves nothing there", async () => {
		const local = await scene.host.connect();
		const refusing: ProcessBackend = {
			name: "local",
			spawn: () => Promise.reject(new KeryxError("process.no_pty", "no terminals here")),
			list: () => local.list(),
			get: (id) => local.get(id),
			silent: (ids) => local.silent(ids),
			read: (id, options) => local.read(id, options),
			follow: (id, options) => local.follow(id, options),
			write: (id, data) => local.write(id, data),
			endInput: (id) => local.endInput(id),
			resize: (id, size) => local.resize(id, size),
			signal: (id, signal) => local.signal(id, signal),
			kill: (id, options) => local.kill(id, options),
			forget: (id) => local.forget(id),
			remove: (id) => local.remove(id),
			onEnd: (listener) => local.onEnd(listener),
			onGone: (listener) => local.onGone(listener),
			close: () => local.close(),
		};
		const without = await scene.open({ local: refusing, folder: file("ssh-no-pty") });
		const request = scene.host.script("true", { pty: { rows: 1, cols: 1 } });
		await expect(without.spawn(request)).rejects.toMatchObject({ code: "process.no_pty" });
		expect(await without.list()).toEqual([]);
		expect(existsSync(join(stateFolder(), request.id))).toBe(false);
	});

	test.each([
		["pipes", null],
		["a terminal", { rows: 30, cols: 120 }],
	])("on %s, an exit code above 128 and a signal are told apart", async (_, pty) => {
		const exits = await run("exit 137", { pty });
		const dies = await run("kill -9 $$", { pty });
		expect((await ended(exits.id)).end).toMatchObject({ cause: "exited", code: 137, signal: null });
		expect((await ended(dies.id)).end).toMatchObject({ cause: "signal", code: null, signal: "SIGKILL" });
	});

	test("what is typed on a terminal reaches the program alone", async () => {
		const { id } = await run("echo up; exec cat", { pty: { rows: 30, cols: 120 } });
		await until(id, "up");
		await backend.write(id, Buffer.from("\x1a~.\r~C\r"));
		await until(id, "~C");
		await backend.write(id, Buffer.from("\x03"));
		expect((await ended(id)).end).toMatchObject({ cause: "signal", signal: "SIGINT" });
	});

	test("variables and arguments are on no command line of ours, and nothing of them stays there", async () => {
		const { id } = await run(`echo "$WORD" | rev; exec sleep 60 # hush-argument`, {
			env: { ...ENV, WORD: "hush-value" },
			shownArgv: ["sh"],
		});
		await until(id, "eulav");
		const shown = readdirSync("/proc")
			.filter((name) => /^\d+$/.test(name))
			.map((pid) => readText(`/proc/${pid}/cmdline`));
		expect(shown.some((line) => line.includes("hush-value"))).toBe(false);
		expect(shown.some((line) => line.includes("ssh\0") && line.includes("hush-argument"))).toBe(false);
		const kept = [join(scene.host.home, "ssh"), join(stateFolder(), id)].flatMap((folder) =>
			readdirSync(folder).map((name) => readText(join(folder, name))),
		);
		expect(kept.length).toBeGreaterThan(0);
		expect(kept.join("")).not.toContain("hush");
		await backend.kill(id);
		// Removed once its end is recorded.
		await soon(() => existsSync(join(stateFolder(), id))).toBe(false);
	});

	test("a machine without awk and setsid does with its shell what that can", async () => {
		const other = new SshScene(await SshServer.start({ without: ["awk", "setsid"] }));
		try {
			const bare = await other.open();
			const start = async (script: string, options: Partial<SpawnRequest> = {}) => {
				const request = other.host.script(script, options);
				ids.push(request.id);
				return bare.spawn(request);
			};
			const [three, last, dies] = await Promise.all([
				start("exit 3"),
				start("exit 255"),
				start("kill -9 $$"),
			]);
			expect((await ended(three.id, bare)).end).toMatchObject({ cause: "exited", code: 3 });
			expect((await ended(last.id, bare)).end).toMatchObject({ cause: "exited", code: 255 });
			expect((await ended(dies.id, bare)).end).toMatchObject({ cause: "signal", signal: "SIGKILL" });
			const pty = { rows: 30, cols: 120 };
			for (const options of [{}, { pty }]) {
				const { id } = await start("trap '' TERM; sleep 60 & echo up; while :; do sleep 0.05; done", options);
				await until(id, "up", bare);
				expect(await bare.kill(id, { graceMs: 100 })).toEqual({ result: "killed", survivors: [] });
				expect((await bare.get(id)).end).toMatchObject({ cause: "killed", signal: "SIGKILL" });
			}
			const typed = await start("echo up; exec cat", { pty });
			await until(typed.id, "up", bare);
			await bare.write(typed.id, Buffer.from("\x03"));
			expect((await ended(typed.id, bare)).end).toMatchObject({ cause: "signal", signal: "SIGINT" });
			expect(await output(typed.id, bare)).toBe("up\r\n^C");
		} finally {
			await other.close();
		}
	});

	describe("never runs anything here, whatever keeps it from there:", () => {
		test.each<[string, () => Promise<Partial<SshBackendOptions>>, RegExp]>([
			["nobody listens", async () => ({ port: await silentPort() }), /refused/],
			["another key", async () => ({ identityFile: join(scene.server.folder, "other") }), /denied/],
			["a machine not known", async () => ({ knownHostsFile: "/dev/null" }), /[Hh]ost key/],
			["no such name", async () => ({ destination: "nobody@nowhere.invalid" }), /resolve/],
			["no ssh client", async () => ({ env: { PATH: "/nowhere" } }), /ENOENT/],
		])("%s", async (_, options, reason) => {
			const failing = await scene.open({ folder: file(`ssh-${ids.length}`), ...(await options()) });
			const info = await run(`touch ${file("ran")}`, {}, failing);
			expect(info).toMatchObject({ status: "failed_start", identity: null, survivors: [] });
			expect(info.end?.reason).toMatch(reason);
			expect(await failing.list()).toEqual([info]);
			expect(existsSync(file("ran"))).toBe(false);
			expect((await backend.list()).map(({ id }) => id)).not.toContain(info.id);
			await failing.remove(info.id);
			await expect(failing.get(info.id)).rejects.toMatchObject({ code: "process.unknown" });
		});
	});

	test.each<[string, Partial<SshBackendOptions>]>([
		["an option in place of a destination", { destination: "-oProxyCommand=touch x" }],
		["a destination with a space", { destination: "user@host x" }],
		["a port that is none", { port: 0 }],
		["an option with a space in its name", { options: { "ProxyCommand x": "y" } }],
	])("%s is refused", async (_, options) => {
		await expect(scene.open(options)).rejects.toMatchObject({ code: "argument.invalid" });
	});
});

async function silentPort(): Promise<number> {
	const server = await SshServer.start();
	const { port } = server.target;
	await server.close();
	return port;
}

function codeOf(error: unknown): string {
	return (error as { code: string }).code;
}

function readText(path: string): string {
	try {
		return readFileSync(path, "latin1");
	} catch {
		return "";
	}
}
