// "Remind me tomorrow at 9 to call the dentist", on the Telegram peer: shown back, agreed to, fired when the clock shows it, arrived.
import { afterEach, expect, test } from "vitest";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { contentText } from "../../src/domain/index.ts";
import { type Gateway, systemClock } from "../../src/gateway/index.ts";
import { createSchedules, scheduleSettings } from "../../src/schedules/index.ts";
import type { Store } from "../../src/store/index.ts";
import { createScheduleTool, createTools } from "../../src/tools/index.ts";
import { configOf } from "../gateway/support.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { channelOn } from "./telegram-scene.ts";
import { gatewayOn, memoryStore } from "./whole-gateway.ts";

let peer: TelegramPeer;
let store: Store;
let gateway: Gateway;
afterEach(async () => {
	await gateway.stop();
	await store.close();
	await peer.close();
});

/** Calls the tool with the person's words, shows what it answers, and goes on when they say yes. */
const secretary: StepAgent = {
	kind: "step",
	name: "secretary",
	async *step({ history }) {
		const last = history.at(-1);
		const text = last ? contentText(last.content) : "";
		const said = history.map(({ content }) => contentText(content)).join("\n");
		const [, words, what] = /remind me (tomorrow at 9) to (.+)/.exec(said) ?? [];
		const [, exact] = /call again with when: "([^"]+)"/.exec(said) ?? [];
		const when = text === "yes" ? exact : words;
		const calls = last?.role !== "tool" && when !== undefined;
		yield {
			type: "done",
			message: {
				content: calls ? "" : text,
				toolCalls: calls
					? [{ id: `c${history.length}`, name: "schedule", input: { action: "create", when, text: what } }]
					: [],
				finishReason: "stop",
			},
			usage: { ...NO_USAGE, provider: "x", model: "x" },
		};
	},
};

test("a reminder in words is shown back exactly, holds when the person agrees, fires at that time and arrives", async () => {
	peer = await createTelegramPeer();
	const ada = peer.user("Ada");
	let ahead = Date.UTC(2026, 10, 16, 14) - systemClock.now();
	const clock = { ...systemClock, now: () => systemClock.now() + ahead };
	store = await memoryStore(clock);
	const config = configOf({
		auth: { telegram: { allow: [{ id: String(ada.id), role: "owner" as const }] } },
		session_reset: { timezone: "Europe/Berlin" },
	});
	const schedules = createSchedules({ store, clock, settings: () => scheduleSettings(config) });
	const tool = createScheduleTool({
		schedules,
		resolve: (text, { conversation, scope, standing }) =>
			gateway.sending.resolve(text, { standing, scope, origin: conversation }),
		check: (target, { conversation, scope, standing }) =>
			gateway.sending.check(target, { standing, scope, origin: conversation }),
	});
	gateway = gatewayOn({
		store,
		schedules,
		agent: secretary,
		tools: createTools([tool]),
		channels: [channelOn(peer)],
		config,
		clock,
	});
	await gateway.start();
	const chat = peer.dm(ada);
	const answers = () => peer.answers(chat).map(({ text }) => text);
	const heard = (text: string) => expect.poll(() => answers().join("\n")).toContain(text);

	peer.say(ada, chat, "remind me tomorrow at 9 to call the dentist");
	await heard("means: once, on Tuesday 17 November 2026, 09:00 (Europe/Berlin)");
	const scope = { kind: "operator" } as const;
	expect((await store.jobs({ scope, limit: 9 })).jobs).toEqual([]);

	peer.say(ada, chat, "yes");
	await heard("Created.");
	const { jobs } = await store.jobs({ scope, limit: 9 });
	expect(jobs.map(({ dueAt, task }) => [dueAt, task.text])).toEqual([
		[Date.UTC(2026, 10, 17, 8), "call the dentist"],
	]);
	expect(answers()).not.toContain("call the dentist");

	// The clock shows nine.
	ahead = Date.UTC(2026, 10, 17, 8) - systemClock.now();
	schedules.wake(null);
	await expect.poll(answers).toContain("call the dentist");
	const runs = () => store.runs({ scope, job: jobs[0]?.id as string, limit: 9 });
	await expect
		.poll(async () => (await runs()).map(({ state, delivery }) => [state, delivery]))
		.toEqual([["answered", "sent"]]);
	expect(answers().filter((text) => text === "call the dentist")).toHaveLength(1);
});
