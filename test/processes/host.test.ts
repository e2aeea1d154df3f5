// One host per home: how it begins and ends, whom it lets in, and what is left of everything when it, or a client, is killed.
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { encodeFrame, type Frame, FrameReader } from "../../src/processes/frames.ts";
import { identityOf } from "../../src/processes/identity.ts";
import {
	connectHost,
	forgetProcess,
	type HostClient,
	inspect,
	killSurvivors,
	listHosts,
	readLog,
	removeProcess,
} from "../../src/processes/index.ts";
import { programFile } from "../support/programs.ts";
import { ENV, ended, gone, HostScene, readText, until } from "./support.ts";

const CLIENT = programFile(new URL("./client-child.ts", import.meta.url));
const MAIN = fileURLToPath(new URL("../../src/processes/host/main.ts", import.meta.url));

let scene: HostScene;

beforeEach(() => {
	scene = new HostScene();
});

afterEach(() => scene.close());

const inProcesses = (name: string) => join(scene.home, "processes", name);

async function logOf(id: string): Promise<string> {
	return (await readLog({ home: scene.home, id, from: 0, limit: 1e6 })).data.toString();
}

test("however many clients begin at once, there is one host", async () => {
	const connecting = Array.from({ length: 6 }, () =>
		connectHost({ home: scene.home, start: true, idleMs: 60_000 }),
	);
	const clients = await Promise.all(connecting);
	const pids = [...new Set(clients.map(({ hostPid }) => hostPid))];
	try {
		expect(pids).toHaveLength(1);
		await expect.poll(() => hostsOf(scene.home)).toEqual(pids);
		expect(await listHosts(scene.home)).toEqual([1]);
	} finally {
		for (const client of clients) await client.close();
		for (const pid of hostsOf(scene.home)) process.kill(pid, "SIGKILL");
	}
});

test("without leave to start one, a missing host is told", async () => {
	await expect(connectHost({ home: scene.home })).rejects.toMatchObject({ code: "process.host_gone" });
	expect(existsSync(join(scene.home, "processes"))).toBe(false);
	expect(await listHosts(scene.home)).toEqual([]);
});

test("a host holds nothing of who started it: not its directory, its session nor its environment", async () => {
	const { hostPid } = await scene.connect();
	expect(readlinkSync(`/proc/${hostPid}/cwd`)).toBe("/");
	expect(readFileSync(`/proc/${hostPid}/stat`, "utf8").split(") ")[1]?.split(" ")[3]).toBe(String(hostPid));
	expect(readFileSync(`/proc/${hostPid}/environ`, "utf8").split("\0").filter(Boolean)).toEqual([
		`PATH=${process.env.PATH}`,
	]);
	expect([0, 1].map((fd) => readlinkSync(`/proc/${hostPid}/fd/${fd}`))).toEqual(["/dev/null", "/dev/null"]);
});

test("a host goes when it has nothing to hold and nobody to talk to, and what it knew is known to the next", async () => {
	const first = await scene.connect();
	const { id } = await first.spawn(scene.script("echo kept; exit 3"));
	await ended(first, id);
	await first.close();
	await gone(first.hostPid);
	expect(existsSync(inProcesses("host-1.sock"))).toBe(false);
	expect(readFileSync(inProcesses("host-1.log"), "utf8")).toBe("");
	const second = await scene.connect();
	expect(second.hostPid).not.toBe(first.hostPid);
	expect(await second.list()).toMatchObject([{ id, status: "exited", end: { code: 3 }, logSize: 5 }]);
});

test("a host stays for what still writes to a log, with nobody there", async () => {
	const first = await scene.connect();
	const mark = join(scene.home, "mark");
	const { id } = await first.spawn(scene.script(`(sleep 1; touch ${mark}; sleep 0.1; echo late) & exit 0`));
	expect((await ended(first, id)).survivors).not.toEqual([]);
	await first.close();
	await expect.poll(() => existsSync(mark)).toBe(true);
	const second = await scene.connect();
	expect(second.hostPid).toBe(first.hostPid);
	await expect.poll(() => logOf(id)).toBe("late\n");
});

test("only its owner can read what a host keeps, and values of variables are in none of it", async () => {
	const client = await scene.connect();
	const secret = "correct horse battery staple";
	const { id } = await client.spawn(scene.script("echo hi", { env: { ...ENV, TOKEN: secret } }));
	await ended(client, id);
	const files = readdirSync(inProcesses("."), { recursive: true, withFileTypes: true });
	for (const entry of files) {
		const path = join(entry.parentPath, entry.name);
		const { mode } = statSync(path);
		expect([path, mode & 0o077]).toEqual([path, 0]);
		if (entry.isFile()) expect(readFileSync(path, "latin1")).not.toContain(secret);
	}
	expect(files.length).toBeGreaterThan(6);
});

test("who does not know the token is not let in", async () => {
	const client = await scene.connect();
	const token = readFileSync(inProcesses("host-1.token"), "utf8");
	for (const wrong of [
		"",
		"x",
		token.replace(/^./, (first) => (first === "0" ? "1" : "0")),
		`${token}0`,
		7,
	]) {
		const line = await dial();
		line.send({ hello: 1, token: wrong });
		expect(await line.rest()).toEqual([]);
	}
	const line = await dial();
	line.send({ seq: 1, op: "list" });
	expect((await line.rest()).filter(({ header }) => "value" in header)).toEqual([]);
	expect(await client.list()).toEqual([]);
});

test("a client of a later version is told so", async () => {
	await scene.connect();
	const line = await dial();
	line.send({ hello: 2, token: readFileSync(inProcesses("host-1.token"), "utf8") });
	expect(await line.rest()).toMatchObject([{ header: { error: { code: "process.host_version" } } }]);
});

test("hosts of several versions are listed, and dead sockets are not", async () => {
	await scene.connect();
	const older = createServer().listen(inProcesses("host-0.sock"));
	await once(older, "listening");
	writeFileSync(inProcesses("host-7.sock"), "");
	expect(await listHosts(scene.home)).toEqual([0, 1]);
	older.close();
});

test("a host that is stopped is said to be silent: to whoever comes, and to whoever asks", async () => {
	const first = await scene.connect();
	const { id } = await first.spawn(scene.script("read x"));
	const asking = await connectHost({ home: scene.home, answerMs: 1 });
	process.kill(first.hostPid, "SIGSTOP");
	try {
		await expect(connectHost({ home: scene.home })).rejects.toMatchObject({ code: "process.host_silent" });
		await expect(asking.get(id)).rejects.toMatchObject({ code: "process.host_silent" });
	} finally {
		process.kill(first.hostPid, "SIGCONT");
	}
	await asking.close();
	expect(await first.get(id)).toMatchObject({ status: "running" });
});

test("a connection that sends what is no frame is closed, and no other is disturbed", async () => {
	const client = await scene.connect();
	const { id } = await client.spawn(scene.script("read go; echo $go"));
	const token = readFileSync(inProcesses("host-1.token"), "utf8");
	for (const bytes of [Buffer.alloc(64, 255), Buffer.from("GET / HTTP/1.1\r\n\r\n"), Buffer.alloc(8)]) {
		const before = await dial();
		before.socket.write(bytes);
		expect(await before.rest()).toEqual([]);
		const inside = await dial();
		inside.send({ hello: 1, token });
		await inside.next();
		inside.socket.write(bytes);
		expect(await inside.rest()).toEqual([]);
	}
	const asking = await dial();
	asking.send({ hello: 1, token });
	await asking.next();
	for (const [header, code] of [
		[{ op: "explode", id }, "argument.invalid"],
		[{ op: "get" }, "argument.invalid"],
		[{ op: "get", id: "../.." }, "argument.invalid"],
		[{ op: "read", id, from: -1, limit: 1 }, "argument.invalid"],
		[{ op: "resize", id, rows: "1", cols: 1 }, "argument.invalid"],
		[{ op: "spawn", id: "proc_x", argv: "ls" }, "argument.invalid"],
	] as const) {
		asking.send({ seq: 1, ...header });
		expect((await asking.next()).header).toMatchObject({ seq: 1, error: { code } });
	}
	asking.socket.destroy();
	await client.write(id, Buffer.from("on\n"));
	await ended(client, id);
	expect(await logOf(id)).toBe("on\n");
});

test("a client that is killed leaves its processes as they are, and the next one finds them with all they wrote", async () => {
	const requests = [
		scene.script(
			"i=0; while [ $i -lt 3000 ]; do echo line $i; i=$((i+1)); done; echo ready; read go; echo got $go; exit 7",
		),
		scene.script("read go; exit 3"),
		scene.script("exit 5"),
		scene.script("stty -echo; echo ready; read go; echo got $go", { pty: { rows: 30, cols: 120 } }),
	];
	const [chatty, silent, brief, terminal] = requests.map(({ id }) => id) as [string, string, string, string];
	const child = spawn(process.execPath, [CLIENT, scene.home, JSON.stringify(requests)], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	const [said] = (await once(child.stdout, "data")) as [Buffer];
	child.kill("SIGKILL");
	await once(child, "exit");
	const client = await scene.connect();
	expect(client.hostPid).toBe(Number(said));
	expect((await ended(client, brief)).end).toMatchObject({ cause: "exited", code: 5 });
	expect((await client.list()).map(({ id }) => id)).toEqual(requests.map(({ id }) => id));
	await until(client, chatty, "ready\n");
	await until(client, terminal, "ready");
	for (const id of [chatty, silent, terminal]) await client.write(id, Buffer.from("it\n"));
	expect((await ended(client, chatty)).end?.code).toBe(7);
	expect((await ended(client, silent)).end?.code).toBe(3);
	expect((await ended(client, terminal)).end?.code).toBe(0);
	const lines = Array.from({ length: 3000 }, (_, index) => `line ${index}\n`).join("");
	expect(await logOf(chatty)).toBe(`${lines}ready\ngot it\n`);
	expect(await logOf(terminal)).toBe("ready\r\ngot it\r\n");
});

test("when the host is killed, clients are told, and its processes are lost, with what they wrote and what lives of them", async () => {
	const client = await scene.connect();
	const done = await client.spawn(scene.script("echo done; exit 4"));
	await ended(client, done.id);
	const stubborn = await client.spawn(
		scene.script("trap '' HUP PIPE TERM; echo up; while :; do sleep 0.1; done"),
	);
	const fragile = await client.spawn(scene.script("echo there; read go"));
	for (const [id, word] of [
		[stubborn.id, "up\n"],
		[fragile.id, "there\n"],
	] as const)
		await until(client, id, word);
	const told = new Promise<void>((resolve) => client.onGone(resolve));
	const following = (async () => {
		for await (const _ of client.follow(stubborn.id));
	})();
	const asked = client.kill(stubborn.id, { graceMs: 60_000 });
	await Promise.all([
		expect(following).rejects.toMatchObject({ code: "process.host_gone" }),
		expect(asked).rejects.toMatchObject({ code: "process.host_gone" }),
		kill(client),
		told,
	]);
	await expect(client.list()).rejects.toMatchObject({ code: "process.host_gone" });
	await gone(fragile.identity?.pid ?? 0);

	const found = await inspect(scene.home);
	expect(found).toMatchObject([
		{ id: done.id, status: "exited", end: { code: 4 }, survivors: [], logSize: 5 },
		{ id: stubborn.id, status: "lost", end: null },
		{ id: fragile.id, status: "lost", end: null, survivors: [], logSize: 6 },
	]);
	expect(found[1]?.survivors).toContain(stubborn.identity?.pid);
	expect(await logOf(stubborn.id)).toBe("up\n");
	await expect(forgetProcess(scene.home, stubborn.id)).rejects.toMatchObject({ code: "process.running" });
	await expect(removeProcess(scene.home, stubborn.id)).rejects.toMatchObject({ code: "process.running" });
	expect(await killSurvivors(scene.home, stubborn.id, { graceMs: 100 })).toEqual({
		result: "killed",
		survivors: [],
	});
	expect((await inspect(scene.home))[1]).toMatchObject({ status: "lost", end: null, survivors: [] });
	await removeProcess(scene.home, stubborn.id);

	const next = await scene.connect();
	expect((await next.list()).map(({ id, status }) => [id, status])).toEqual([
		[done.id, "exited"],
		[fragile.id, "lost"],
	]);
	expect(await next.kill(fragile.id)).toEqual({ result: "already_exited", survivors: [] });
	await next.forget(fragile.id);
	expect((await next.list()).map(({ id }) => id)).toEqual([done.id]);
});

test("the next host kills what the one before it lost, wherever that has moved", async () => {
	const first = await scene.connect();
	const { id } = await first.spawn(
		scene.script("trap '' PIPE TERM; setsid sleep 60 & echo up; exec setsid sleep 60"),
	);
	await until(first, id, "up");
	await kill(first);
	const second = await scene.connect();
	expect(await second.get(id)).toMatchObject({ status: "lost" });
	expect(await second.kill(id, { graceMs: 100 })).toEqual({ result: "killed", survivors: [] });
});

test("a pid that was given to somebody else is left alone", async () => {
	const stranger = spawn("sleep", ["60"], { stdio: "ignore", detached: true });
	const pid = stranger.pid ?? 0;
	const now = identityOf(pid);
	expect(now).not.toBeNull();
	const folder = inProcesses("proc_reused");
	mkdirSync(folder, { recursive: true });
	const meta = (identity: object) => ({
		argv: ["sleep"],
		cwd: "/",
		pty: null,
		startedAt: 1,
		host: { ...now, pid: 1, startTime: "0" },
		identity,
	});
	for (const other of [
		{ ...now, startTime: "1" },
		{ ...now, bootId: "another" },
		{ ...now, startTime: "" },
	]) {
		writeFileSync(join(folder, "meta.json"), JSON.stringify(meta(other)));
		expect(await inspect(scene.home)).toMatchObject([{ id: "proc_reused", status: "lost", survivors: [] }]);
		expect(await killSurvivors(scene.home, "proc_reused")).toEqual({
			result: "already_exited",
			survivors: [],
		});
	}
	expect(identityOf(pid)).toEqual(now);
	writeFileSync(join(folder, "meta.json"), JSON.stringify(meta(now as object)));
	expect(await inspect(scene.home)).toMatchObject([{ status: "lost", survivors: [pid] }]);
	expect(await killSurvivors(scene.home, "proc_reused")).toEqual({ result: "killed", survivors: [] });
});

test("a follower that does not keep up keeps nothing from the program, and is told what it missed", async () => {
	const client = await scene.connect();
	const { id } = await client.spawn(
		scene.request(["head", "-c", "150000000", "/dev/zero"], { maxLogBytes: 2 * 1024 * 1024 }),
	);
	let seen = 0;
	let lost = 0;
	let isFirst = true;
	for await (const piece of client.follow(id)) {
		expect(piece.from).toBe(seen + lost + piece.lost);
		seen += piece.data.length;
		lost += piece.lost;
		if (isFirst) expect((await ended(client, id)).logSize).toBe(150_000_000);
		isFirst = false;
	}
	expect(seen + lost).toBe(150_000_000);
	expect(lost).toBeGreaterThan(100_000_000);
});

test("a host takes note of every end: none of its children stays a zombie", async () => {
	const client = await scene.connect();
	const requests = Array.from({ length: 24 }, (_, index) =>
		scene.script("exit 0", { pty: index % 2 ? { rows: 5, cols: 5 } : null }),
	);
	const started = await Promise.all(requests.map((request) => client.spawn(request)));
	for (const { id } of started) await ended(client, id);
	expect(childrenOf(client.hostPid)).toEqual([]);
	expect(openFiles(client.hostPid).filter((file) => /ptmx|\/proc_/.test(file))).toEqual([]);
});

test("out of open files, a start fails with the reason, and the host goes on", async () => {
	mkdirSync(inProcesses("."), { recursive: true, mode: 0o700 });
	const host = spawn(
		"sh",
		[
			"-c",
			'ulimit -n 48; exec "$0" --disable-warning=ExperimentalWarning "$@"',
			process.execPath,
			MAIN,
			scene.home,
			"300",
		],
		{
			stdio: ["ignore", "ignore", "inherit"],
		},
	);
	await expect.poll(() => existsSync(inProcesses("host-1.sock"))).toBe(true);
	const client = await scene.connect();
	expect(client.hostPid).toBe(host.pid);
	const infos = [];
	for (let i = 0; i < 16; i++) infos.push(await client.spawn(scene.request(["sleep", "60"])));
	const failed = infos.filter(({ status }) => status === "failed_start");
	expect(failed.length).toBeGreaterThan(0);
	expect(failed[0]?.end?.reason).toMatch(/EMFILE|EBADF|too many open files/i);
	for (const { id, status } of infos) if (status === "running") await client.kill(id, { graceMs: 0 });
	const { id } = await client.spawn(scene.script("echo again"));
	await ended(client, id);
	expect(await logOf(id)).toBe("again\n");
});

/** Every host that runs for a home. */
function hostsOf(home: string): number[] {
	return readdirSync("/proc")
		.filter((name) => /^\d+$/.test(name))
		.filter((pid) => {
			const words = readText(`/proc/${pid}/cmdline`).split("\0");
			return /main\.[jt]s$/.test(words[words.indexOf(home) - 1] ?? "");
		})
		.map(Number);
}

async function kill(client: HostClient): Promise<void> {
	process.kill(client.hostPid, "SIGKILL");
	await gone(client.hostPid);
}

/** A client that says what it likes. */
async function dial(): Promise<{
	readonly socket: Socket;
	send(header: object): void;
	next(): Promise<Frame>;
	/** Until the other side closes. */
	rest(): Promise<Frame[]>;
}> {
	const socket = connect(inProcesses("host-1.sock"));
	await once(socket, "connect");
	const reader = new FrameReader();
	const frames: Frame[] = [];
	let wake = () => {};
	socket.on("data", (chunk: Buffer) => {
		frames.push(...reader.read(chunk));
		wake();
	});
	socket.on("error", () => {});
	const closed = new Promise<void>((resolve) => socket.on("close", () => resolve()));
	return {
		socket,
		send: (header) => {
			for (const part of encodeFrame(header)) socket.write(part);
		},
		next: async () => {
			for (;;) {
				const frame = frames.shift();
				if (frame) return frame;
				await new Promise<void>((resolve) => {
					wake = resolve;
				});
			}
		},
		rest: async () => {
			await closed;
			return frames.splice(0);
		},
	};
}

/** In KB. */
function childrenOf(parent: number): string[] {
	return readdirSync("/proc").filter((name) => {
		if (!/^\d+$/.test(name)) return false;
		try {
			return (
				readFileSync(`/proc/${name}/stat`, "latin1").split(") ").at(-1)?.split(" ")[1] === String(parent)
			);
		} catch {
			return false;
		}
	});
}

function openFiles(pid: number): string[] {
	return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
		try {
			return readlinkSync(`/proc/${pid}/fd/${fd}`);
		} catch {
			return [];
		}
	});
}
