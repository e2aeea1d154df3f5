// Attachments that a provider refuses, as a turn sees it: over crashes, beside compaction, and in what people are told.
import { afterEach, describe, expect, test } from "vitest";
import type { AgentFailure, StepAgent, StepEvent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Content, type PromptMessage, SUMMARY_SYSTEM } from "../../src/domain/index.ts";
import type { Engine } from "../../src/store/index.ts";
import { OPERATOR, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
const start = async (options?: SceneOptions) => {
	scene = await Scene.start(options);
	return scene;
};
afterEach(() => scene.end());

const namesIn = (history: readonly PromptMessage[]) =>
	history.flatMap(({ content }) =>
		typeof content === "string" ? [] : content.flatMap((part) => ("blob" in part ? [part.name ?? ""] : [])),
	);
/** What each request held, by name. */
const asked = () => scene.shown.map(({ history }) => namesIn(history).join(" "));

/** Refuses what holds one of these names; `answer` says what it does otherwise. */
function refusing(
	guilty: readonly string[],
	{
		kind = "refused",
		answer = () => done("fine"),
	}: { kind?: AgentFailure["kind"]; answer?: () => StepEvent | Promise<StepEvent> } = {},
): () => StepAgent {
	return () => ({
		kind: "step",
		name: "refusing",
		async *step({ history }): AsyncGenerator<StepEvent> {
			const held = history.flatMap(({ content }) =>
				typeof content === "string" ? [] : content.filter((part) => "blob" in part),
			);
			const suspects = held.map(({ blob }) => ({ digest: blob, bytes: 3 }));
			if (held.some(({ name }) => guilty.includes(name ?? "")))
				yield { type: "failed", failure: { kind, detail: "no", suspects } };
			else yield await answer();
		},
	});
}

function done(text: string): StepEvent {
	return {
		type: "done",
		message: { content: text, toolCalls: [], finishReason: "stop" },
		usage: { ...NO_USAGE, provider: "refusing", model: "refusing" },
	};
}

let sent = 0;
async function send(text: string, ...names: readonly string[]): Promise<string> {
	const { store, gateway, clock } = scene;
	const content: Exclude<Content, string>[number][] = [{ type: "text", text }];
	const blobs: string[] = [];
	for (const name of names) {
		const { id } = await store.beginBlob({ mediaType: "image/png" });
		await store.putBlobChunk({ id, n: 0, bytes: new TextEncoder().encode(name) });
		const { digest } = await store.finishBlob({ id });
		content.push({ type: "image", blob: digest, mediaType: "image/png", name });
		blobs.push(id);
	}
	const { id } = await gateway.accept({
		source: { platform: "telegram", chat_id: "ada", user_id: "ada", chat_type: "dm" },
		platformMessage: `attached ${++sent}`,
		content,
		blobs,
	} as never);
	await clock.advance(0);
	return String(id);
}

const leftOut = async () => {
	const [conversation] = await scene.store.conversations({ scope: OPERATOR, limit: 1 });
	const rows = await scene.store.transcript({ scope: OPERATOR, session: conversation?.liveSession as never });
	return rows.filter(({ kind }) => kind === "left_out").map(({ content }) => content);
};

describe("a crash", () => {
	test("in the middle of the search leaves nothing left out, and the turn that goes on finds the same", async () => {
		const never = new Promise<StepEvent>(() => {});
		await start({ durable: true, agent: refusing(["bad"], { answer: () => never }) });
		await send("look", "bad", "good");
		expect(asked()).toEqual(["bad good", "bad", "good"]);
		expect(await leftOut()).toEqual([]);
		await scene.crash(0, { ...scene.options, agent: refusing(["bad"]) });
		expect(asked().slice(3)).toEqual(["bad good", "bad", "good"]);
		expect(await leftOut()).toEqual([
			"- image bad (3 bytes): the model's provider refused the request that contained it",
		]);
		expect(scene.texts()).toEqual(["fine", expect.stringContaining("image bad (3 bytes)")]);
	});

	test("after it was found keeps what was found: the turn that goes on asks once, and tells once", async () => {
		const stuck = (engine: Engine): Engine => ({
			...engine,
			write: (name, args, drawn) =>
				name === "endTurn" ? new Promise(() => {}) : engine.write(name, args, drawn),
		});
		let steps = 0;
		const answer = () => (++steps === 1 ? callOf("fail") : done("fine"));
		await start({ durable: true, agent: refusing(["bad"], { answer }), engine: stuck });
		await send("look", "good", "bad");
		expect(await leftOut()).toHaveLength(1);
		const { engine: _, ...options } = scene.options;
		await scene.crash(0, options);
		expect(asked()).toEqual(["good bad", "good", "good", "good"]);
		expect(await leftOut()).toHaveLength(1);
		expect(scene.texts()).toEqual(["fine", expect.stringContaining("image bad (3 bytes)")]);
	});
});

describe("what people are told", () => {
	test("says what the answer was made without beside what is left out, and the next answer has it again", async () => {
		await start({ agent: refusing(["one", "three"]) });
		await send("look", "one", "two", "three");
		expect(asked()).toEqual(["one two three", "one two", "one three", "two three", "one", ""]);
		expect(scene.texts()[1]).toBe(
			[
				"The model can no longer read this attachment:",
				"• image one (3 bytes): the model's provider refused the request that contained it",
				"",
				"This answer also left out image three and image two. The model reads them again from your next message.",
				"",
				"It is still in the transcript. For the model to read it, send it again, smaller or in another format.",
			].join("\n"),
		);
		await send("and now?");
		expect(asked().slice(6)).toEqual(["two three", "two"]);
		await send("and now?");
		expect(asked().slice(8)).toEqual(["two"]);
		expect(scene.texts().slice(2)).toEqual(["fine", expect.stringContaining("image three"), "fine"]);
	});

	test("follows an answer that stands where it was shown while it was written", async () => {
		const agent = refusing(["bad"]);
		await start({
			agent: () => ({
				...agent(),
				async *step(input) {
					for await (const event of agent().step(input)) {
						if (event.type === "done") yield { type: "text", delta: "fine" };
						yield event;
					}
				},
			}),
		});
		const shown: number[] = [];
		scene.gateway.onDelta(({ index }) => shown.push(index));
		await send("look", "bad");
		const page = await scene.store.events({ scope: OPERATOR, after: "", limit: 1000 });
		const events = page.kind === "events" ? page.events : [];
		const appended = events.flatMap((event) => (event.type === "message.appended" ? [event.facts] : []));
		expect(shown).toHaveLength(1);
		expect(appended.find((facts) => facts.index === shown[0])).toMatchObject({ role: "assistant" });
	});

	test("does not depend on how the turn ends", async () => {
		let steps = 0;
		await start({
			agent: refusing(["bad"], {
				answer: () =>
					++steps === 1
						? callOf("fail")
						: { type: "failed", failure: { kind: "provider_down", detail: "down" } },
			}),
		});
		await send("look", "bad");
		expect(scene.texts()).toEqual([
			expect.stringContaining("cannot be reached"),
			expect.stringContaining("image bad (3 bytes)"),
		]);
	});

	test("shows a name as it was written, and nothing of it becomes markup", async () => {
		const name = "**b**`[x](http://evil)\n\u202egnp.exe";
		await start({ agent: refusing([name]) });
		await send("look", name);
		const notice = scene.world.visible("ada").at(-1)?.text ?? "";
		expect(notice).not.toMatch(/<b>|<a |\u202e/);
		expect(notice).toContain("**b**");
	});
});

describe("a prompt that is too large", () => {
	const config = { compaction: { keep_last: 4 } };
	const summaries = () => scene.shown.filter(({ system }) => system === SUMMARY_SYSTEM).length;
	/** Counts words, and takes so many. */
	const reading = (most: number) => (): StepAgent => ({
		kind: "step",
		name: "reading",
		async *step({ history, system }): AsyncGenerator<StepEvent> {
			const parts = history.flatMap(({ content }) =>
				typeof content === "string" ? [{ type: "text" as const, text: content }] : content,
			);
			const size = parts.reduce((sum, part) => sum + (part.type === "text" ? part.text.length : 1000), 0);
			const suspects = parts.flatMap((part) =>
				part.type === "text" ? [] : [{ digest: part.blob, bytes: 3 }],
			);
			if (size > most && system !== SUMMARY_SYSTEM)
				yield { type: "failed", failure: { kind: "context_too_large", detail: "too long", suspects } };
			else yield done("fine");
		},
	});

	test("with a new picture in it is asked without that, and no summary is written", async () => {
		await start({ config, agent: reading(900) });
		for (let n = 0; n < 6; n++) await scene.say("hello");
		await send("look", "big");
		expect(summaries()).toBe(0);
		expect(asked().slice(6)).toEqual(["big", ""]);
		expect(scene.texts().at(-1)).toContain("image big (3 bytes): too large for the model");
	});

	test("by its words alone is summed up, and keeps the picture that was read before", async () => {
		await start({ config, agent: reading(3000) });
		await send("look", "old");
		for (let n = 0; n < 8; n++) await scene.say("word ".repeat(60));
		expect(summaries()).toBeGreaterThan(0);
		expect(await leftOut()).toEqual([]);
		expect(scene.texts().every((text) => text === "fine")).toBe(true);
	});
});

function callOf(name: string): StepEvent {
	return {
		type: "done",
		message: { content: "", toolCalls: [{ id: "c1", name, input: {} }], finishReason: "tool_calls" },
		usage: { ...NO_USAGE, provider: "refusing", model: "refusing" },
	};
}
