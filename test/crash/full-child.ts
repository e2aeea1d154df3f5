// A disk runs full in the middle of a group, twice; the first time space is freed under the running store, the second time the
// process is killed. `full-child.ts <folder> <notes> tmpfs|limit fill|free`; the folder is on a small disk of its own, or the
// size of files is limited. What it finds goes to stdout, as JSON.
import { resolvePolicy } from "../../src/config/index.ts";
import "../support/keep-compiled.ts";
import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, statfsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Store } from "../../src/store/index.ts";
import { hello, open, refusal } from "./support.ts";

const [folder = "", notes = "", disk, phase] = process.argv.slice(2);
const path = join(folder, "store.db");
const ballast = join(folder, "ballast");
/** What is left free: enough for a few groups. */
const LEFT = 300_000;
const WAVE = 16;
const POLICY = resolvePolicy({ mode: "none" }, { platform: "telegram", chatType: "dm" });
let sent = 0;

interface Notes {
	/** By platform message id, the id that the store gave. */
	readonly acknowledged: Record<string, number>;
	readonly failed: string[];
	readonly codes: string[];
	readonly hints: string[];
}

const noted: Notes =
	phase === "fill"
		? { acknowledged: {}, failed: [], codes: [], hints: [] }
		: (JSON.parse(readFileSync(notes, "utf8")) as Notes);

if (phase === "fill") await fillTwice();
else console.log(JSON.stringify({ ...noted, ...(await freeAndLook()) }));

async function fillTwice(): Promise<void> {
	const store = await open(path);
	await wave(store);
	const turn = await begun(store);
	fill();
	while (noted.failed.length === 0) await wave(store);
	// An operation of many rows, refused as a whole.
	const { code } = await refusal(end(store, turn));
	noted.codes.push(code);
	const halfDone = await store.turn({ scope: { kind: "operator" }, id: turn.turn });
	if (halfDone.state !== "running" || halfDone.deliveries.length > 0)
		throw new Error("half of a turn's end is there");
	await assertAbsent(store, noted.failed);

	free();
	await end(store, turn);
	await again(store);
	fill();
	while (noted.failed.length === 0) await wave(store);
	writeFileSync(notes, JSON.stringify(noted));
	process.kill(process.pid, "SIGKILL");
}

async function freeAndLook(): Promise<{ opening: string; problems: readonly string[]; retried: number }> {
	const opening = disk === "tmpfs" ? await openWhenFull() : "store.full";
	free();
	await (await open(join(folder, "other.db"))).close();
	const store = await open(path);
	for (const [platformMessage, id] of Object.entries(noted.acknowledged)) {
		const item = await store.inboxItem({ scope: { kind: "operator" }, id });
		if (item.platformMessage !== platformMessage) throw new Error(`${platformMessage} is not there`);
	}
	await assertAbsent(store, noted.failed);
	const retried = noted.failed.length;
	await again(store);
	const { problems } = await store.checkIntegrity({ scope: { kind: "operator" } });
	await store.close();
	return { opening, problems, retried };
}

/** Not a byte is left for a new store. */
async function openWhenFull(): Promise<string> {
	const last = join(folder, "last");
	writeFileSync(last, Buffer.alloc(freeBytes()));
	const { code } = await refusal(open(join(folder, "other.db")));
	rmSync(last);
	return code;
}

/** Several at once, so that they share a commit; notes which were acknowledged and how the others failed. */
async function wave(store: Store): Promise<void> {
	const ids = Array.from({ length: WAVE }, () => `m${++sent}`);
	const results = await Promise.allSettled(ids.map((id) => store.accept(hello(id, "x".repeat(3000)))));
	for (const [index, result] of results.entries()) {
		const id = ids[index] as string;
		if (result.status === "fulfilled") noted.acknowledged[id] = result.value.id;
		else {
			const { code, hint } = await refusal(Promise.reject(result.reason));
			noted.failed.push(id);
			noted.codes.push(code);
			noted.hints.push(hint);
		}
	}
}

/** What failed is sent again, and is new to the store. */
async function again(store: Store): Promise<void> {
	for (const platformMessage of noted.failed.splice(0)) {
		const { id, duplicate } = await store.accept(hello(platformMessage, "again"));
		if (duplicate) throw new Error(`${platformMessage} had failed and is there`);
		noted.acknowledged[platformMessage] = id;
	}
}

async function assertAbsent(store: Store, platformMessages: readonly string[]): Promise<void> {
	for (const platformMessage of platformMessages) {
		const ref = { platform: "telegram", account: "", chat: "1", platformMessage };
		const { code } = await refusal(store.conversation({ scope: { kind: "operator" }, ref }));
		if (code !== "store.not_found") throw new Error(`${platformMessage}: ${code}`);
	}
}

interface Begun {
	readonly turn: string;
	readonly token: number;
}

async function begun(store: Store): Promise<Begun> {
	const { id, conversation } = await store.accept(hello("turn"));
	const turn = await store.beginTurn({
		conversation: conversation as NonNullable<typeof conversation>,
		inbox: [id],
		policy: POLICY,
		context: "",
		autoContinueFreshness: 3600,
		deadlineAt: Date.now() + 600_000,
	});
	if (turn.kind !== "begun") throw new Error(turn.kind);
	return turn;
}

function end(store: Store, { turn, token }: Begun): ReturnType<Store["endTurn"]> {
	const body = { text: "x".repeat(400_000), plain: "x" };
	const destination = { platform: "telegram", account: "", chatId: "1" };
	return store.endTurn({
		turn,
		token,
		outcome: { kind: "completed" },
		messages: [{ role: "assistant", content: "done", index: 1 }],
		deliveries: [{ id: `${turn}:0`, kind: "reply", destination, body }],
		policy: POLICY,
	});
}

function fill(): void {
	if (disk === "tmpfs") writeFileSync(ballast, Buffer.alloc(freeBytes() - LEFT));
	else limitFiles(String(statSync(`${path}-wal`).size + LEFT));
}

function free(): void {
	if (disk === "tmpfs") rmSync(ballast);
	else limitFiles("unlimited");
}

function freeBytes(): number {
	const { bavail, bsize } = statfsSync(folder);
	return bavail * bsize;
}

function limitFiles(bytes: string): void {
	const command = ["prlimit", "--pid", String(process.pid), `--fsize=${bytes}:`] as const;
	execFileSync(command[0], command.slice(1));
}
