// The whole way by e-mail: a real gateway between people's mails and an agent. Every mail that leaves is counted.

import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { z } from "zod";
import type { StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import type { EmailOptions } from "../../src/channels/email/index.ts";
import { type Channel, createGateway, type Gateway, systemClock } from "../../src/gateway/index.ts";
import { NO_SECRETS, OPERATOR, type Store, systemIds } from "../../src/store/index.ts";
import { openSqlite } from "../../src/store/sqlite/engine.ts";
import { storeOn } from "../../src/store/store.ts";
import { createTools, defineTool } from "../../src/tools/index.ts";
import { AUDIT_KEY, type ConfigInput, configOf, confirmationsOn, dangerTool } from "../gateway/support.ts";
import { type Dovecot, startDovecot } from "../support/dovecot.ts";
import { openPostOffice, type PostOffice, type SeenMail } from "../support/post-office.ts";
import { until } from "../support/until.ts";
import { emailChannelOn, outgoing } from "./email-scene.ts";

let dovecot: Dovecot;
let office: PostOffice;
beforeAll(async () => {
	dovecot = await startDovecot();
	office = await openPostOffice(dovecot);
});
afterAll(async () => {
	await office.close();
	await dovecot.remove();
});

const undo: (() => Promise<void> | void)[] = [];
afterEach(async () => {
	for (const step of undo.splice(0).reverse()) await step();
});

/** Answers with a number; sends files, and tries something dangerous, where it is told to. */
function counting(shown: StepInput[]): StepAgent {
	return {
		kind: "step",
		name: "counting",
		async *step(input) {
			shown.push(input);
			const last = input.history.at(-1);
			const words = last?.role === "user" ? JSON.stringify(last.content) : "";
			const tool = words.includes("dare") ? "danger" : words.includes("files") ? "files" : null;
			const content = tool === "files" ? "I look for them." : `number ${shown.length}`;
			yield { type: "text", delta: content };
			yield {
				type: "done",
				message: {
					content,
					toolCalls: tool === null ? [] : [{ id: `c${shown.length}`, name: tool, input: { what: "harm" } }],
					finishReason: tool === null ? "stop" : "tool_calls",
				},
				usage: { ...NO_USAGE, provider: "test", model: "test" },
			};
		},
	};
}

const filesTool = defineTool({
	name: "files",
	description: "sends two files",
	input: z.object({}),
	repeatable: true,
	run: async () => ({
		content: ["one.txt", "two.txt"].map((name) => ({
			type: "file" as const,
			name,
			mediaType: "text/plain",
			data: Buffer.from(name),
			sent: { size: name.length, caption: `this is ${name}` },
		})),
	}),
});

interface Installation {
	readonly gateway: Gateway;
	readonly store: Store;
	readonly channel: Channel;
	readonly dangers: string[];
	readonly shown: StepInput[];
	stop(): Promise<void>;
}

async function install(
	user: string,
	config: ConfigInput,
	options: Partial<EmailOptions> = {},
	store?: Store,
): Promise<Installation> {
	const clock = systemClock;
	const opened =
		store ??
		storeOn(
			await openSqlite({ path: ":memory:", startedAt: clock.now(), access: "own", auditKey: AUDIT_KEY }),
			{
				clock,
				ids: systemIds(clock),
				secrets: NO_SECRETS,
			},
		);
	const parsed = configOf({ display: { streaming: true, tool_progress: "all" }, ...config });
	const confirmations = confirmationsOn(opened, clock, parsed);
	const dangers: string[] = [];
	const shown: StepInput[] = [];
	const channel = emailChannelOn(office, user, options);
	const gateway = createGateway({
		store: opened,
		confirmations,
		agent: counting(shown),
		tools: createTools([dangerTool(dangers), filesTool]),
		channels: [channel],
		config: parsed,
		clock,
		pseudonymKey: new Uint8Array(32),
		log: () => {},
	});
	await gateway.start();
	confirmations.start();
	let isStopped = false;
	const stop = async () => {
		if (!isStopped) await gateway.stop();
		isStopped = true;
	};
	undo.push(async () => {
		await stop();
		if (!store) await opened.close();
	});
	await until(() => channel.health().state === "connected");
	return { gateway, store: opened, channel, dangers, shown, stop };
}

const textOf = ({ mail }: SeenMail) => (mail.text ?? "").trim();

/** Everything that was accepted has its end, and nothing waits to be sent. */
async function worked(store: Store): Promise<boolean> {
	const page = await store.events({ scope: OPERATOR, after: "", limit: 1000 });
	if (page.kind === "resync") throw new Error("events are missing");
	for (const { type, subject } of page.events)
		if (type === "inbound.accepted") {
			const item = await store.inboxItem({ scope: OPERATOR, id: Number(subject) });
			if (item.disposition === null || item.command !== null) return false;
		}
	return (await store.deliveries({ scope: OPERATOR, which: "waiting", limit: 1 })).length === 0;
}

async function settled({ store }: Pick<Installation, "store">, mails: () => boolean): Promise<void> {
	await expect.poll(async () => mails() && (await worked(store))).toBe(true);
}

test("an answer is one mail: with its steps, its files, a boundary and a question, and without any status", async () => {
	const ada = "ada.one@home.test";
	const bot = "one@keryx.test";
	const one = await install("one", {
		auth: { email: { allow: [{ id: ada, role: "owner" }] } },
		session_reset: { mode: "none", max_messages: 4, timezone: "UTC" },
	});
	const write = (text: string, n: number) =>
		office.write({
			from: ada,
			to: bot,
			text,
			id: `q${n}.one@home.test`,
			...(n > 1 && { references: ["q1.one@home.test"] }),
		});
	for (const [n, text] of ["hello", "files please", "and now?", "I dare you", "more"].entries()) {
		await write(text, n + 1);
		await settled(one, () => office.to(ada).length >= n + 1);
		expect(office.to(ada).map(textOf), text).toHaveLength(n + 1);
	}
	const [, files, , question] = office.to(ada) as SeenMail[];
	expect(files?.mail.attachments.map(({ filename }) => filename)).toEqual(["one.txt", "two.txt"]);
	expect(textOf(files as SeenMail)).toMatch(/number \d+\s+this is one\.txt\s+this is two\.txt/);
	const [, id = ""] = /\/approve (\S+)/.exec(textOf(question as SeenMail)) ?? [];
	expect(id).not.toBe("");
	// Somebody who is not proven to be Ada decides nothing; Ada does, whatever her program adds.
	await office.write({
		from: ada,
		to: bot,
		text: `/approve ${id}`,
		checked: "dmarc=fail",
		references: ["q1.one@home.test"],
	});
	await office.write({
		from: ada,
		to: bot,
		text: `/approve ${id}\n\n-- \nAda\n\nKeryx wrote:\n> sure?`,
		references: ["q1.one@home.test"],
	});
	await expect.poll(() => one.dangers).toEqual(["harm"]);
	await settled(one, () => true);
});

test("20 mails that come while Keryx is down are answered in order, one mail each", async () => {
	const ada = "ada.two@home.test";
	const bob = "bob.two@home.test";
	const config = {
		auth: { email: { allow: [ada, bob] } },
		gateway: { batch_ms: 0, batch_cap_ms: 0, busy: "queue" as const },
	};
	const first = await install("two", config);
	await first.stop();
	for (let n = 0; n < 20; n++)
		await office.write({
			from: ada,
			to: "two@keryx.test",
			// Half of them in a thread that others read, too.
			cc: n % 2 === 0 ? [bob] : [],
			text: `mail ${n}`,
			id: `m${n}.two@home.test`,
			...(n > 1 && { references: [`m${n % 2}.two@home.test`] }),
		});
	const second = await install("two", config, {}, first.store);
	await settled(second, () => office.to(ada).length >= 20);
	const answered = office.to(ada).map(({ mail }) => Number(/<m(\d+)/.exec(mail.inReplyTo ?? "")?.[1]));
	for (const half of [0, 1])
		expect(answered.filter((n) => n % 2 === half)).toEqual(
			Array.from({ length: 10 }, (_, n) => 2 * n + half),
		);
	expect(office.to(bob)).toHaveLength(10);
	await second.stop();
});

test("two installations that write to each other stop at the hop limit", async () => {
	const [left, right] = ["left@keryx.test", "right@keryx.test"];
	const config = (other: string) => ({
		auth: { email: { allow: [other], allow_bots: true } },
		gateway: { batch_ms: 0, batch_cap_ms: 0 },
	});
	const one = await install("left", config(right), { hopLimit: 4 });
	const two = await install("right", config(left), { hopLimit: 4 });
	expect(await one.channel.send(outgoing({ chatId: right }, "shall we talk?"))).toMatchObject({
		kind: "sent",
	});
	const between = () =>
		office.seen.filter(({ from, to }) => [left, right].includes(from) && [left, right].includes(to));
	await expect
		.poll(async () => between().length >= 4 && (await worked(one.store)) && (await worked(two.store)))
		.toBe(true);
	const hops = between().map(({ mail }) => Number(mail.headers.get("x-keryx-hops")));
	expect(hops).toEqual([1, 2, 3, 4]);
	const refusals = async ({ store }: Installation) => {
		const page = await store.events({ scope: OPERATOR, after: "", limit: 1000 });
		return page.kind === "resync" ? [] : page.events.filter(({ type }) => type === "inbound.refused");
	};
	await expect
		.poll(async () => [...(await refusals(one)), ...(await refusals(two))].length)
		.toBeGreaterThan(0);
	expect(between()).toHaveLength(4);
});
