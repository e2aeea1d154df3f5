// Calls that need a human: asked, decided, run once with the arguments shown; told apart when denied, expired or cancelled.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import type { Caller } from "../../src/confirmations/index.ts";
import { HOUR, MINUTE, OPERATOR, Scene, type SceneOptions, SECOND, SECRET } from "./support.ts";

let scene: Scene;
const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start({ agent: () => asking(), ...options });
	return scene;
};
afterEach(() => scene.end());

/**
 * `do a, b` calls the dangerous tool once for each in one step, in place of SECRET with the secret that it knows; to an outcome it says
 * what it was told last.
 */
function asking(): StepAgent {
	return {
		kind: "step",
		name: "asking",
		async *step({ history }) {
			const last = history.at(-1);
			const text = typeof last?.content === "string" ? last.content : "";
			const wants = last?.role === "user" && last.kind === "person" && text.startsWith("do ");
			const toolCalls = wants
				? text
						.slice(3)
						.replaceAll("SECRET", SECRET)
						.split(", ")
						.map((what, n) => ({
							id: `c${history.length}-${n}`,
							name: "danger",
							input: what.includes(":") ? { what: what.split(":")[0], action: what.split(":")[1] } : { what },
						}))
				: [];
			yield {
				type: "done",
				message: {
					content: wants ? "I would like to." : `heard: ${text}`,
					toolCalls,
					finishReason: "stop",
				},
				usage: { ...NO_USAGE, provider: "asking", model: "asking" },
			};
		},
	};
}

const last = () => scene.texts().at(-1) as string;
const open = async (id: string) =>
	scene.store.openConfirmations({
		scope: OPERATOR,
		conversation: await scene.conversation(id),
		now: scene.clock.now(),
	});
const audited = async () =>
	(await scene.store.auditLog({ scope: OPERATOR, limit: 1000 })).map(({ kind, who }) => `${kind} ${who}`);
const APPROVER: Caller = { who: "token:ada", role: "approver", via: "api", sessionKey: null };

describe("asking", () => {
	test("a tool's action is what it looks like; one that is no name is refused, and nothing runs", async () => {
		await start();
		const id = await scene.say("do a:reload it");
		expect(await open(id)).toEqual([]);
		expect((await scene.rows(id)).find(({ role }) => role === "tool")).toMatchObject({
			isError: true,
			content: expect.stringContaining("action may contain only letters from a to z, digits and _ . : -"),
		});
		await scene.say("do b:reload\u200b_it");
		expect((await open(id)).map(({ action }) => action)).toEqual(["reload_it"]);
		expect(scene.effects).toEqual([]);
	});

	test("a dangerous call waits: the turn ends with the question, and nothing has run", async () => {
		await start();
		const id = await scene.say("do harm");
		const [asked] = await open(id);
		expect(asked).toMatchObject({
			action: "run_danger",
			description: "do harm",
			details: { what: "harm" },
			status: "pending",
			tool: "danger",
			askedBy: "agent:default",
		});
		expect(last()).toContain("I would like to.");
		expect(last()).toContain(`/approve ${asked?.id}`);
		expect(last()).toContain('"what": "harm"');
		expect(await scene.disposition(id)).toBe("answered");
		const rows = await scene.rows(id);
		expect(rows.find(({ role }) => role === "tool")?.content).toContain(
			`waiting for confirmation ${asked?.id}`,
		);
		expect(scene.dangers).toEqual([]);
	});

	test("a call that needs no human runs at once, and so does every call where approvals are off", async () => {
		await start();
		await scene.say("do nothing");
		expect(scene.dangers).toEqual(["nothing"]);
		await scene.end();
		await start({ config: { approvals: { mode: "off" } } });
		await scene.say("do harm");
		expect(scene.dangers).toEqual(["harm"]);
	});

	test("in readonly mode what would have to be asked about is not done at all", async () => {
		await start({ config: { approvals: { mode: "readonly" } } });
		const id = await scene.say("do harm");
		expect(await open(id)).toEqual([]);
		expect(last()).toContain("heard: ");
		expect((await scene.rows(id)).find(({ role }) => role === "tool")).toMatchObject({
			isError: true,
			content: expect.stringContaining("read-only"),
		});
	});

	test("arguments that hold a known secret are refused with the way to name it", async () => {
		await start();
		const id = await scene.say("do SECRET, harm");
		expect(await open(id)).toMatchObject([{ details: { what: "harm" } }]);
		const rows = await scene.rows(id);
		expect(rows.find(({ role }) => role === "tool")).toMatchObject({
			isError: true,
			content: expect.stringContaining("Write \u0024{secret:NAME} instead"),
		});
		expect(rows.find(({ toolCalls }) => toolCalls)?.toolCalls?.[0]?.input).toEqual({
			what: "\u0024{secret:TEST}",
		});
	});

	test("asking too often is refused, and the agent is told for how long", async () => {
		await start({ config: { confirmations: { rate_limit: 2 } } });
		const id = await scene.say("do a, b, c");
		expect(await open(id)).toHaveLength(2);
		expect((await scene.rows(id)).filter(({ role }) => role === "tool").at(-1)?.content).toContain(
			"too often",
		);
	});

	test("markup and mentions of the requester stay inert in the question", async () => {
		await start();
		await scene.say("do `x`\n@everyone **now**");
		expect(last()).not.toMatch(/^@everyone/m);
		expect(last()).not.toContain("`x`");
	});
});

describe("answers", () => {
	test("approved: the call runs once, with the arguments shown, and the agent goes on knowing the result", async () => {
		await start();
		const id = await scene.say("do harm");
		await scene.say("/approve");
		expect(scene.dangers).toEqual(["harm"]);
		expect(scene.texts().join("\n")).toMatch(/Approved: .*run_danger.*\. Keryx does it now, once\./);
		expect(last()).toMatch(
			/^heard: The call danger \{"what":"harm"\} .*approved by telegram:ada.*\ndid harm$/s,
		);
		expect(await open(id)).toEqual([]);
		expect(await audited()).toEqual([
			"requested agent:default",
			"approved telegram:ada",
			"consumed agent:default",
		]);
		await scene.say("/approve");
		expect(last()).toContain("Nothing is waiting for confirmation here");
		await scene.clock.advance(HOUR);
		expect(scene.dangers).toEqual(["harm"]);
	});

	test("denied with a reason: nothing runs, and the agent is told why and to leave it", async () => {
		await start();
		await scene.say("do harm");
		await scene.say("/deny bad idea");
		expect(scene.dangers).toEqual([]);
		expect(last()).toContain('was denied by a person. Reason given: "bad idea".');
		expect(last()).toContain("Do not try to do the same in another way");
	});

	test("no answer in time is told as expired, which is not denied", async () => {
		await start();
		const id = await scene.say("do harm");
		await scene.clock.advance(5 * MINUTE);
		expect(scene.dangers).toEqual([]);
		expect(last()).toContain("expired: nobody answered in time, which is neither yes nor no");
		expect(await open(id)).toEqual([]);
		await scene.say("/approve");
		expect(scene.dangers).toEqual([]);
	});

	test("of several the one that is named is decided, by the beginning of its id too; without a name they are listed", async () => {
		await start();
		const id = await scene.say("do a, b");
		const [first, second] = await open(id);
		await scene.say("/approve");
		expect(last()).toContain(`2 requests are waiting: ${first?.id}`);
		await scene.say(`/approve ${second?.id.slice(0, 8)}`);
		expect(scene.dangers).toEqual(["b"]);
		await scene.say(`/deny ${first?.id} no thanks`);
		expect(last()).toContain('Reason given: "no thanks"');
		expect(scene.dangers).toEqual(["b"]);
	});

	test("outcomes that come together are one turn", async () => {
		await start();
		const id = await scene.say("do a, b");
		const [first, second] = await open(id);
		scene.world.say({ chat: "ada", text: `/approve ${first?.id}` });
		scene.world.say({ chat: "ada", text: `/approve ${second?.id}` });
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual(["a", "b"]);
		expect(new Set(scene.shown.map(({ turn }) => turn)).size).toBe(2);
	});

	test("an approver's edit is what runs, and what was asked stays in the record", async () => {
		await start();
		const id = await scene.say("do harm");
		const [asked] = await open(id);
		const resolved = await scene.confirmations.resolve(
			asked?.id as string,
			"approved",
			{ editedDetails: { what: "good" } },
			APPROVER,
		);
		await scene.clock.advance(0);
		expect(scene.dangers).toEqual(["good"]);
		expect(resolved).toMatchObject({
			kind: "resolved",
			confirmation: { details: { what: "good" }, detailsBefore: { what: "harm" } },
		});
		expect(resolved.kind === "resolved" && resolved.confirmation.digest).not.toBe(asked?.digest);
	});

	test("a guest decides nothing; the owner does, by the id, from another chat", async () => {
		await start({
			config: {
				auth: { telegram: { allow: [{ id: "ada", role: "owner" }, { id: "eve", role: "guest" }, "bob"] } },
				confirmations: { notify: [{ platform: "telegram", chat_id: "ada" }] },
			},
		});
		await scene.say("do harm", { chat: "eve", user: "eve" });
		expect(scene.texts("eve").at(-1)).toContain("Only the owner can answer");
		const [, asked] = /\/approve ([0-9a-f]{12})/.exec(last()) ?? [];
		expect(asked).toBeDefined();
		await scene.say("/approve", { chat: "eve", user: "eve" });
		expect(scene.texts("eve").at(-1)).toContain("You cannot use /");
		await scene.say(`/approve ${asked}`, { chat: "bob", user: "bob" });
		expect(scene.texts("bob").at(-1)).toContain("waiting here");
		expect(scene.dangers).toEqual([]);
		await scene.say(`/approve ${asked}`);
		expect(scene.dangers).toEqual(["harm"]);
		expect(scene.texts("eve").at(-1)).toContain("did harm");
	});

	test("on a way in of our own only who was authenticated decides", async () => {
		await start();
		const say = async (text: string, approver?: string) => {
			const admission = await scene.gateway.accept({
				source: { platform: "local", chat_id: "cli", chat_type: "dm", user_id: "me" },
				platformMessage: `m${text}${approver}`,
				content: text,
				...(approver !== undefined && {
					transport: { poster: { who: approver, via: "cli", decides: true } },
				}),
			});
			await scene.clock.advance(0);
			return admission;
		};
		await say("do harm");
		await say("/approve");
		expect(scene.dangers).toEqual([]);
		await say("/approve", "operator");
		expect(scene.dangers).toEqual(["harm"]);
		expect(await audited()).toContain("approved operator");
	});

	test("/stop and /new cancel what is open, and say so in the transcript", async () => {
		await start();
		const id = await scene.say("do harm");
		await scene.say("/stop");
		expect(last()).toContain("Cancelled 1 open confirmation");
		expect(JSON.stringify(await scene.rows(id))).toContain("was cancelled");
		await scene.say("do more");
		await scene.say("/new");
		expect(await open(id)).toEqual([]);
		await scene.clock.advance(HOUR);
		expect(scene.dangers).toEqual([]);
		expect((await audited()).filter((entry) => entry.startsWith("cancelled"))).toEqual([
			"cancelled system:stop",
			"cancelled system:new",
		]);
	});

	test("what an undone or retried turn asked is cancelled, what an earlier one asked stays open", async () => {
		await start();
		const id = await scene.say("do harm");
		const [first] = await open(id);
		await scene.say("do more");
		expect(await open(id)).toHaveLength(2);
		await scene.say("/undo");
		expect(last()).toContain("Cancelled 1 open confirmation");
		expect(await open(id)).toEqual([first]);
		await scene.say("/approve");
		expect(scene.dangers).toEqual(["harm"]);

		await scene.say("do more");
		const [asked] = await open(id);
		await scene.say("/retry");
		const [again, ...others] = await open(id);
		expect([again?.id === asked?.id, others]).toEqual([false, []]);
		await scene.say("/undo");
		await scene.say("/redo");
		expect(await open(id)).toEqual([]);
		expect(JSON.stringify(await scene.rows(id))).toContain("was cancelled");
		expect(scene.dangers).toEqual(["harm"]);
		expect((await audited()).filter((entry) => entry.startsWith("cancelled"))).toEqual([
			"cancelled system:undo",
			"cancelled system:retry",
			"cancelled system:undo",
		]);
	});

	test("stopping one turn leaves what an earlier one asked open, and its approval is used", async () => {
		await start({
			agent: (clock) => {
				const agent = asking();
				// `think` takes a minute.
				return {
					...agent,
					async *step(input) {
						if (input.history.at(-1)?.content === "think")
							await new Promise<void>((resolve) => clock.after(MINUTE, resolve));
						yield* agent.step(input);
					},
				};
			},
		});
		const id = await scene.say("do one, two");
		const [one, two] = await open(id);
		const conversation = await scene.conversation(id);
		const stopRunning = async () => {
			const turn = (await scene.store.openTurnOf({ scope: OPERATOR, conversation }))?.id ?? "";
			await scene.gateway.actions.stop({ conversation, turn });
			await scene.clock.advance(0);
		};
		await scene.say("think");
		await stopRunning();
		expect(await open(id)).toEqual([one, two]);
		await scene.say("think");
		await scene.say(`/approve ${two?.id}`);
		expect(scene.dangers).toEqual([]);
		await stopRunning();
		expect(scene.dangers).toEqual(["two"]);
		expect(await open(id)).toEqual([one]);
	});

	test("an open question keeps the session open", async () => {
		await start({
			config: {
				session_reset: { mode: "idle", idle_minutes: 10, timezone: "UTC", max_messages: 0 },
				confirmations: { default_timeout: 3600 },
			},
		});
		const id = await scene.say("do harm");
		await scene.clock.advance(30 * MINUTE);
		await scene.say("still there?");
		expect(await scene.sessions(id)).toHaveLength(1);
	});
});

describe("hooks", () => {
	test("a program that listens to confirmations is told of each step", async () => {
		const folder = mkdtempSync(join(tmpdir(), "keryx-hooks-"));
		const heard = join(folder, "heard");
		await start({
			config: {
				hooks: [{ on: ["confirmation:*"], command: ["/bin/sh", "-c", `cat >> ${heard}; echo >> ${heard}`] }],
			},
		});
		await scene.say("do harm");
		await scene.say("/approve");
		const names = () =>
			readFileSync(heard, "utf8")
				.split("\n")
				.flatMap((line) => (line === "" ? [] : [(JSON.parse(line) as { hook: string }).hook]));
		await expect
			.poll(names)
			.toEqual(["confirmation:requested", "confirmation:approved", "confirmation:consumed"]);
		rmSync(folder, { recursive: true });
	});
});

describe("grants", () => {
	test("a grant for the session covers the next call of the action, until the session ends", async () => {
		await start();
		await scene.say("do one");
		await scene.say("/approve session");
		expect(scene.dangers).toEqual(["one"]);
		await scene.say("do two");
		expect(scene.dangers).toEqual(["one", "two"]);
		expect(await audited()).toContain("auto_approved agent:default");
		const id = await scene.say("do three:other_action");
		expect(await open(id)).toHaveLength(1);
		await scene.say("/new");
		const after = await scene.say("do four");
		expect(await open(after)).toHaveLength(1);
		expect(scene.dangers).toEqual(["one", "two"]);
	});

	test("a grant for the conversation outlives the session and serves no other conversation", async () => {
		await start();
		await scene.say("do one");
		await scene.say("/approve conversation");
		await scene.say("/new");
		await scene.say("do two");
		expect(scene.dangers).toEqual(["one", "two"]);
		const bob = await scene.say("do three", { chat: "bob", user: "bob" });
		expect(await open(bob)).toHaveLength(1);
	});

	test("no grant covers what must always be asked about", async () => {
		await start();
		const id = await scene.say("do one:delete_data");
		await scene.say("/approve always");
		expect(last()).toContain("must be confirmed every time");
		expect(scene.dangers).toEqual([]);
		expect(await open(id)).toHaveLength(1);
	});

	test("a revoked grant covers nothing", async () => {
		await start();
		await scene.say("do one");
		await scene.say("/approve always");
		const [grant] = await scene.confirmations.grants(APPROVER, 10);
		await scene.confirmations.revokeGrant(grant?.id as string, APPROVER);
		const id = await scene.say("do two");
		expect(await open(id)).toHaveLength(1);
	});
});

describe("crashes", () => {
	test("scenario 14: two in one step, a restart, a stranger, altered arguments; the owner approves the second, the first expires", async () => {
		await start({ durable: true });
		const id = await scene.say("do first, second");
		const [first, second] = await open(id);
		await scene.crash(10 * SECOND);
		expect((await open(id)).map((one) => [one.id, one.expiresAt])).toEqual([
			[first?.id, first?.expiresAt],
			[second?.id, second?.expiresAt],
		]);
		await scene.say(`/approve ${second?.id}`, { chat: "ada", user: "mallory" });
		expect(scene.dangers).toEqual([]);
		const used = await scene.store.consumeConfirmation({
			id: second?.id as string,
			digest: "0".repeat(64),
			by: "agent:default",
			via: "agent",
		});
		expect(used).toMatchObject({ kind: "settled", status: "pending" });
		await scene.say(`/approve ${second?.id}`);
		expect(scene.dangers).toEqual(["second"]);
		await scene.clock.advance(5 * MINUTE);
		expect(scene.dangers).toEqual(["second"]);
		const now = scene.clock.now();
		const end = async (one: string | undefined) =>
			(await scene.store.confirmation({ scope: OPERATOR, id: one as string, now })).status;
		expect([await end(first?.id), await end(second?.id)]).toEqual(["expired", "consumed"]);
		expect(last()).toContain("expired");
		expect(last()).not.toContain("denied");
		expect((await scene.confirmations.verifyAudit(APPROVER)).bad).toBeNull();
	});

	test("decided while no gateway runs: the next one acts on it", async () => {
		await start({ durable: true });
		const id = await scene.say("do harm");
		const [asked] = await open(id);
		await scene.gateway.stop();
		await scene.confirmations.resolve(asked?.id as string, "approved", {}, APPROVER);
		await scene.crash(MINUTE);
		expect(scene.dangers).toEqual(["harm"]);
	});

	test("an approval that could not be used in time has expired, and the agent is told that nothing was done", async () => {
		await start({ durable: true });
		const id = await scene.say("do harm");
		const [asked] = await open(id);
		await scene.gateway.stop();
		await scene.confirmations.resolve(asked?.id as string, "approved", {}, APPROVER);
		await scene.crash(HOUR);
		expect(scene.dangers).toEqual([]);
		expect(last()).toContain("the approval expired before it was used; nothing was done");
	});
});
