// What a program asks leave for, as confirmations of the real store: a human decides in the chat, and the program waits.
import { afterAll, afterEach, expect, test } from "vitest";
import type { Confirmation, Engine } from "../../src/store/index.ts";
import { MINUTE, OPERATOR, Scene, type SceneOptions, SECOND, SECRET } from "../gateway/support.ts";
import { eventually } from "../support/soon.ts";
import { Bench } from "./support.ts";

const bench = new Bench();
const scenes: Scene[] = [];
afterEach(async () => {
	for (const scene of scenes.splice(0)) await scene.end();
});
afterAll(() => bench.end());

async function scene(options: SceneOptions = {}): Promise<Scene> {
	const made = await Scene.start({ agent: (clock) => bench.make("good", { clock }).agent, ...options });
	scenes.push(made);
	return made;
}

/** The program has a process of its own, which no virtual clock waits for. */
function seen<Value>(life: Scene, look: () => Value | Promise<Value>): Promise<Value> {
	return eventually(async () => {
		await life.clock.advance(0);
		return look();
	});
}

/** Oldest first. */
async function confirmations(life: Scene): Promise<Confirmation[]> {
	const found = await life.store.confirmations({ scope: OPERATOR, now: life.clock.now(), limit: 100 });
	return [...found].reverse();
}

async function waiting(life: Scene, count = 1): Promise<Confirmation[]> {
	return seen(life, async () => {
		const open = (await confirmations(life)).filter(({ status }) => status === "pending");
		expect(open).toHaveLength(count);
		return open;
	});
}

/** What the audit says happened to each confirmation, in its order. */
async function audited(life: Scene): Promise<string[][]> {
	const entries = await life.store.auditLog({ scope: OPERATOR, limit: 100 });
	const known = await confirmations(life);
	expect((await life.store.verifyAudit({ scope: OPERATOR })).bad).toBeNull();
	return known.map(({ id }) =>
		entries
			.filter(({ confirmation }) => confirmation === id)
			.sort((a, b) => a.n - b.n)
			.map(({ kind }) => kind),
	);
}

async function ended(life: Scene, id: string, disposition = "answered"): Promise<void> {
	await seen(life, async () => expect(await life.disposition(id)).toBe(disposition));
}

async function transcript(life: Scene, id: string): Promise<unknown[]> {
	return (await life.rows(id)).map(({ role, content, isError = false }) => [role, content, isError]);
}

test("the chat is asked, and what it approves is done once, with its result in the transcript", async () => {
	const life = await scene();
	const id = await life.say("delete: notes.txt");
	const [asked] = await waiting(life);
	expect(asked).toMatchObject({
		action: "acp:delete",
		description: "notes.txt",
		details: { path: "notes.txt" },
		tool: "delete",
		waiter: "live",
		askedBy: "agent:default",
	});
	await seen(life, () => expect(life.texts()).toHaveLength(1));
	expect(life.texts()[0]).toContain("acp:delete");
	expect(life.texts()[0]).toContain('"path": "notes.txt"');
	expect(life.texts()[0]).toContain(`/approve ${asked?.id}`);
	expect(await life.disposition(id)).toBe("none");

	await life.say(`/approve ${asked?.id}`);
	await ended(life, id);
	await seen(life, () => expect(life.texts().at(-1)).toBe("I was told allow_once."));
	expect(await transcript(life, id)).toEqual([
		["user", "delete: notes.txt", false],
		["assistant", "", false],
		["tool", "gone: notes.txt", false],
		["assistant", "I was told allow_once.", false],
	]);
	const [call] = (await life.rows(id)).flatMap(({ toolCalls }) => toolCalls ?? []);
	expect(await confirmations(life)).toMatchObject([
		{ status: "consumed", resolvedBy: "telegram:ada", call: call?.id },
	]);
	expect(await audited(life)).toEqual([["requested", "approved", "consumed"]]);
});

test("what the chat denies is not done, and the transcript says who refused", async () => {
	const life = await scene();
	const id = await life.say("delete: notes.txt");
	await waiting(life);
	await life.say("/deny not that one");
	await ended(life, id);
	expect(await transcript(life, id)).toEqual([
		["user", "delete: notes.txt", false],
		["assistant", "", false],
		["tool", expect.stringContaining("permission: notes.txt. A person denied it."), true],
		["assistant", "I was told reject_once.", false],
	]);
	expect(await confirmations(life)).toMatchObject([{ status: "denied", reason: "not that one" }]);
	expect(await audited(life)).toEqual([["requested", "denied"]]);
});

test("silence is a refusal, told apart from a no; the turn waits longer for it than for a first word", async () => {
	const life = await scene();
	const id = await life.say("delete: notes.txt");
	await waiting(life);
	await life.clock.advance(299 * SECOND);
	expect(await life.disposition(id)).toBe("none");
	await life.clock.advance(SECOND);
	await ended(life, id);
	expect(JSON.stringify(await transcript(life, id))).toContain("Nobody answered in time");
	expect(await confirmations(life)).toMatchObject([{ status: "expired", resolvedBy: "system:timeout" }]);
	expect(await audited(life)).toEqual([["requested", "expired"]]);
	await life.say("/approve");
	await seen(life, () => expect(life.texts().at(-1)).toContain("Nothing is waiting for confirmation"));
});

test("what has expired stays so, also where the turn ends before anybody has looked at the clock", async () => {
	const blind = (engine: Engine): Engine => ({
		...engine,
		write: (name, args, drawn) =>
			name === "expireConfirmations" ? Promise.reject(new Error("not now")) : engine.write(name, args, drawn),
	});
	const life = await scene({ engine: blind });
	const id = await life.say("delete: notes.txt");
	await waiting(life);
	await life.clock.advance(300 * SECOND);
	await ended(life, id);
	expect(await confirmations(life)).toMatchObject([{ status: "expired", resolvedBy: "system:timeout" }]);
	expect(await audited(life)).toEqual([["requested", "expired"]]);
});

test("a yes for the session answers the next request of the same action by itself", async () => {
	const life = await scene();
	const first = await life.say("delete: notes.txt");
	const [asked] = await waiting(life);
	await life.say(`/approve ${asked?.id} session`);
	await ended(life, first);
	const second = await life.say("delete: more.txt");
	await ended(life, second);
	expect(JSON.stringify(await transcript(life, second))).toContain("gone: more.txt");
	const [, next] = await confirmations(life);
	expect(next).toMatchObject({ status: "consumed", resolvedBy: expect.stringMatching(/^grant:/) });
	expect(await audited(life)).toEqual([
		["requested", "approved", "consumed"],
		["auto_approved", "consumed"],
	]);
});

test("requests side by side are each decided on their own, in any order", async () => {
	const life = await scene();
	const id = await life.say("delete: a.txt, b.txt, c.txt");
	const asked = await waiting(life, 3);
	const of = (name: string) => asked.find(({ description }) => description === name)?.id;
	await life.say(`/approve ${of("c.txt")}`);
	await waiting(life, 2);
	await life.say(`/deny ${of("b.txt")}`);
	await waiting(life, 1);
	expect(await life.disposition(id)).toBe("none");
	await life.say("/approve");
	await ended(life, id);
	const rows = await transcript(life, id);
	expect(rows.at(-1)).toEqual(["assistant", "I was told allow_once, reject_once, allow_once.", false]);
	const results = rows.filter((row) => (row as string[])[0] === "tool");
	expect(results).toHaveLength(3);
	expect(results).toContainEqual(["tool", "gone: a.txt", false]);
	expect(results).toContainEqual(["tool", expect.stringContaining("b.txt. A person denied it"), true]);
	expect(results).toContainEqual(["tool", "gone: c.txt", false]);
	const statuses = (await confirmations(life)).map(({ description, status }) => [description, status]);
	expect(Object.fromEntries(statuses)).toEqual({
		"a.txt": "consumed",
		"b.txt": "denied",
		"c.txt": "consumed",
	});
	expect((await audited(life)).map((kinds) => kinds.length).sort()).toEqual([2, 3, 3]);
});

test("thirty requests at once: as many as allowed are asked about, the rest is refused with the reason", async () => {
	const life = await scene();
	const names = Array.from({ length: 30 }, (_, n) => `file-${n}.txt`);
	const id = await life.say(`delete: ${names.join(", ")}`);
	const asked = await waiting(life, 10);
	for (const { id: confirmation } of asked) await life.say(`/approve ${confirmation}`);
	await ended(life, id);
	expect((await confirmations(life)).map(({ status }) => status)).toEqual(asked.map(() => "consumed"));
	const rows = (await life.rows(id))
		.filter(({ role }) => role === "tool")
		.map(({ content }) => String(content));
	expect(rows).toHaveLength(30);
	expect(rows.filter((content) => content.startsWith("gone: "))).toHaveLength(10);
	expect(rows.filter((content) => content.includes("confirmations.rate_limit"))).toHaveLength(20);
});

test("/stop cancels what the program waits for, and the program stays for the next message", async () => {
	const life = await scene();
	const id = await life.say("delete: notes.txt");
	const [asked] = await waiting(life);
	await life.say("/stop");
	await ended(life, id, "stopped");
	expect(await confirmations(life)).toMatchObject([{ id: asked?.id, status: "cancelled" }]);
	expect(await audited(life)).toEqual([["requested", "cancelled"]]);
	const next = await life.say("tell");
	await ended(life, next);
	expect(JSON.parse(String((await life.rows(next)).at(-1)?.content))).toMatchObject({ prompts: 2 });
	await life.say(`/approve ${asked?.id}`);
	await seen(life, () => expect(life.texts().at(-1)).toContain("is not waiting here"));
});

test("a crash while it waits: the request is cancelled, the turn interrupted and resumed, and asks anew", async () => {
	const life = await scene({ durable: true });
	const id = await life.say("delete: notes.txt");
	const [before] = await waiting(life);
	await life.crash(SECOND);
	const [asked] = await waiting(life);
	expect(asked?.id).not.toBe(before?.id);
	expect(await confirmations(life)).toMatchObject([
		{ id: before?.id, status: "cancelled", resolvedBy: "system:turn_ended" },
		{ id: asked?.id, status: "pending" },
	]);
	await life.say(`/approve ${before?.id}`);
	await seen(life, () => expect(life.texts().at(-1)).toContain("is not waiting here"));
	await life.say(`/approve ${asked?.id}`);
	await ended(life, id);
	expect(life.shown.map(({ turn }) => turn)).toEqual([asked?.turn, asked?.turn]);
	expect(await audited(life)).toEqual([
		["requested", "cancelled"],
		["requested", "approved", "consumed"],
	]);
	expect((await life.why(id)).toLowerCase()).toContain("interrupted");
	expect((await transcript(life, id)).filter((row) => (row as string[])[0] === "tool")).toEqual([
		["tool", "gone: notes.txt", false],
	]);
});

test("a program that dies while it waits fails the turn, and its request is cancelled", async () => {
	const life = await scene();
	const id = await life.say("say who you are, and ask");
	await waiting(life);
	const conversation = await life.conversation(id);
	await eventually(() => expect(life.gateway.partial(conversation)?.text).toMatch(/^\d+\.$/));
	const pid = Number.parseInt(life.gateway.partial(conversation)?.text ?? "", 10);
	process.kill(pid, "SIGKILL");
	await ended(life, id, "failed");
	expect(await transcript(life, id)).toEqual([
		["user", "say who you are, and ask", false],
		["assistant", `${pid}.`, false],
		["tool", expect.stringContaining("everything. It was cancelled"), true],
		["meta", expect.stringContaining("stopped by SIGKILL"), false],
	]);
	expect(await confirmations(life)).toMatchObject([{ status: "cancelled" }]);
	expect(await audited(life)).toEqual([["requested", "cancelled"]]);
});

test("a program that ends its answer without waiting leaves nothing to approve", async () => {
	const life = await scene();
	const id = await life.say("ask and do not wait");
	await ended(life, id);
	expect(await confirmations(life)).toMatchObject([{ status: "cancelled" }]);
	expect(JSON.stringify(await transcript(life, id))).toContain("Burn it. It was cancelled");
});

test("waiting for a human does not lengthen the turn", async () => {
	const life = await scene({ config: { turn: { max_minutes: 2 } } });
	const id = await life.say("delete: notes.txt");
	await waiting(life);
	await life.clock.advance(2 * MINUTE);
	await ended(life, id, "failed");
	expect(await confirmations(life)).toMatchObject([{ status: "cancelled" }]);
});

test("where nothing may be changed, nobody is asked and it is refused", async () => {
	const life = await scene({ config: { approvals: { mode: "readonly" } } });
	const id = await life.say("delete: notes.txt");
	await ended(life, id);
	expect(JSON.stringify(await transcript(life, id))).toContain("Nobody could be asked");
	expect(await confirmations(life)).toEqual([]);
});

test("where approvals are switched off, it is done without a question", async () => {
	const life = await scene({ config: { approvals: { mode: "off" } } });
	const id = await life.say("delete: notes.txt");
	await ended(life, id);
	expect(JSON.stringify(await transcript(life, id))).toContain("gone: notes.txt");
	expect(await confirmations(life)).toEqual([]);
});

test("arguments that hold a known secret are shown to nobody, and refused", async () => {
	const life = await scene();
	// What is written to it never holds the secret: it has to come up with that itself.
	const id = await life.say(`delete backwards: ${[...SECRET].reverse().join("")}`);
	await ended(life, id);
	expect((await life.rows(id)).at(-1)?.content).toBe("I was told reject_once.");
	expect(await confirmations(life)).toEqual([]);
	expect(await audited(life)).toEqual([]);
});

test("arguments that are no object are asked about all the same", async () => {
	const life = await scene();
	const id = await life.say("may I with a list");
	expect(await waiting(life)).toMatchObject([{ action: "acp:execute", details: { input: ["a", 1] } }]);
	await life.say("/approve");
	await ended(life, id);
	expect((await life.rows(id)).at(-1)?.content).toBe("allow_once");
});

test("arguments that nothing can be bound to are refused", async () => {
	const life = await scene();
	const id = await life.say("may I with half a letter");
	await ended(life, id);
	expect((await life.rows(id)).at(-1)?.content).toBe("reject_once");
	expect(await confirmations(life)).toEqual([]);
});

test("a human asked too often is asked no more, and it is refused", async () => {
	const life = await scene({ config: { confirmations: { rate_limit: 1 } } });
	const id = await life.say("delete: a.txt, b.txt");
	await waiting(life);
	await life.say("/approve");
	await ended(life, id);
	expect(await confirmations(life)).toMatchObject([{ status: "consumed" }]);
	const told = String((await life.rows(id)).at(-1)?.content);
	expect(told).toMatch(/^I was told (allow_once, reject_once|reject_once, allow_once)\.$/);
});

test("I14: other arguments than those asked about cannot be approved for a program that waits", async () => {
	const life = await scene();
	const id = await life.say("delete: notes.txt");
	const [asked] = await waiting(life);
	const caller = { who: "operator", role: "operator", via: "cli", sessionKey: null } as const;
	const confirmation = asked?.id ?? "";
	await expect(
		life.confirmations.resolve(confirmation, "approved", { editedDetails: { path: "a.txt" } }, caller),
	).rejects.toMatchObject({ code: "argument.invalid", field: "edited_details" });
	await life.confirmations.resolve(confirmation, "approved", {}, caller);
	await ended(life, id);
	expect(await confirmations(life)).toMatchObject([{ status: "consumed", details: { path: "notes.txt" } }]);
});
