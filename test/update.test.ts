// Updates between packed versions, under load, with kills at every step: always a running Keryx of one version or the other, and nothing
// lost. `npm run test:crash` makes 20 of them, and waits for a version that hangs (KERYX_UPDATE_RUNS).
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import Database from "better-sqlite3";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createClient, socketTransport } from "../src/http/client/index.ts";
import { type Change, fetched, install, MIGRATES, pack, withDependencies } from "./support/packed.ts";
import { eventually } from "./support/soon.ts";

const RUNS = Number(process.env.KERYX_UPDATE_RUNS ?? 2);
const isLong = RUNS > 2;
const root = realpathSync(mkdtempSync(join(tmpdir(), "keryx-update-")));
const home = join(root, "h");
const versions = join(home, "versions");
const env = {
	PATH: process.env.PATH,
	HOME: root,
	TZ: "UTC",
	KERYX_HOME: home,
	XDG_DATA_HOME: join(root, "data"),
	KERYX_HTTP_PORT: "0",
	NO_COLOR: "1",
};
const [A, B, C] = ["0.1.0", "0.2.0", "0.3.0"];
const packed = new Map<string, string>();
let launcher = "";
let service: Service;

beforeAll(() => {
	withDependencies(root);
	for (const version of [A, B]) packed.set(version, pack(root, version));
	launcher = install(join(root, "own"), packed.get(A) as string);
	// The other one is fetched with npm.
	fetched(home, A, packed.get(A) as string);
	service = new Service();
}, 300_000);
afterAll(async () => {
	await service.stop();
	rmSync(root, { recursive: true, force: true });
});

/** Starts Keryx again when it has failed, as a service manager does. */
class Service {
	#child: ChildProcess;
	#isStopping = false;
	said = "";

	constructor() {
		this.#child = this.#start();
	}

	get pid(): number {
		return this.#child.pid as number;
	}

	#start(): ChildProcess {
		const child = spawn(process.execPath, [launcher], { env, stdio: ["ignore", "pipe", "pipe"] });
		for (const stream of [child.stdout, child.stderr]) stream?.on("data", (data) => (this.said += data));
		child.once("exit", (code) => {
			if (code !== 0 && !this.#isStopping) this.#child = this.#start();
		});
		return child;
	}

	async stop(): Promise<void> {
		this.#isStopping = true;
		const gone = new Promise((resolve) => this.#child.once("exit", resolve));
		this.#child.kill("SIGTERM");
		await gone;
	}
}

interface Health {
	readonly version: string;
	readonly pid: number;
}

function health(): Promise<Health | null> {
	return new Promise((resolve) => {
		const asking = request({ socketPath: join(home, "keryx.sock"), path: "/health" }, (answer) => {
			let text = "";
			answer.on("data", (data) => (text += data));
			answer.on("end", () => resolve(JSON.parse(text) as Health));
			answer.on("error", () => resolve(null));
		});
		asking.on("error", () => resolve(null));
		asking.end();
	});
}

/** Looks again until something is found; a look in vain says what Keryx said. */
function found<Value>(what: string, look: () => Value | Promise<Value>): Promise<NonNullable<Value>> {
	return eventually(
		async () => (await look()) || expect.fail(`never: ${what}\n${service.said}`),
		600_000,
	) as Promise<NonNullable<Value>>;
}

/** It runs, and no update is under way. */
function settled(): Promise<Health> {
	return found("a running Keryx, and no update", async () => {
		const running = await health();
		return existsSync(join(versions, "journal.json")) ? null : running;
	});
}

function phase(): string | null {
	try {
		return JSON.parse(readFileSync(join(versions, "journal.json"), "utf8")).phase;
	} catch {
		return null;
	}
}

interface Updater {
	readonly child: ChildProcess;
	readonly said: () => string;
	readonly ended: Promise<number | null>;
}

function update(to: string): Updater {
	const words = [launcher, "update", "--to", packed.get(to) as string];
	const child = spawn(process.execPath, words, { env, stdio: ["ignore", "pipe", "pipe"] });
	let said = "";
	for (const stream of [child.stdout, child.stderr]) stream.on("data", (data) => (said += data));
	const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
	return { child, said: () => said, ended };
}

/** How many messages of one sender may wait for their answers. */
const UNANSWERED = 10;
/** Between two messages of a sender. Without it, the load takes the cores from what it is a load for; long runs go without. */
const PACE_MS = isLong ? 0 : 50;

/** Sends messages, each until it is taken. */
class Load {
	readonly taken: string[] = [];
	#isOn = true;
	readonly #senders: Promise<void>[];

	constructor(count: number) {
		this.#senders = Array.from({ length: count }, (_, n) => this.#send(n));
	}

	async #send(sender: number): Promise<void> {
		const bearer = readFileSync(join(home, "operator.secret"), "utf8").trim();
		const client = createClient(socketTransport(join(home, "keryx.sock"), { bearer }));
		for (let n = 0; this.#isOn; n++) {
			const id = `load-${sender}-${n}`;
			const source = {
				platform: "api_server",
				chat_id: `chat-${sender}`,
				chat_type: "dm",
				user_id: "ada",
			} as const;
			const message = await found(`${id} is taken`, () =>
				client.send({ source, text: `hello ${n}`, client_message_id: id }).catch(() => null),
			);
			this.taken.push(id);
			await pause(PACE_MS);
			// Never more than a few wait, however slow the machine is.
			if (n % UNANSWERED === 0)
				await found(`${id} is answered`, () =>
					client.inbound({ id: message.id, wait: 30 }).then(
						({ disposition }) => disposition,
						() => null,
					),
				);
		}
	}

	async stop(): Promise<void> {
		this.#isOn = false;
		await Promise.all(this.#senders);
	}
}

/** Ends these; the one that runs is asked for its process when it is time. */
const VICTIMS = ["updater", "launcher", "new version"] as const;
type Kill = readonly [victim: (typeof VICTIMS)[number], at: string] | null;
const KILLS: readonly Kill[] = [
	["launcher", "held"],
	null,
	["updater", "Fetching"],
	["updater", "Trying"],
	["updater", "asked"],
	["updater", "saving"],
	["updater", "held"],
	["updater", "going"],
	["launcher", "asked"],
	["launcher", "saving"],
	["launcher", "going"],
	["new version", "held"],
	["new version", "going"],
];

/** Whether the kill came in time: a step may be over before anybody sees it. */
async function killed([victim, at]: NonNullable<Kill>, { child, said, ended }: Updater): Promise<boolean> {
	let isOver = false;
	void ended.then(() => (isOver = true));
	const isThere = await found(`${victim} at ${at}`, () =>
		isOver ? "over" : phase() === at || said().includes(at) ? "there" : null,
	);
	if (isThere === "over") return false;
	if (victim === "updater") child.kill("SIGKILL");
	if (victim === "launcher") process.kill(service.pid, "SIGKILL");
	if (victim === "new version") {
		const [pid] = childrenOf(service.pid);
		if (pid === undefined) return false;
		process.kill(pid, "SIGKILL");
	}
	return true;
}

function childrenOf(pid: number): number[] {
	return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
		.trim()
		.split(" ")
		.filter(Boolean)
		.map(Number);
}

function rows(sql: string): unknown[] {
	const db = new Database(join(home, "keryx.db"), { readonly: true });
	try {
		return db.prepare(sql).pluck().all();
	} finally {
		db.close();
	}
}

test("a gateway begins with its own settings for memory, in the process that was started", async () => {
	const { pid } = await settled();
	expect(pid).toBe(service.pid);
	expect(settingsOf(pid)).toEqual(["MALLOC_ARENA_MAX=1", "MALLOC_TRIM_THRESHOLD_=131072"]);
});

/** For glibc, sorted. */
function settingsOf(pid: number): string[] {
	const all = readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
	return all.filter((setting) => setting.startsWith("MALLOC_")).sort();
}

test(`${RUNS} updates under load, with kills: a Keryx of one version or the other runs, and nothing is lost`, async () => {
	await settled();
	const load = new Load(isLong ? 4 : 2);
	for (let run = 0; run < RUNS; run++) {
		const { version: from } = await settled();
		const to = from === A ? B : A;
		const kill = KILLS[run % KILLS.length] ?? null;
		const began = performance.now();
		const updater = update(to);
		const isKilled = kill === null ? false : await killed(kill, updater);
		const code = await updater.ended;
		const { version: now, pid } = await settled();
		const seconds = ((performance.now() - began) / 1000).toFixed(1);
		if (isLong)
			console.log(
				`${run + 1}. ${from} -> ${to}, ${isKilled ? `kill ${kill?.join(" at ")}` : "no kill"}: ${now}, ${seconds} s`,
			);
		if (kill === null)
			expect([code, updater.said()]).toEqual([
				0,
				expect.stringContaining(`Updated Keryx from ${from} to ${to}.`),
			]);
		expect([from, to]).toContain(now);
		expect(settingsOf(pid)).toHaveLength(2);
		// Commands follow what runs.
		if (existsSync(join(versions, "current.json")))
			expect(JSON.parse(readFileSync(join(versions, "current.json"), "utf8")).version).toBe(now);
	}
	await load.stop();
	if (isLong) console.log(`${load.taken.length} messages`);
	await found(
		"every message is answered",
		() => rows("SELECT count(*) FROM inbox WHERE disposition IS NULL")[0] === 0,
	);
	expect(rows("SELECT platform_message FROM inbox WHERE platform = 'api_server'").sort()).toEqual(
		[...load.taken].sort(),
	);
	expect(load.taken.length).toBeGreaterThan(RUNS);
}, 1_800_000);

test("a version that cannot start is undone, with its change of the store", async () => {
	await settled();
	const from = (await settled()).version;
	const schema = rows("SELECT user_version FROM pragma_user_version")[0];
	// It changes the store, and then ends or hangs before it is let go.
	const broken: Change = isLong
		? ["src/update/held.ts", "process.send?.({ prepared", "void ({ prepared"]
		: ["src/update/held.ts", "process.send?.({ prepared", "process.exit(7); void ({ prepared"];
	packed.set(C, pack(root, C, [MIGRATES, broken]));
	fetched(home, C, packed.get(C) as string);
	const updater = update(C);
	await found("the new version is started", () => phase() === "held" || updater.child.exitCode !== null);
	const began = performance.now();
	expect(await updater.ended).toBe(1);
	expect(updater.said()).toContain(`the update to ${C} was not made`);
	expect((await settled()).version).toBe(from);
	const seconds = (performance.now() - began) / 1000;
	console.log(`switched back ${seconds.toFixed(1)} s after it was started`);
	expect(rows("SELECT user_version FROM pragma_user_version")[0]).toBe(schema);
	expect(service.said).toContain(`the update to ${C} was undone`);
}, 300_000);
