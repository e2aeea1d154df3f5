// kill -9 of a real gateway process around a confirmation: while it is pending, while it is being resolved, between the approval and
// the call, and after it. Nothing is lost, and nothing runs twice.
import { afterEach, expect, test } from "vitest";
import type { Store } from "../../src/store/index.ts";
import { Lives } from "./lives.ts";
import { OPERATOR } from "./support.ts";

const lives: Lives[] = [];
afterEach(async () => {
	for (const life of lives.splice(0)) await life.end();
});

const OPTIONS = {
	script: {
		rules: [
			{
				when: "go",
				steps: [
					{ text: "asking", tools: [{ name: "danger", input: { what: "harm" } }] },
					{ text: "went on" },
				],
				repeat: true,
			},
		],
	},
	channel: { lookup: true },
};

type KillPoint = NonNullable<Parameters<Lives["child"]>[0]>;

/** Of a decision, in the order of its way; with KERYX_CRASH_RUNS at every commit whatever its name. */
const WRITES = [
	"performCommand",
	"answerCommand",
	"beginTurn",
	"useConfirmation",
	"appendMessages",
	"endTurn",
];
const EVERY = process.env.KERYX_CRASH_RUNS !== undefined;

test("I14: killed while pending and then at each commit from /approve on: the call runs at most once, its outcome is known or said to be unknown", {
	timeout: 600_000,
}, async () => {
	const commits = await once("/approve", undefined, "a process");
	expect(commits).toBeGreaterThan(6);
	await atEvery("/approve", commits);
});

test("killed at each commit from /deny on: it never runs, and the agent learns of the denial once", {
	timeout: 600_000,
}, async () => {
	await atEvery("/deny no", await once("/deny no", undefined, "a process"));
});

test("killed between asking and the end of the turn that asked: the question is put once, and is the same one", {
	timeout: 120_000,
}, async () => {
	for (const when of ["before", "after"] as const)
		for (const on of ["askForCall", "endTurn"]) {
			const life = await Lives.begin(OPTIONS);
			lives.push(life);
			life.world.say({ chat: "ada", text: "go" });
			const child = life.child({ on, when });
			await child.ended;
			await life.recovered(async (store) => {
				const open = await store.confirmations({ scope: OPERATOR, now: Date.now(), limit: 9 });
				expect(open.map(({ status }) => status)).toEqual(["pending"]);
				const texts = life.world.visible("ada").map(({ text }) => text);
				expect(texts.filter((text) => text.includes(`/approve ${open[0]?.id}`))).toHaveLength(1);
				expect(texts).toHaveLength(1);
			});
			expect(life.effects).toBe(0);
			await life.end();
			lives.splice(lives.indexOf(life), 1);
		}
});

async function atEvery(answer: string, commits: number): Promise<void> {
	const points: KillPoint[] = [];
	for (const when of ["before", "after"] as const)
		if (EVERY) for (let at = 1; at <= commits; at++) points.push({ at, when });
		else
			for (const on of WRITES)
				if (answer === "/approve" || (on !== "appendMessages" && on !== "answerCommand"))
					points.push({ on, when });
	const next = async (): Promise<void> => {
		for (let point = points.shift(); point; point = points.shift()) await once(answer, point, "here");
	};
	await Promise.all([next(), next()]);
}

/** Asks, in a process that dies while it is pending or here; is answered, dies at that point, and is looked at by another. */
async function once(
	answer: string,
	point: KillPoint | undefined,
	asked: "a process" | "here",
): Promise<number> {
	const life = await Lives.begin(OPTIONS);
	lives.push(life);
	life.world.say({ chat: "ada", text: "go" });
	if (asked === "here") await life.recovered(() => Promise.resolve());
	else {
		const asker = life.child();
		await life.world.until(() => shows(life, "/approve"));
		await asker.kill();
	}
	life.world.say({ chat: "ada", text: answer });
	const child = life.child(point);
	await Promise.race([child.ended, life.world.until(() => shows(life, "went on"))]);
	await child.kill();
	const where = point ? `killed at ${JSON.stringify(point)}` : "not killed";
	await life.recovered((store) => verdict(life, store, answer, where));
	await life.end();
	lives.splice(lives.indexOf(life), 1);
	return child.writes.length;
}

function shows(life: Lives, text: string): boolean {
	return life.world.visible().some((message) => message.text.includes(text));
}

async function verdict(life: Lives, store: Store, answer: string, where: string): Promise<void> {
	const approved = answer.startsWith("/approve");
	const [confirmation, ...others] = await store.confirmations({ scope: OPERATOR, now: Date.now(), limit: 9 });
	expect(others, where).toEqual([]);
	expect(confirmation?.status, where).toBe(approved ? "consumed" : "denied");
	const entries = await store.auditLog({ scope: OPERATOR, limit: 99 });
	expect(
		entries.map(({ kind }) => kind),
		where,
	).toEqual(approved ? ["requested", "approved", "consumed"] : ["requested", "denied"]);
	expect((await store.verifyAudit({ scope: OPERATOR })).bad, where).toBeNull();

	const [conversation] = await store.conversations({ scope: OPERATOR, limit: 9 });
	const session = conversation?.liveSession as NonNullable<NonNullable<typeof conversation>["liveSession"]>;
	const rows = await store.transcript({ scope: OPERATOR, session });
	const about = (as: "outcome" | "result") =>
		rows.filter((row) => row.confirmation?.as === as).map(({ content }) => String(content));
	expect(about("outcome").length, where).toBe(1);
	expect(about("result").length, where).toBe(approved ? 1 : 0);
	const ran = life.effects;
	if (approved) {
		expect(ran, where).toBeLessThanOrEqual(1);
		expect(about("result")[0], where).toMatch(
			ran === 1 ? /did harm|outcome of this call is unknown/ : /outcome of this call is unknown/,
		);
	} else expect(ran, where).toBe(0);
	const texts = life.world.visible("ada").map(({ text }) => text);
	expect(texts.filter((text) => text.includes("/approve")).length, where).toBe(1);
	expect(texts.filter((text) => text === "went on").length, where).toBe(1);
	expect((await store.checkIntegrity({ scope: OPERATOR })).problems, where).toEqual([]);
}
