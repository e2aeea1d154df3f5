// What a gateway does in a day, in a few seconds each: every operation of the store in each of these is made to fail.
import { z } from "zod";
import type { ConversationId } from "../../../src/domain/index.ts";
import { defineTool } from "../../../src/tools/index.ts";
import { configOf, MINUTE, OPERATOR, puppet, type Scene, type SceneOptions, SECOND } from "../support.ts";
import { ScriptedPlace } from "./place.ts";

export interface NetScenario {
	readonly name: string;
	/** Made for each run. */
	options?(): SceneOptions;
	/** What people do, and when; it waits for nothing that a fault may hold up, unless through `until`. */
	play(stage: Stage): Promise<void>;
	/** What users see may depend on when: only what holds always is looked at. Otherwise it is the same as without a fault. */
	readonly timely?: boolean;
	/** Ends of messages that belong to it, beside an answer. */
	readonly ends?: readonly string[];
}

/** What a scenario moves. */
export interface Stage {
	readonly scene: Scene;
	say(text: string, chat?: string): string;
	/** Time passes. */
	pass(ms: number): Promise<void>;
	/** Time passes until this answers something, or has been waited for too long. */
	until<Value>(
		what: string,
		look: () => Promise<Value | null | undefined> | Value | null | undefined,
	): Promise<Value>;
	/** Somebody at a way in of our own: tries again a second later, as a person would. */
	insist<Value>(action: () => Promise<Value>): Promise<Value>;
	/** The process dies, and the next one starts. */
	crash(): Promise<void>;
	/** The process ends as planned, and the next one starts. */
	restart(): Promise<void>;
}

const ECHO = [{ text: "you said {{input}}" }];
const slowly = (ms: number) => ({ otherwise: [{ delay_ms: ms, text: "done with {{input}}" }] });
const call = (tool: string, input: unknown) => `call ${tool} ${JSON.stringify(input)}`;

async function conversationOf({ scene }: Stage): Promise<ConversationId | undefined> {
	return (await scene.beside.conversations({ scope: OPERATOR, limit: 1 }))[0]?.id;
}

/** The question that waits for an answer. */
function openQuestion(stage: Stage): Promise<string> {
	const { scene } = stage;
	return stage.until("a question", async () => {
		const conversation = await conversationOf(stage);
		if (!conversation) return null;
		const now = scene.clock.now();
		return (await scene.beside.openConfirmations({ scope: OPERATOR, conversation, now }))[0]?.id;
	});
}

/** So many messages are shown. */
function shown(stage: Stage, n: number): Promise<true> {
	return stage.until(`${n} messages shown`, () => stage.scene.texts().length >= n || null);
}

const SUMMARY = "They talked about the garden; the gate is green.";
const summing = (text: string) => ({
	rules: [{ when: "Summarise this record of a conversation.", steps: [{ text: SUMMARY }] }],
	otherwise: [{ text }],
});

export const SCENARIOS: readonly NetScenario[] = [
	{
		name: "plain answers",
		async play({ say, pass }) {
			say("one");
			await pass(SECOND);
			say("two");
			say("three", "bob");
			await pass(5 * SECOND);
		},
	},
	{
		name: "tool calls with an effect",
		options: () => ({
			script: {
				otherwise: [
					{
						text: "first",
						tools: [
							{ name: "effect", input: { what: "a" } },
							{ name: "slow", input: { ms: 500 } },
						],
					},
					{ text: "then", tools: [{ name: "effect", input: { what: "b" } }] },
					{ text: "done with {{input}}" },
				],
			},
		}),
		async play({ say, pass }) {
			say("go");
			await pass(5 * SECOND);
			say("thanks");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a tool that brings bytes",
		options: () => ({
			tools: [
				defineTool({
					name: "draw",
					description: "brings an image",
					input: z.object({}),
					repeatable: true,
					run: () =>
						Promise.resolve({
							content: [{ type: "image", data: new Uint8Array(3000).fill(7), mediaType: "image/png" }],
						}),
				}),
			],
			script: { otherwise: [{ tools: [{ name: "draw" }] }, { text: "there" }] },
		}),
		async play({ say, pass }) {
			say("draw");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a call that fails again and again",
		options: () => ({
			config: { loop: { max_repeats: 3 } },
			script: {
				rules: [
					{ when: "go", steps: [{ tools: [{ name: "fail", input: { what: "same" } }] }], repeat: true },
				],
				otherwise: ECHO,
			},
		}),
		ends: ["failed"],
		async play({ say, pass }) {
			say("go");
			await pass(5 * SECOND);
			say("and now");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a burst",
		options: () => ({ config: { gateway: { batch_ms: 350 } } }),
		timely: true,
		async play({ say, pass }) {
			for (const text of ["one", "two", "three"]) {
				say(text);
				await pass(200);
			}
			await pass(5 * SECOND);
		},
	},
	{
		name: "a queue behind a slow answer",
		options: () => ({ script: slowly(3 * SECOND) }),
		async play({ say, pass }) {
			for (const text of ["one", "two", "three"]) {
				say(text);
				await pass(SECOND);
			}
			await pass(15 * SECOND);
		},
	},
	{
		name: "a message that interrupts",
		options: () => ({
			config: { gateway: { busy: "interrupt" } },
			script: {
				rules: [{ when: "one", steps: [{ chunks: ["so ", "far"], chunk_delay_ms: 10 * SECOND }] }],
				otherwise: ECHO,
			},
		}),
		timely: true,
		ends: ["stopped"],
		async play({ say, pass }) {
			say("one");
			await pass(2 * SECOND);
			say("two");
			await pass(15 * SECOND);
		},
	},
	{
		name: "a message that joins",
		options: () => ({
			config: { gateway: { busy: "steer" } },
			script: {
				otherwise: [
					{ tools: [{ name: "slow", input: { ms: 3000 } }] },
					{ text: "thought about {{input}}", tools: [{ name: "effect" }] },
					{ text: "answer to {{input}}" },
				],
			},
		}),
		timely: true,
		async play({ say, pass }) {
			say("one");
			await pass(SECOND);
			say("two");
			await pass(15 * SECOND);
		},
	},
	{
		name: "/stop with a queue behind it",
		options: () => ({
			script: {
				rules: [{ when: "wedge", steps: [{ text: "I begin", hang: true, deaf: true }] }],
				otherwise: ECHO,
			},
		}),
		timely: true,
		ends: ["stopped", "command"],
		async play(stage) {
			const { say, pass, scene } = stage;
			say("wedge");
			await pass(SECOND);
			say("next");
			await stage.until("the wedge", () => scene.shown.length > 0 || null);
			say("/stop");
			await pass(10 * SECOND);
		},
	},
	{
		name: "/stop all",
		options: () => ({
			script: { rules: [{ when: "wedge", steps: [{ text: "I begin", hang: true }] }], otherwise: ECHO },
		}),
		timely: true,
		ends: ["stopped", "command", "dropped_by_user"],
		async play(stage) {
			const { say, pass, scene } = stage;
			say("wedge");
			await pass(SECOND);
			say("next");
			await stage.until("the wedge", () => scene.shown.length > 0 || null);
			say("/stop all");
			say("afterwards");
			await pass(10 * SECOND);
		},
	},
	{
		name: "/new, /title and /busy",
		ends: ["command"],
		async play(stage) {
			const { say, pass } = stage;
			say("one");
			await shown(stage, 1);
			say("/new garden");
			say("two");
			await shown(stage, 3);
			say("/title gate");
			say("/busy steer");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a confirmation that is approved",
		options: () => ({ agent: () => puppet() }),
		ends: ["command"],
		async play(stage) {
			const { say, pass } = stage;
			say(call("danger", { what: "harm" }));
			const id = await openQuestion(stage);
			await shown(stage, 1);
			say(`/approve ${id}`);
			await pass(10 * SECOND);
		},
	},
	{
		name: "a confirmation that is denied",
		options: () => ({ agent: () => puppet() }),
		ends: ["command"],
		async play(stage) {
			const { say, pass } = stage;
			say(call("danger", { what: "harm" }));
			const id = await openQuestion(stage);
			await shown(stage, 1);
			say(`/deny ${id} not today`);
			await pass(10 * SECOND);
		},
	},
	{
		name: "a confirmation that expires",
		// Longer than the store is away: a question that has expired before it can be sent is not asked.
		options: () => ({ agent: () => puppet(), config: { confirmations: { default_timeout: 180 } } }),
		async play(stage) {
			stage.say(call("danger", { what: "harm" }));
			await openQuestion(stage);
			await stage.pass(190 * SECOND);
		},
	},
	{
		name: "a grant for the conversation",
		options: () => ({ agent: () => puppet() }),
		ends: ["command"],
		async play(stage) {
			const { say, pass } = stage;
			say(call("danger", { what: "harm" }));
			const id = await openQuestion(stage);
			await shown(stage, 1);
			say(`/approve ${id} conversation`);
			await shown(stage, 3);
			say(call("danger", { what: "more" }));
			await pass(10 * SECOND);
		},
	},
	{
		name: "a process in the background",
		options: () => ({ agent: () => puppet(), programs: { path: "/tmp", place: new ScriptedPlace() } }),
		async play({ say, pass }) {
			say(call("terminal", { command: "sleep 5", background: true }));
			await pass(15 * SECOND);
			say("thanks");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a process that is waited for",
		options: () => ({ agent: () => puppet(), programs: { path: "/tmp", place: new ScriptedPlace() } }),
		async play({ say, pass }) {
			say(call("terminal", { command: "sleep 3" }));
			await pass(15 * SECOND);
		},
	},
	{
		name: "compaction by itself",
		options: () => ({
			script: summing(`answer ${"word ".repeat(400)}`),
			config: { agent: { context_window: 3000 }, compaction: { keep_last: 2 } },
		}),
		async play({ say, pass }) {
			for (const text of ["one", "two", "three", "four"]) {
				say(text);
				await pass(2 * SECOND);
			}
		},
	},
	{
		name: "/compress",
		options: () => ({ script: summing("answer"), config: { compaction: { keep_last: 2 } } }),
		ends: ["command"],
		async play(stage) {
			const { say, pass } = stage;
			for (let n = 0; n < 3; n++) say(`message ${n} ${"word ".repeat(20)}`);
			await shown(stage, 3);
			say("/compress");
			await shown(stage, 5);
			say("and now");
			await pass(5 * SECOND);
		},
	},
	{
		name: "rotation at the message limit",
		options: () => ({ config: { session_reset: { max_messages: 2 } } }),
		async play({ say, pass }) {
			say("one");
			await pass(2 * SECOND);
			say("two");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a session that ends while nobody writes",
		options: () => ({ config: { session_reset: { mode: "idle", idle_minutes: 2, max_messages: 0 } } }),
		async play({ say, pass }) {
			say("one");
			await pass(4 * MINUTE);
			say("two");
			await pass(5 * SECOND);
		},
	},
	{
		name: "an answer that is previewed",
		options: () => ({
			script: { otherwise: [{ chunks: ["one ", "two ", "three"], chunk_delay_ms: 1500 }] },
			config: { display: { streaming: true } },
		}),
		async play({ say, pass }) {
			say("go");
			await pass(10 * SECOND);
		},
	},
	{
		name: "several parts and a pause that the platform asks for",
		options: () => ({
			script: { otherwise: [{ text: Array.from({ length: 600 }, (_, n) => `line number ${n}`).join("\n") }] },
			platform: { maxLength: 4096, behave: ({ n }) => (n === 2 ? { retryAfterMs: 5 * SECOND } : "ok") },
		}),
		async play({ say, pass }) {
			say("go");
			await pass(15 * SECOND);
		},
	},
	{
		name: "/undo, /redo and /retry",
		ends: ["command"],
		async play(stage) {
			const { say, pass } = stage;
			for (const [n, text] of ["one", "two", "/undo", "/redo"].entries()) {
				say(text);
				await shown(stage, n + 1);
			}
			say("/retry");
			await shown(stage, 6);
			say("three");
			await pass(5 * SECOND);
		},
	},
	{
		name: "what the page and the API do",
		options: () => ({ script: slowly(2 * SECOND) }),
		timely: true,
		ends: ["stopped"],
		async play(stage) {
			const { say, pass, scene, insist } = stage;
			say("one");
			const conversation = await stage.until("a conversation", () => conversationOf(stage));
			await stage.until("an answer", () => scene.texts().length > 0 || null);
			await insist(() => scene.gateway.actions.retry({ conversation, by: null }));
			await pass(SECOND);
			say("two");
			await insist(() => scene.gateway.actions.stop({ conversation }));
			await insist(() => scene.gateway.actions.newSession({ conversation }));
			await pass(10 * SECOND);
		},
	},
	{
		name: "a program that loops itself",
		options: () => ({
			kind: "loop",
			script: {
				otherwise: [
					{ text: "first", tools: [{ name: "ls", result: "a b" }] },
					{ text: "then", tools: [{ name: "rm", result: "no", is_error: true }] },
					{ text: "all done" },
				],
			},
		}),
		async play({ say, pass }) {
			say("go");
			await pass(5 * SECOND);
		},
	},
	{
		name: "a change of the configuration",
		options: () => ({ script: slowly(SECOND) }),
		ends: ["refused"],
		timely: true,
		async play({ say, pass, scene, insist }) {
			say("one");
			await pass(500);
			const allow = [{ id: "ada", role: "owner" as const }];
			const reconfigured = insist(() =>
				scene.gateway.reconfigure(configOf({ auth: { telegram: { allow, pairing: false } } })),
			);
			say("two");
			say("hello", "bob");
			await pass(5 * SECOND);
			await reconfigured;
		},
	},
	{
		name: "a turn that goes on after a crash",
		options: () => ({
			durable: true,
			script: {
				otherwise: [
					{ text: "first", tools: [{ name: "effect", input: { what: "a" } }] },
					{ delay_ms: 5 * SECOND, text: "done with {{input}}" },
				],
			},
		}),
		async play(stage) {
			const { say, pass, crash, scene } = stage;
			say("one");
			await stage.until("the second step", () => scene.shown.length > 1 || null);
			await pass(SECOND);
			say("two");
			await pass(100);
			await crash();
			await pass(15 * SECOND);
		},
	},
	{
		name: "a planned end and the next start",
		options: () => ({
			durable: true,
			script: slowly(20 * SECOND),
			config: { shutdown: { drain_seconds: 5 } },
		}),
		timely: true,
		async play(stage) {
			const { say, pass, restart } = stage;
			say("one");
			await pass(SECOND);
			say("two", "bob");
			await pass(SECOND);
			await restart();
			await pass(30 * SECOND);
		},
	},
];
