// When checkpoints are taken, and that none of it gets into the way of a turn.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import type { Checkpoints, TakeInput, TakeOutcome } from "../../src/checkpoints/index.ts";
import { defineTool } from "../../src/tools/index.ts";
import { eventually } from "../support/soon.ts";
import { Desk, plain } from "./files.ts";
import { OPERATOR, SECOND } from "./support.ts";

let desk: Desk;
beforeEach(() => {
	desk = new Desk();
});
afterEach(() => desk.end());

const windows = async () => {
	const [newest] = await desk.list();
	const workspace = newest?.workspace ?? "";
	return desk.scene.store.checkpointWindows({ scope: OPERATOR, workspace });
};
const turnOf = async (id: string) => (await desk.scene.item(id)).turn as string;

/** Takes those of one kind only when it is let, as a disk that hangs does. */
function hanging(kind: TakeInput["kind"]) {
	const waiting: (() => void)[] = [];
	const wrap = (checkpoints: Checkpoints): Checkpoints => ({
		take: async (input: TakeInput): Promise<TakeOutcome> => {
			if (input.kind === kind) await new Promise<void>((resolve) => waiting.push(resolve));
			return checkpoints.take(input);
		},
		list: (folder) => checkpoints.list(folder),
		diff: (...args) => checkpoints.diff(...args),
		plan: (...args) => checkpoints.plan(...args),
		restore: (...args) => checkpoints.restore(...args),
		prune: (folder) => checkpoints.prune(folder),
		recover: () => checkpoints.recover(),
		close: () => checkpoints.close(),
	});
	const letGo = () => {
		for (const go of waiting.splice(0)) go();
	};
	return { wrap, waiting, letGo };
}

describe("a turn", () => {
	test("that changes files has one before its first change and one after its last, and /why tells of both", async () => {
		await desk.start({
			script: {
				rules: [
					{
						when: "go",
						steps: [
							{ tools: [{ name: "look" }] },
							{ tools: [{ name: "put", input: { path: "a", text: "1" } }] },
							{ tools: [{ name: "put", input: { path: "b", text: "2" } }] },
							{ text: "done" },
						],
					},
				],
			},
		});
		desk.write("mine", "0");
		const id = await desk.say("go now");
		const [after, before, ...others] = await desk.list();
		expect(others).toEqual([]);
		const turn = await turnOf(id);
		expect(before).toMatchObject({ kind: "before", label: "go now", turn, files: 1, changed: null });
		expect(after).toMatchObject({ kind: "after", label: "go now", turn, files: 3, changed: { files: 2 } });
		expect(await windows()).toEqual([{ owner: turn, from: before?.n, to: after?.n }]);
		const why = await desk.scene.why(id);
		expect(why).toContain(`A checkpoint of the files was saved before its changes: ${before?.id}.`);
		expect(why).toContain(`A checkpoint of the files was saved after its changes: ${after?.id}.`);
	});

	test("that changes none has none, and one that a human has not allowed yet has none either", async () => {
		await desk.start({
			tools: [
				defineTool({
					name: "wipe",
					description: "asks first",
					input: z.object({}),
					repeatable: false,
					confirmation: () => ({ action: "wipe", description: "wipe" }),
					changesFiles: () => true,
					run: () => {
						desk.write("wiped", "");
						return Promise.resolve({ content: "wiped" });
					},
				}),
			],
		});
		await desk.say("hello");
		await desk.say("call look {}");
		await desk.say("call wipe {}");
		expect(await desk.list()).toEqual([]);
		await desk.say("/approve", 2);
		expect((await desk.list()).map(({ kind, files }) => [kind, files])).toEqual([
			["after", 1],
			["before", 0],
		]);
	});

	test("of a program that loops itself has both, whatever it calls", async () => {
		await desk.start({
			kind: "loop",
			script: { rules: [{ when: "go", steps: [{ text: "went" }], repeat: true }] },
		});
		const id = await desk.say("go");
		const turn = await turnOf(id);
		const [only] = await desk.list();
		expect(only).toMatchObject({ kind: "before", turn });
		expect(await windows()).toEqual([{ owner: turn, from: only?.n, to: only?.n }]);
		expect(await desk.scene.why(id)).toContain(
			`No files had changed since checkpoint ${only?.id}, so it is also the one after its changes.`,
		);
	});

	test("goes on where none can be taken, and what became of it is told", async () => {
		desk.write("one", "");
		desk.write("two", "");
		await desk.start({ on: { settings: { maxFiles: 1 } } });
		const id = await desk.put("three", "3");
		expect(desk.scene.texts()).toEqual(["done"]);
		expect(desk.read("three")).toBe("3");
		expect(await desk.list()).toEqual([]);
		const why = await desk.scene.why(id);
		expect(why).toContain(
			"No checkpoint of the files was saved before its changes (checkpoint.too_many_files).",
		);
		expect(why).not.toContain("after its changes");
	});

	test("goes on when one takes too long, and what comes too late is not kept", async () => {
		const { wrap, waiting, letGo } = hanging("before");
		await desk.start({ on: { wrap } });
		const id = await desk.scene.say('call put {"path":"a","text":"1"}');
		await eventually(() => expect(waiting.length).toBe(1));
		await desk.scene.clock.advance(19 * SECOND);
		expect(desk.read("a")).toBeNull();
		await desk.scene.clock.advance(2 * SECOND);
		await eventually(() => expect(desk.read("a")).toBe("1"));
		letGo();
		await desk.answers(1);
		await eventually(async () =>
			expect(await desk.scene.why(id)).toContain("saved before its changes (checkpoint.failed)"),
		);
		expect(await desk.list()).toEqual([]);
	});

	test("is stopped while one is taken, before anything was changed", async () => {
		const { wrap, waiting, letGo } = hanging("before");
		await desk.start({ on: { wrap } });
		const id = await desk.scene.say('call put {"path":"a","text":"1"}');
		await eventually(() => expect(waiting.length).toBe(1));
		expect(await desk.ask("/stop")).toContain("Stopped.");
		expect(await desk.scene.disposition(id)).toBe("stopped");
		letGo();
		expect(await desk.ask("hello")).toBe("done");
		expect(desk.read("a")).toBeNull();
		expect(await desk.list()).toEqual([]);
	});

	test("ends at its time limit while one is taken", async () => {
		const { wrap, waiting } = hanging("before");
		await desk.start({
			on: { wrap },
			config: { turn: { max_minutes: 1 } },
			script: {
				rules: [
					{
						when: "go",
						steps: [
							{ tools: [{ name: "look" }], delay_ms: 55 * SECOND },
							{ tools: [{ name: "put", input: { path: "a", text: "1" } }] },
						],
					},
				],
			},
		});
		await desk.scene.say("go");
		await desk.scene.clock.advance(55 * SECOND);
		await eventually(async () => {
			await desk.scene.clock.advance(0);
			expect(waiting.length).toBe(1);
		});
		await desk.scene.clock.advance(6 * SECOND);
		await desk.answers(1);
		expect(desk.scene.texts()[0]).toContain("This took longer than allowed");
		expect(desk.read("a")).toBeNull();
	});

	test("is answered when the one after it takes too long, or the user does not wait; it is taken all the same", async () => {
		const { wrap, waiting, letGo } = hanging("after");
		await desk.start({ on: { wrap } });
		await desk.scene.say('call put {"path":"a","text":"1"}');
		await eventually(() => expect(waiting.length).toBe(1));
		expect(desk.scene.texts()).toEqual([]);
		await desk.scene.clock.advance(21 * SECOND);
		await desk.answers(1);
		letGo();
		await eventually(async () =>
			expect((await desk.list()).map(({ kind }) => kind)).toEqual(["after", "before"]),
		);
		const id = await desk.scene.say('call put {"path":"a","text":"2"}');
		await eventually(() => expect(waiting.length).toBe(1));
		await desk.scene.say("/stop");
		await desk.answers(3);
		// Its answer was there already.
		expect(await desk.scene.disposition(id)).toBe("answered");
		letGo();
	});

	test("that a crash cut off keeps the begin of its stretch, and has its end when it is over", async () => {
		const cut = defineTool({
			name: "half",
			description: "writes a file and never comes back",
			input: z.object({}),
			repeatable: false,
			changesFiles: () => true,
			run: () => {
				writeFileSync(join(desk.folder, "half"), "h");
				return new Promise<never>(() => {});
			},
		});
		await desk.start({ durable: true, tools: [cut] });
		const id = await desk.scene.say("call half {}");
		await eventually(() => expect(desk.read("half")).toBe("h"));
		const [before] = await desk.list();
		await desk.scene.crash();
		await desk.answers(1);
		const turn = await turnOf(id);
		const [after] = await desk.list();
		expect(after).toMatchObject({ kind: "after", turn, files: 1 });
		expect(await windows()).toEqual([{ owner: turn, from: before?.n, to: after?.n }]);
	});
});

describe("a folder that was there before Keryx", () => {
	test("has none until its owner asks for one, and each conversation is told once", async () => {
		await desk.start({ on: { fixed: true } });
		desk.write("mine", "1");
		const id = await desk.put("a", "1", 2);
		await desk.put("a", "2");
		const said = desk.scene.texts().map(plain);
		expect(said.filter((text) => text.includes("without checkpoints"))).toEqual([said[0]]);
		expect(said[0]).toContain(`because ${desk.folder} existed before Keryx.`);
		expect(await desk.list()).toEqual([]);
		expect(await desk.scene.why(id)).toContain("before its changes (checkpoint.consent)");
		expect(await desk.ask("/checkpoint", 1, { chat: "bob" })).toContain(
			"This folder existed before Keryx, so no checkpoints are saved yet",
		);
		expect(await desk.list()).toEqual([]);
		expect(await desk.ask("/checkpoint")).toContain(
			"From now on, Keryx saves one before and after every turn that changes files here.",
		);
		await desk.put("a", "3");
		expect((await desk.list()).map(({ kind }) => kind)).toEqual(["after", "manual"]);
		expect(await desk.ask("/checkpoint", 1, { chat: "bob" })).toContain("No files have changed since");
	});
});

describe("scenario 18: marathon", () => {
	const marathon = { config: { session_reset: { max_messages: 6 } } };
	const long = async () => {
		await desk.say("one");
		await desk.say("two");
		const id = await desk.say("three", 2);
		const [carried] = await desk.scene.rows(id);
		return { id, notice: plain(desk.scene.texts().at(-1) ?? ""), carried: String(carried?.content) };
	};

	test("the session that is full leaves a checkpoint, which the notice and the carry-over name", async () => {
		await desk.start(marathon);
		desk.write("mine", "1");
		const { id, notice, carried } = await long();
		const [only] = await desk.list();
		const ended = (await desk.scene.sessions(id)).find(({ endReason }) => endReason === "message_limit");
		expect(only).toMatchObject({
			kind: "rotation",
			label: `marathon-${ended?.id}`,
			session: ended?.id,
			files: 1,
		});
		for (const text of [notice, carried]) expect(text).toContain(`Checkpoint saved: ${only?.id}.`);
		expect(await desk.ask("/rollback")).toContain(`"marathon-${ended?.id}"`);
		expect(await desk.ask("/continue")).toContain("now continues");
	});

	test("where nothing has changed since the last one, that one is named", async () => {
		await desk.start(marathon);
		await desk.say('call put {"path":"a","text":"1"}');
		const id = await desk.say("three", 2);
		const [newest] = await desk.list();
		expect(newest?.kind).toBe("after");
		expect(String((await desk.scene.rows(id))[0]?.content)).toContain(`Checkpoint saved: ${newest?.id}.`);
	});

	test("without git the notice says why there is none", async () => {
		const { PATH } = process.env;
		process.env.PATH = desk.path;
		try {
			await desk.start(marathon);
			const { notice, carried } = await long();
			for (const text of [notice, carried])
				expect(text).toContain(
					"No checkpoint was saved: checkpoints need git, but there is no git on the PATH",
				);
		} finally {
			process.env.PATH = PATH;
		}
		expect(await desk.list()).toEqual([]);
	});

	test("with too many files the notice says why there is none", async () => {
		for (const name of ["a", "b", "c"]) desk.write(name, "");
		await desk.start({ ...marathon, on: { settings: { maxFiles: 2 } } });
		const { notice, carried } = await long();
		for (const text of [notice, carried])
			expect(text).toMatch(/No checkpoint was saved: .*more than 2 files/);
	});

	test("one that takes too long is not waited for, and not kept", async () => {
		const { wrap, waiting, letGo } = hanging("rotation");
		await desk.start({ ...marathon, on: { wrap } });
		await desk.say("one");
		await desk.say("two");
		const id = await desk.scene.say("three");
		await eventually(() => expect(waiting.length).toBe(1));
		await desk.scene.clock.advance(21 * SECOND);
		await desk.answers(4);
		expect(desk.scene.texts().at(-1)).toContain("No checkpoint was saved: it took too long");
		letGo();
		await eventually(async () =>
			expect(await desk.scene.why(id)).toContain("saved at the end of the session (checkpoint.failed)"),
		);
		expect(await desk.list()).toEqual([]);
	});

	test("without checkpoints nothing is said of them", async () => {
		await desk.start({ ...marathon, on: null });
		const { notice, carried } = await long();
		for (const text of [notice, carried]) expect(text).not.toMatch(/checkpoint/i);
	});
});
