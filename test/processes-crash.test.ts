// The gateway is killed at random moments while its programs run: each program is accounted for, its output is complete, its exit
// code is right, its end is told once, and nothing is left over.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import type { ConversationId, SessionId } from "../src/domain/index.ts";
import { connectHost, readLog } from "../src/processes/index.ts";
import type { Process, Store } from "../src/store/index.ts";
import { randomBy } from "./crash/acks.ts";
import { ledgerIn, openLife, type Program, programs } from "./crash/programs.ts";
import { killed, lines, Workbench } from "./crash/support.ts";
import { isRunning, until } from "./support/process-home.ts";
import { SEED } from "./support/seed.ts";

const KILLS = Number(process.env.KERYX_CRASH_RUNS ?? 20);
/** By then everything has been started, has ended and was told. */
const LONGEST_LIFE_MS = 1200;
const OPERATOR = { kind: "operator" } as const;

const bench = new Workbench();
afterAll(() => bench.end());

test(
	`after each of ${KILLS} kills every program is accounted for, whole, and told of once`,
	async () => {
		const random = randomBy(SEED);
		const folder = bench.folder;
		const expected = programs(ledgerIn(folder));
		let neverStarted = 0;
		for (let run = 1; run <= KILLS; run++) {
			const chat = `run-${run}`;
			const child = bench.start("programs-child.ts", [folder, chat]);
			for await (const line of lines(child)) if (line === "accepted") break;
			// A random moment is the point here: nothing is waited for.
			await delay(random() * LONGEST_LIFE_MS);
			await killed(child);

			const life = await openLife(folder);
			const at = `seed ${SEED}, kill ${run}`;
			try {
				await until(async () => expect(await isQuiet(life.store, folder), at).toBe(true), 60_000);
				const rows = await rowsOf(life.store, chat);
				for (const row of rows) {
					const program = programOf(row, expected);
					if (row.status === "failed_start") neverStarted++;
					else {
						expect(row, at).toMatchObject({ status: "exited", exitCode: program.exitCode, signal: null });
						// What outlives its parent may have said it has printed before the host has read that.
						await until(
							async () =>
								expect(await printed(folder, row.id), `${at}, ${program.kind}`).toBe(program.output),
							60_000,
						);
					}
					expect(await timesTold(life.store, row), `${at}, ${program.kind}`).toBe(1);
				}
				// Nothing ran that nobody knows of, nothing ran twice, nothing is said to have run that did not.
				const begun = rows.filter(({ status }) => status === "exited").map((row) => row.id);
				expect(begunIn(folder, rows).toSorted(), at).toEqual(begun.toSorted());
				expect(zombiesOf(await hostOf(folder)), at).toEqual([]);
			} finally {
				await life.end();
			}
		}
		console.log(`programs: ${KILLS} kills, ${neverStarted} begun and never started, seed ${SEED}`);
		const left = readdirSync("/proc").filter((pid) => belongsTo(pid, folder));
		expect(left).toEqual([]);
		const host = await hostOf(folder);
		await until(() => expect(host !== null && isRunning(host)).toBe(false));
	},
	120_000 + KILLS * 20_000,
);

/** All have ended, what they left behind too, and everybody has been told. */
async function isQuiet(store: Store, folder: string): Promise<boolean> {
	const { inbox, turns, deliveries } = await store.workload({ scope: OPERATOR });
	if (inbox + turns + deliveries.waiting > 0) return false;
	const rows = await store.processes({ scope: OPERATOR, limit: 10_000 });
	const ledger = ledgerLines(folder);
	return rows.every(
		({ id, status, command }) =>
			status !== "running" &&
			status !== "starting" &&
			(status === "failed_start" || !command.includes("grandchild") || ledger.includes(`late ${id}`)),
	);
}

async function rowsOf(store: Store, chat: string): Promise<readonly Process[]> {
	const conversations = await store.conversations({ scope: OPERATOR, limit: 1000 });
	const conversation = conversations.find(({ source }) => source.chatId === chat)?.id as ConversationId;
	return store.processes({ scope: { kind: "conversation", conversation }, limit: 100 });
}

function programOf({ command }: Process, expected: readonly Program[]): Program {
	return expected.find((program) => program.command === command) as Program;
}

async function printed(home: string, id: string): Promise<string> {
	return (await readLog({ home, id, from: 0, limit: 10_000_000 })).data.toString("latin1");
}

async function timesTold(store: Store, { id, conversation }: Process): Promise<number> {
	const { liveSession } = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
	const rows = await store.transcript({ scope: OPERATOR, session: liveSession as SessionId });
	return rows.filter(
		({ role, content }) => role === "meta" && String(content).startsWith(`The background process ${id} `),
	).length;
}

function ledgerLines(folder: string): string[] {
	const file = ledgerIn(folder);
	return existsSync(file) ? readFileSync(file, "utf8").split("\n") : [];
}

function begunIn(folder: string, rows: readonly Process[]): string[] {
	const ids = new Set(rows.map(({ id }) => id));
	return ledgerLines(folder).flatMap((line) => {
		const id = /^begun \w+ (\S+)$/.exec(line)?.[1];
		return id !== undefined && ids.has(id) ? [id] : [];
	});
}

async function hostOf(home: string): Promise<number | null> {
	const client = await connectHost({ home }).catch(() => null);
	await client?.close();
	return client?.hostPid ?? null;
}

function zombiesOf(host: number | null): string[] {
	return readdirSync("/proc").filter((pid) => {
		const stat = readText(`/proc/${pid}/stat`);
		return new RegExp(`\\) Z ${host} `).test(stat);
	});
}

/** A program that was started there, whoever its parent is now. */
function belongsTo(pid: string, folder: string): boolean {
	return (
		/^\d+$/.test(pid) && readText(`/proc/${pid}/environ`).includes(`PWD=${folder}`) && isRunning(Number(pid))
	);
}

function readText(file: string): string {
	try {
		return readFileSync(file, "latin1");
	} catch {
		return "";
	}
}
