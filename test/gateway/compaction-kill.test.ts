// kill -9 of a real gateway process while it sums up, and at the commits of a summary: nothing has changed or the summary stands,
// never anything between, and the turn goes on.
import { afterEach, expect, test } from "vitest";
import { Lives } from "./lives.ts";
import { OPERATOR } from "./support.ts";

const lives: Lives[] = [];
afterEach(async () => {
	for (const life of lives.splice(0)) await life.end();
});

const NAMES = ["first", "second", "third"];
const said = (name: string) => `${name} ${"word ".repeat(480)}`;
const visible = NAMES.map((name) => `answer to ${name}`);

/** The third message is the one that does not fit beside the first two. */
async function begin(summariserMs: number): Promise<Lives> {
	const life = await Lives.begin({
		script: {
			rules: [
				{
					when: "Summarise this record of a conversation.",
					steps: [{ delay_ms: summariserMs, text: "They wrote words." }],
				},
				...NAMES.map((name) => ({ when: name, steps: [{ text: `answer to ${name}` }] })),
			],
		},
		config: { agent: { context_window: 3100 }, compaction: { keep_last: 2 } },
	});
	lives.push(life);
	return life;
}

async function untilSecond(life: Lives) {
	const child = life.child();
	for (const [n, name] of NAMES.slice(0, 2).entries()) {
		life.world.say({ chat: "ada", text: said(name) });
		await life.world.until(() => life.world.visible().length === n + 1);
	}
	return child;
}

async function verdict(life: Lives): Promise<void> {
	await life.recovered(async (store) => {
		const [conversation] = await store.conversations({ scope: OPERATOR, limit: 9 });
		const session = conversation?.liveSession as NonNullable<typeof conversation>["liveSession"] & string;
		const rows = await store.transcript({ scope: OPERATOR, session });
		const exchange = rows.filter(({ role }) => role !== "meta").map(({ content }) => content);
		expect(exchange).toEqual(NAMES.flatMap((name) => [said(name), `answer to ${name}`]));
		expect(rows.map(({ seq }) => seq)).toEqual(rows.map((_, index) => index + 1));
		const summaries = rows.filter(({ kind }) => kind === "summary");
		expect(summaries.map(({ covers }) => covers)).toEqual([[{ session, fromSeq: 1, toSeq: 3 }]]);
		expect((await store.checkIntegrity({ scope: OPERATOR })).problems).toEqual([]);
	});
	expect(life.world.visible().map(({ text }) => text)).toEqual(visible);
}

test("killed in the middle of summarising: nothing has changed, and the turn goes on at the next start", {
	timeout: 60_000,
}, async () => {
	const life = await begin(1500);
	const child = await untilSecond(life);
	life.world.say({ chat: "ada", text: said("third") });
	// From here on, nothing is written before the summary is there.
	await life.world.until(() => life.world.acknowledged === 3);
	await child.wrote("beginTurn", 3);
	await child.kill();
	expect(child.writes).not.toContain("cover");
	await verdict(life);
});

test("killed before and after the commit of the summary: it stands once, and the message is answered once", {
	timeout: 60_000,
}, async () => {
	for (const when of ["before", "after"] as const) {
		const life = await begin(0);
		const child = life.child({ on: "cover", when });
		for (const [n, name] of NAMES.entries()) {
			life.world.say({ chat: "ada", text: said(name) });
			if (n < 2) await life.world.until(() => life.world.visible().length === n + 1);
		}
		await child.ended;
		expect(child.writes.includes("cover")).toBe(when === "after");
		await verdict(life);
	}
});
