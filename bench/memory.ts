// What a built Keryx takes: while it has nothing to do, after many messages, with --full a million; and how soon it is ready with many
// conversations in its store.
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, openStore, systemIds } from "../src/store/index.ts";
import { addConversations } from "./gateway-data.ts";
import { atMost, measured, median, type Row } from "./harness.ts";
import { sayMany } from "./memory-load.ts";
import { startGateway } from "./start.ts";

const CONVERSATIONS = 100_000;
const SAMPLES = 3;
/** Threads that only the start needed end after 10 s, and then its garbage is collected. */
const SETTLE_MS = 30_000;
const IDLE_BAR_MIB = 120;
const MORE_BAR_MIB = 30;
const READY_BAR_MS = 1000;
const USED_BAR_MIB = 250;
const MESSAGES = [20_000, 100_000];
const MILLION = 1_000_000;

export async function measureMemory({ full }: { readonly full: boolean }): Promise<Row[]> {
	const folder = mkdtempSync(join(tmpdir(), "keryx-memory-"));
	try {
		const empty = await taken(join(folder, "empty"));
		const home = join(folder, "many");
		await fill(home);
		const many = await taken(home);
		const with_ = `with ${CONVERSATIONS.toLocaleString("en")} conversations`;
		return [
			atMost(IDLE_BAR_MIB, measured("idle Keryx, RSS", empty.rss, "MiB")),
			measured("of this, Node's own program and libraries", empty.files, "MiB"),
			atMost(MORE_BAR_MIB, measured(`more, ${with_}`, many.rss - empty.rss, "MiB")),
			measured("gateway to its first answer, an empty store", empty.ms, "ms"),
			atMost(READY_BAR_MS, measured(`gateway to its first answer, ${with_}`, many.ms, "ms")),
			...(await used(join(folder, "used"), full ? [...MESSAGES, MILLION] : MESSAGES)),
		];
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
}

interface Taken {
	readonly ms: number;
	/** In MiB, and how much of it stands for files, which programs share. */
	readonly rss: number;
	readonly files: number;
}

async function taken(home: string): Promise<Taken> {
	const all: Taken[] = [];
	for (let n = 0; n < SAMPLES; n++) {
		let found = { rss: Number.NaN, files: Number.NaN };
		const { ms } = await startGateway(home, async (pid) => {
			await delay(SETTLE_MS);
			found = memoryOf(pid);
		});
		all.push({ ms, ...found });
	}
	const middle = (of: (one: Taken) => number) => median(all.map(of));
	return { ms: middle(({ ms }) => ms), rss: middle(({ rss }) => rss), files: middle(({ files }) => files) };
}

function memoryOf(pid: number): Pick<Taken, "rss" | "files"> {
	const status = readFileSync(`/proc/${pid}/status`, "utf8");
	const of = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(status)?.[1]) / 1024;
	return { rss: of("VmRSS"), files: of("RssFile") };
}

/** Right after the last answer of so many messages in all: nothing is waited for. */
async function used(home: string, counts: readonly number[]): Promise<Row[]> {
	const rows: Row[] = [];
	await startGateway(home, async (pid) => {
		let said = 0;
		for (const count of counts) {
			await sayMany(home, count - said);
			said = count;
			const { rss } = memoryOf(pid);
			const row = measured(`RSS after ${count.toLocaleString("en")} messages`, rss, "MiB");
			rows.push(count === counts.at(-1) ? atMost(USED_BAR_MIB, row) : row);
		}
	});
	return rows;
}

async function fill(home: string): Promise<void> {
	mkdirSync(home, { mode: 0o700 });
	const path = join(home, "keryx.db");
	const options = { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS };
	await (await openStore({ url: `sqlite:${path}`, ...options })).close();
	addConversations(path, CONVERSATIONS);
}
