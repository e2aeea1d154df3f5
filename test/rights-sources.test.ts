// The rights of whoever a platform says is speaking, through a whole gateway and the platform's own updates. The table of
// docs/reference/rights.md is made here; `KERYX_WRITE_DOCS=1 npx vitest run test/rights-sources.test.ts` writes it anew.
import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, describe, expect, test } from "vitest";
import { type Admission, type Channel, createGateway, systemClock } from "../src/gateway/index.ts";
import { NO_SECRETS, systemIds } from "../src/store/index.ts";
import { openSqlite } from "../src/store/sqlite/engine.ts";
import { storeOn } from "../src/store/store.ts";
import { createTools } from "../src/tools/index.ts";
import { PLATFORM_SOURCES, type PlatformSources, type Way } from "./channels/platform-sources.ts";
import { AUDIT_KEY, configOf, confirmationsOn, puppet } from "./gateway/support.ts";

const DOCUMENT = new URL("../docs/reference/rights.md", import.meta.url);

const WAIT = { interval: 5 };

type Handed = Admission | "passed" | "changed";

/** Keeps what became of everything that the channel hands in, once. */
function noting({ channel, passes }: PlatformSources, handed: Handed[]): Channel {
	return {
		...channel,
		start: (host) =>
			channel.start({
				...host,
				accept: async (inbound) => {
					const admission = await host.accept(inbound);
					if (!admission.duplicate) handed.push(admission);
					return admission;
				},
				edited: async (edit) => {
					await host.edited(edit);
					handed.push("changed");
				},
				passed: async (cursor) => {
					await host.passed(cursor);
					if (passes) handed.push("passed");
				},
			}),
	};
}

async function tableOf(platform: string, sources: PlatformSources): Promise<string> {
	const { channel, auth, ways, shown, isReady, before: early } = sources;
	const handed: Handed[] = [];
	const config = configOf({ auth: { [platform]: auth } });
	const clock = systemClock;
	const engine = await openSqlite({
		path: ":memory:",
		startedAt: clock.now(),
		access: "own",
		auditKey: AUDIT_KEY,
	});
	const store = storeOn(engine, { clock, ids: systemIds(clock), secrets: NO_SECRETS });
	const gateway = createGateway({
		store,
		confirmations: confirmationsOn(store, clock, config),
		agent: puppet(),
		tools: createTools([]),
		channels: [noting(sources, handed)],
		config,
		clock,
		pseudonymKey: new Uint8Array(32),
		log: () => {},
	});
	await gateway.start();
	// Not every platform keeps what was said before anybody listened.
	const isListening = () => channel.health().state === "connected" && isReady() && handed.length === early;
	await expect.poll(isListening, WAIT).toBe(true);
	/** What the chat of a way says to what is done there; null: nothing, and nothing will come. */
	const answerTo = async (way: string, act: () => void): Promise<string | null> => {
		const [before, after] = [shown(way).length, handed.length + 1];
		act();
		await expect.poll(() => handed.length, WAIT).toBeGreaterThanOrEqual(after);
		const became = handed[after - 1];
		if (typeof became !== "object" || became.refused !== null) return null;
		await expect.poll(() => shown(way).length, WAIT).toBeGreaterThan(before);
		return shown(way).slice(before).join("\n");
	};
	const answer = async (way: string, text: string): Promise<string | null> => {
		const { first, write } = ways[way] as Way;
		if (!first) return answerTo(way, () => write(text));
		await answerTo(way, first);
		const before = shown(way).length;
		await answerTo(way, () => write(text));
		// A chat shows answers in their order: whatever the change led to stands before this one.
		await answerTo(way, first);
		const led = shown(way)
			.slice(before)
			.filter((said) => said !== "done");
		return led.length === 0 ? null : led.join("\n");
	};
	const rows: string[] = [];
	for (const way of Object.keys(ways)) {
		const said = await answer(way, "/whoami");
		const [, role] = /Your role here is (\w+)/.exec(said ?? "") ?? [];
		const heard = said === null ? "no answer" : (role ?? "as words, no command");
		rows.push(`| ${platform}: ${way} | ${heard} | ${decides(await answer(way, "/approve"))} |`);
	}
	await gateway.stop();
	await store.close();
	return rows.join("\n");
}

function decides(said: string | null): string {
	if (said === null) return "no answer";
	return /is waiting for confirmation/.test(said) ? "yes" : "no";
}

describe("who speaks, as a platform tells it", () => {
	const open: PlatformSources[] = [];
	afterAll(async () => {
		for (const one of open) await one.close();
	});

	test("has the rights that the table says", async () => {
		const tables = await Promise.all(
			Object.entries(PLATFORM_SOURCES).map(async ([platform, create]) => {
				const sources = await create();
				open.push(sources);
				return tableOf(platform, sources);
			}),
		);
		const made = ["| who, and how | heard as | decides |", "|---|---|---|", ...tables].join("\n");
		const before = readFileSync(DOCUMENT, "utf8");
		const after = before.replace(
			/<!-- sources -->[\s\S]*?<!-- end -->/,
			() => `<!-- sources -->\n${made}\n<!-- end -->`,
		);
		if (process.env.KERYX_WRITE_DOCS) writeFileSync(DOCUMENT, after);
		else expect(after).toBe(before);
	});
});
