// A turn that is stopped while the store is writing: what it had not begun does not begin.
import { afterEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Engine } from "../../src/store/index.ts";
import { defineTool } from "../../src/tools/index.ts";
import { OPERATOR, puppet, Scene, type SceneOptions } from "./support.ts";

let scene: Scene;
afterEach(() => scene.end());

/** The next write of this name is committed, and answered only when the test says so. */
class Held {
	#name = "";
	#gate = Promise.withResolvers<void>();

	readonly engine = (under: Engine): Engine => ({
		...under,
		write: async (name, args, drawn) => {
			const answer = await under.write(name, args, drawn);
			if (name === this.#name) {
				this.#name = "";
				await this.#gate.promise;
			}
			return answer;
		},
	});

	next(name: string): void {
		this.#name = name;
		this.#gate = Promise.withResolvers();
	}

	async answer(): Promise<void> {
		expect(this.#name).toBe("");
		this.#gate.resolve();
		await scene.clock.advance(0);
	}
}

const held = new Held();
const start = async (options: SceneOptions = {}) => {
	scene = await Scene.start({
		engine: held.engine,
		config: { gateway: { busy: "interrupt" } },
		...options,
	});
};

describe("a turn that a message interrupts", () => {
	for (const [write, what] of [
		["appendMessages", "while the agent's words are stored"],
		["startCall", "while a call is noted as started"],
	] as const)
		test(`makes no call afterwards, also ${what}`, async () => {
			await start({
				script: {
					rules: [
						{
							when: "go",
							steps: [{ tools: [{ name: "effect", input: { what: "a" } }] }],
						},
					],
					otherwise: [{ text: "you said {{input}}" }],
				},
			});
			held.next(write);
			const id = await scene.say("go");
			await scene.say("wait");
			await held.answer();
			expect(await scene.disposition(id)).toBe("stopped");
			expect(scene.texts()).toEqual(["you said wait"]);
			expect(scene.effects).toEqual([]);
		});
});

describe("an approval whose turn is stopped before it is used", () => {
	for (const [how, text] of [
		["by a message", "hello"],
		["by a command that goes on", "/branch"],
		["by /stop", "/stop"],
	] as const)
		test(`is not used and taken back, and the agent is told: ${how}`, async () => {
			await start({ agent: puppet });
			await scene.say('call danger {"what":"harm"}');
			held.next("beginTurn");
			await scene.say("/approve");
			await scene.say(text);
			await held.answer();
			await scene.say("what about it?");
			expect(scene.dangers).toEqual([]);
			const audited = await scene.store.auditLog({ scope: OPERATOR, limit: 9 });
			expect(audited.map(({ kind, who }) => `${kind} ${who}`)).toEqual([
				"requested agent:default",
				"approved telegram:ada",
				"expired system:turn_ended",
			]);
			const told = scene.shown.at(-1)?.history.map(({ content }) => String(content)) ?? [];
			expect(told.filter((content) => content.includes("was cancelled"))).toHaveLength(1);
		});
});

describe("an approved call that runs when its turn is stopped", () => {
	/** Runs until the end of the test. */
	const refund = defineTool({
		name: "refund",
		description: "pays back",
		input: z.object({}),
		repeatable: false,
		confirmation: () => ({ action: "refund", description: "pay back" }),
		run: () => new Promise(() => {}),
	});
	for (const [how, text] of [
		["by a command", "/stop"],
		["by a message", "hello"],
	] as const)
		test(`has an unknown outcome, which the agent is told: ${how}`, async () => {
			await start({ agent: puppet, tools: [refund] });
			await scene.say("call refund {}");
			await scene.say("/approve");
			await scene.say(text);
			await scene.say("was it paid back?");
			const told = scene.shown.at(-1)?.history.map(({ content }) => String(content)) ?? [];
			expect(told.filter((content) => content.includes("outcome of this call is unknown"))).toEqual([
				expect.stringMatching(/^The call refund \{\} .*approved by telegram:ada/),
			]);
		});
});
