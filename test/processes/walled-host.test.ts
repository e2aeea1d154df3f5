// The host and its walls: what is on the disk, what lives on when it dies, and what it keeps from a program.
import { randomBytes } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { encodeFrame } from "../../src/processes/frames.ts";
import {
	connectHost,
	type HostClient,
	inspect,
	killSurvivors,
	readLog,
	type SpawnRequest,
} from "../../src/processes/index.ts";
import { livingMembers } from "../../src/processes/members.ts";
import { hostPaths } from "../../src/processes/protocol.ts";
import { isNamespaceAlive, readStatus } from "../../src/walls/index.ts";
import { processesWith } from "../walls/scene.ts";
import { ENV, ended, gone, until } from "./support.ts";
import { WalledScene } from "./walled-scene.ts";

/** How often the host is killed right after a start. */
const KILLS = Number(process.env.KERYX_CRASH_RUNS ?? 8);
let scene: WalledScene;

beforeEach(() => {
	scene = new WalledScene();
});

afterEach(() => scene.close());

const behind = (script: string, options: Partial<SpawnRequest> = {}) =>
	scene.script(script, { cwd: scene.workspace, wall: scene.wall("view"), ...options });
const statusOf = (id: string) => readStatus(join(scene.home, "processes", id, "wall"));
const logOf = async (id: string) =>
	(await readLog({ home: scene.home, id, from: 0, limit: 1e6 })).data.toString();

async function kill(client: HostClient): Promise<void> {
	process.kill(client.hostPid, "SIGKILL");
	await gone(client.hostPid);
}

/** A double fork with a cleared environment, and one in a session of its own. */
const daemons = (mark: string) =>
	`env -i /bin/sh -c '(/bin/sleep 600.${mark} &)'; setsid sleep 600.${mark} & env -i setsid /bin/sleep 600.${mark} & echo up;`;
const drawMark = () => String(Number.parseInt(randomBytes(4).toString("hex"), 16));

test("its daemons are gone with it, whether it ends or is killed, and none is a survivor", async () => {
	const client = await scene.connect();
	for (const [end, status] of [
		["exit 6", "exited"],
		["sleep 600", "killed"],
	] as const)
		for (const pty of [null, { rows: 24, cols: 80 }]) {
			const mark = drawMark();
			const { id } = await client.spawn(behind(`${daemons(mark)} ${end}`, { pty }));
			await until(client, id, "up");
			if (status === "killed")
				expect(await client.kill(id, { graceMs: 100 })).toMatchObject({ result: "killed", survivors: [] });
			expect(await ended(client, id)).toMatchObject({ status, survivors: [] });
			expect(processesWith(mark)).toEqual([]);
		}
});

test("killed at once after its start, nothing of it is left", async () => {
	const client = await scene.connect();
	const mark = drawMark();
	for (let i = 0; i < 10; i++) {
		const { id } = await client.spawn(
			behind(`${daemons(mark)} sleep 600`, { pty: i % 2 ? { rows: 5, cols: 5 } : null }),
		);
		expect(await client.kill(id, { graceMs: 0 })).toMatchObject({ result: "killed", survivors: [] });
		expect(processesWith(mark)).toEqual([]);
	}
});

describe("when the host dies", () => {
	test("a program lives on, is found by its namespace, and is ended with what hides from its mark", async () => {
		const client = await scene.connect();
		const mark = drawMark();
		// Without its environment, and with the mark of the namespace's first process wiped out, nothing else tells whose it is.
		const wipe = `perl -e 'open S, "/proc/1/stat"; my @s = split " ", <S> =~ s/.*\\) //r; open M, "+<", "/proc/1/mem"; sysseek M, $s[47], 0; syswrite M, "x" x ($s[48] - $s[47])'`;
		const script = `trap '' PIPE; ${wipe}; ${daemons(mark)} exec env -i /bin/sleep 600.${mark}`;
		const { id, identity } = await client.spawn(behind(script));
		await until(client, id, "up");
		// The four of them, and the launcher's two, whose arguments hold the script.
		await expect.poll(() => processesWith(mark).length).toBe(6);
		await kill(client);
		// The launcher, too: as long as it lives, everything is a descendant of it.
		process.kill(identity?.pid ?? 0, "SIGKILL");
		await gone(identity?.pid ?? 0);
		const alive = processesWith(mark);
		expect(alive).toHaveLength(5);
		const { namespace } = statusOf(id);
		expect(namespace && isNamespaceAlive(namespace)).toBe(true);
		const byNamespace = livingMembers({ id: "nobody", leader: null, witnesses: [], namespace }).map(
			({ pid }) => pid,
		);
		expect(byNamespace.sort()).toEqual(alive.sort());
		const [lost] = await inspect(scene.home);
		expect(lost).toMatchObject({ id, status: "lost" });
		expect(lost?.survivors).toEqual(expect.arrayContaining([...alive, namespace?.pid]));
		expect(await killSurvivors(scene.home, id, { graceMs: 0 })).toMatchObject({
			result: "killed",
			survivors: [],
		});
		expect(processesWith(mark)).toEqual([]);
		expect((await inspect(scene.home))[0]?.survivors).toEqual([]);
	});

	test("right after a start, nothing runs on that nobody knows of", {
		timeout: 120_000 + KILLS * 5000,
	}, async () => {
		const before = new Set<string>();
		for (let i = 0; i < KILLS; i++) {
			const client = await scene.connect();
			const mark = drawMark();
			const request = behind(`${daemons(mark)} sleep 600`, { pty: i % 3 ? null : { rows: 5, cols: 5 } });
			const spawning = client.spawn(request).catch(() => null);
			const moment = performance.now() + ((i * 6) % 48);
			while (performance.now() < moment) await delay(0);
			await kill(client);
			await spawning;
			const next = await scene.connect();
			// The launcher may still be at work; whatever it starts is known by then.
			const begun = (await next.list()).filter(({ id }) => !before.has(id));
			for (const { id } of begun) {
				before.add(id);
				await next.kill(id, { graceMs: 0 });
			}
			await next.close();
			expect([i, processesWith(mark)]).toEqual([i, []]);
		}
	});
});

test("what the host notes of a wall holds no variable, and only its owner can read it", async () => {
	const client = await scene.connect();
	const secret = randomBytes(12).toString("hex");
	const { id } = await client.spawn(behind("echo $TOKEN | tr a-f A-F", { env: { ...ENV, TOKEN: secret } }));
	await ended(client, id);
	expect((await logOf(id)).trim()).toBe(secret.toUpperCase());
	const folder = join(scene.home, "processes", id);
	for (const name of readdirSync(folder)) {
		expect([name, statSync(join(folder, name)).mode & 0o077]).toEqual([name, 0]);
		expect(readFileSync(join(folder, name), "latin1")).not.toContain(secret);
	}
	expect(readdirSync(folder)).toContain("wall");
});

test("a program behind a wall gets no terminal of anybody else", async () => {
	const client = await scene.connect();
	const pty = { rows: 24, cols: 80 };
	const terminals = [
		await client.spawn(scene.script("echo up; sleep 600", { pty })),
		await client.spawn(behind("echo up; sleep 600", { pty })),
	];
	for (const { id } of terminals) await until(client, id, "up");
	const list = `perl -e 'opendir D, "/proc/self/fd"; print readlink("/proc/self/fd/$_"), "\\n" for readdir D'`;
	for (const own of [null, pty]) {
		const { id } = await client.spawn(behind(list, { pty: own }));
		await ended(client, id);
		expect(await logOf(id)).not.toMatch(/ptmx|operator|host-1\b/);
	}
	for (const { id } of terminals) await client.kill(id, { graceMs: 0 });
});

test("folders that cannot be bound are refused to the caller, and nothing is left behind", async () => {
	const client = await scene.connect();
	const request = behind("true", { wall: scene.wall("box", { workspace: scene.home }) });
	await expect(client.spawn(request)).rejects.toMatchObject({ code: "wall.path" });
	await expect(client.get(request.id)).rejects.toMatchObject({ code: "process.unknown" });
	const { machine, wall } = scene.wall("view");
	for (const wrong of [
		{ machine, wall: { ...wall, kind: "none" } },
		{ machine, wall: { ...wall, read: "all" } },
		{ machine, wall: { ...wall, limits: { openFiles: -1, memoryBytes: null } } },
		{ machine: { ...machine, etc: null }, wall },
		{ wall },
		7,
	])
		await expect(client.spawn(behind("true", { wall: wrong as never }))).rejects.toMatchObject({
			code: "argument.invalid",
		});
});

test("a wall that cannot be made is a failed start, with bubblewrap's words", async () => {
	const client = await scene.connect();
	for (const pty of [null, { rows: 24, cols: 80 }]) {
		const request = scene.script("true", { cwd: scene.home, wall: scene.wall("box"), pty });
		const info = await client.spawn(request);
		expect(await ended(client, info.id)).toMatchObject({
			status: "failed_start",
			end: { cause: "failed_start", code: null, reason: expect.stringContaining(scene.home) },
		});
	}
});

test("a program in /tmp is the conversation's, which only the wall can see", async () => {
	const client = await scene.connect();
	writeFileSync(join(scene.tmp, "tool"), "#!/bin/sh\necho found\n", { mode: 0o755 });
	const { id } = await client.spawn(scene.request(["/tmp/tool"], { cwd: "/tmp", wall: scene.wall("view") }));
	expect(await ended(client, id)).toMatchObject({ status: "exited", end: { code: 0 } });
	expect(await logOf(id)).toBe("found\n");
	const missing = await client.spawn(scene.request(["/tmp/none"], { cwd: "/tmp", wall: scene.wall("view") }));
	expect(await ended(client, missing.id)).toMatchObject({ status: "exited", end: { code: 127 } });
});

test("a host of before walls is not asked to make one: nothing is started", async () => {
	const paths = hostPaths(scene.home);
	mkdirSync(join(scene.home, "processes"));
	writeFileSync(paths.token, "token");
	const asked: string[] = [];
	const older = createServer((socket) => {
		socket.once("data", () => {
			for (const part of encodeFrame({ hello: 1, pid: 1 })) socket.write(part);
			socket.on("data", (data) => asked.push(data.toString("latin1")));
		});
	});
	await new Promise<void>((resolve) => older.listen(paths.socket, resolve));
	const client = await connectHost({ home: scene.home });
	expect(client.canWall).toBe(false);
	await expect(client.spawn(behind("true"))).rejects.toMatchObject({ code: "process.host_version" });
	expect(asked).toEqual([]);
	await client.close();
	older.close();
});
