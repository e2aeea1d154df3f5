// What people do with checkpoints in a chat, and what the API does by the same path.
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { KeryxError } from "../../src/errors.ts";
import type { Engine } from "../../src/store/index.ts";
import { eventually } from "../support/soon.ts";
import { Desk } from "./files.ts";
import { MINUTE, OPERATOR, SECRET } from "./support.ts";

let desk: Desk;
beforeEach(() => {
	desk = new Desk();
});
afterEach(() => desk.end());

const visible = async (id: string) =>
	(await desk.scene.rows(id))
		.filter(({ hidden, role }) => !hidden && role !== "meta")
		.map(({ content }) => content);
const short = (id: string | undefined) => (id ?? "?").slice(0, 10);

/** A turn that waits for the clock, and has run a call that changes files before. */
const SLOW = {
	script: {
		rules: [
			{
				when: "slow",
				steps: [
					{ tools: [{ name: "put", input: { path: "slow", text: "s" } }] },
					{ text: "half of it", delay_ms: MINUTE },
				],
				repeat: true,
			},
		],
		otherwise: [{ text: "you said {{input}}" }],
	},
};

/** The store goes away when this is to be written, as it does when the process dies. */
function diesAt(write: string): (engine: Engine) => Engine {
	let dead = false;
	return (engine) => ({
		...engine,
		write: (name, args, drawn) => {
			dead ||= name === write;
			return dead
				? Promise.reject(new KeryxError("store.closed", "it is gone"))
				: engine.write(name, args, drawn);
		},
	});
}

describe("/checkpoint", () => {
	test("saves the files once, under its label", async () => {
		await desk.start();
		desk.write("a", "1");
		const said = await desk.ask("/checkpoint the *first*\u202e one");
		const [only] = await desk.list();
		expect(only).toMatchObject({ kind: "manual", label: "the *first* one", files: 1 });
		expect(said).toContain(`Checkpoint saved: ${short(only?.id)}, 1 file.`);
		expect(await desk.ask("/checkpoint")).toContain(
			`No files have changed since checkpoint ${short(only?.id)}`,
		);
		expect((await desk.list()).length).toBe(1);
	});

	test("says why there is none", async () => {
		for (const name of ["a", "b", "c"]) desk.write(name, "");
		await desk.start({ on: { settings: { maxFiles: 2 } } });
		const said = await desk.ask("/checkpoint");
		expect(said).toContain("No checkpoint was saved: ");
		expect(said).toContain("raise checkpoints.max_files");
	});

	test("with the others says so where this Keryx takes none", async () => {
		await desk.start({ on: null });
		for (const command of ["/checkpoint", "/rollback", "/rollback 1", "/diff"])
			expect(await desk.ask(command), command).toContain("Checkpoints are off.");
	});

	test("with the others is not for guests", async () => {
		await desk.start({
			config: { auth: { telegram: { allow: [{ id: "eve", role: "guest" }] } } },
		});
		for (const command of ["/checkpoint", "/rollback 1", "/diff", "/undo --files"])
			expect(await desk.ask(command, 1, { chat: "eve" }), command).toContain("You cannot use /");
	});
});

describe("/rollback", () => {
	test("lists them, newest first", async () => {
		await desk.start();
		expect(await desk.ask("/rollback")).toContain("There are no checkpoints of these files yet.");
		desk.write("mine", "1\n");
		await desk.put("a", "1\n2\n");
		const [after, before] = await desk.list();
		const lines = (await desk.ask("/rollback")).split("\n");
		expect(lines[1]).toContain(`${short(after?.id)} 0 s ago, after "call put`);
		expect(lines[1]).toContain("(1 file, +2 -0)");
		expect(lines[2]).toContain(`${short(before?.id)} 0 s ago, before "call put`);
		expect(lines[2]).toContain("(1 file)");
	});

	test("takes back what the agent did, keeps what a person did, and is taken back itself", async () => {
		await desk.start();
		desk.write("both", "mine\n");
		desk.write("theirs", "old\n");
		await desk.put("theirs", "new\n");
		await desk.put("made", "m\n");
		await desk.put("both", "agent\n");
		desk.write("both", "mine again\n");
		const first = (await desk.list()).at(-1);
		const said = await desk.ask(`/rollback ${(await desk.list()).length}`);
		expect([desk.read("theirs"), desk.read("made"), desk.read("both")]).toEqual([
			"old\n",
			null,
			"mine again\n",
		]);
		expect(said).toContain(`Restored checkpoint ${short(first?.id)}: 1 file restored, 1 removed.`);
		expect(said).toContain("Restored: theirs");
		expect(said).toContain("Removed: made");
		expect(said).toContain("- both: someone other than the agent changed it");
		const [, undo] = /\/rollback (\w+) undoes this/.exec(said) ?? [];
		const [, force] = /\/rollback (\w+) --force also undoes/.exec(said) ?? [];
		await desk.ask(`/rollback ${undo}`);
		expect([desk.read("theirs"), desk.read("made"), desk.read("both")]).toEqual([
			"new\n",
			"m\n",
			"mine again\n",
		]);
		expect(await desk.ask(`/rollback --force ${force}`)).toContain("2 files restored, 1 removed");
		expect([desk.read("theirs"), desk.read("made"), desk.read("both")]).toEqual(["old\n", null, "mine\n"]);
	});

	test("takes back one file, also with a blank in its name", async () => {
		await desk.start();
		await desk.put("a file", "1");
		await desk.put("a file", "2");
		await desk.put("other", "2");
		const [, , , first] = await desk.list();
		expect(await desk.ask(`/rollback ${first?.id.slice(0, 7)} a file`)).toContain("1 removed");
		expect([desk.read("a file"), desk.read("other")]).toEqual([null, "2"]);
	});

	test("changes nothing for what is no checkpoint, no number of one, or no path inside", async () => {
		await desk.start();
		desk.write("a", "1");
		await desk.ask("/checkpoint");
		desk.write("a", "2");
		const before = await desk.list();
		for (const [args, answer] of [
			["--output=x", "Name a checkpoint by its number in /rollback, or by its id"],
			["-1", "Name a checkpoint by its number"],
			["0", "from 1 to 1"],
			["2", "from 1 to 1"],
			["HEAD", "Name a checkpoint by its number"],
			["0000000", "There is no checkpoint 0000000 here."],
			["1 ../x", "it points outside the workspace"],
			["1 /etc/passwd", "it is absolute"],
			["1 .git/config", "it belongs to git"],
			["1 a/../../x --force", "it points outside the workspace"],
			["--force", "Name a checkpoint by its number"],
		] as const)
			expect(await desk.ask(`/rollback ${args}`), args).toContain(answer);
		for (const [args, answer] of [
			["--output=x", "Name a checkpoint by its number"],
			["0", "from 1 to 1"],
		] as const)
			expect(await desk.ask(`/diff ${args}`), args).toContain(answer);
		expect(await desk.list()).toEqual(before);
		expect(desk.read("a")).toBe("2");
	});

	test("a path that is not there, or an option that is none, is only a path", async () => {
		await desk.start();
		desk.write("a", "1");
		await desk.ask("/checkpoint");
		expect(await desk.ask("/rollback 1 --output=x")).toContain("The files already match");
		expect(desk.read("a")).toBe("1");
	});

	test("is refused while an answer is being worked on", async () => {
		await desk.start(SLOW);
		await desk.scene.say("slow");
		await eventually(async () => {
			await desk.scene.clock.advance(0);
			expect(desk.read("slow")).toBe("s");
		});
		expect(await desk.ask("/rollback 1")).toContain("Keryx is working on an answer");
		expect(desk.read("slow")).toBe("s");
	});

	test("that a crash cuts off before its end is finished once, and answered", async () => {
		const durable = desk.options({ durable: true });
		await desk.start({ durable: true, engine: diesAt("endRestore") });
		await desk.put("a", "1");
		await desk.put("a", "2");
		// A second time it would go back to something else: numbers count from the newest.
		const id = await desk.scene.say("/rollback 3");
		await eventually(() => expect(desk.read("a")).toBeNull());
		await eventually(async () =>
			expect(await desk.scene.store.openRestores({ scope: OPERATOR })).toHaveLength(1),
		);
		desk.write("later", "l");
		await desk.scene.crash(0, durable);
		await desk.answers(3);
		expect(desk.read("a")).toBeNull();
		expect(desk.scene.texts().at(-1)).toContain("Restored checkpoint");
		expect(await desk.scene.disposition(id)).toBe("command");
		expect(desk.scene.log.join("\n")).toContain("finished the interrupted restore");
		await desk.scene.crash(0, durable);
		await desk.scene.clock.advance(MINUTE);
		expect(desk.scene.texts().length).toBe(3);
	});
});

describe("/diff", () => {
	test("shows what the last turn that changed files did, or show what changed since a checkpoint", async () => {
		await desk.start();
		expect(await desk.ask("/diff")).toContain("There are no checkpoints of these files yet.");
		desk.write("a", "one\n");
		await desk.put("a", "two\n");
		await desk.ask("hello");
		desk.write("b", "person\n");
		const last = await desk.ask("/diff");
		expect(last).toContain("Changes made by the last turn that changed files: 1 file\n- a: changed, +1 -1");
		expect(last).toContain("-one\n+two");
		expect(last).not.toContain("person");
		const since = await desk.ask("/diff 2");
		expect(since).toContain("- a: changed, +1 -1\n- b: new, +1 -0");
		expect(await desk.ask("/diff 1")).toContain(": 1 file\n- b: new, +1 -0");
	});

	test("is short, shows text as it is, and no known secret", async () => {
		await desk.start();
		desk.write("a", "```\nold\n");
		await desk.ask(`/checkpoint ${SECRET}`);
		desk.write("a", `\`\`\`\n**bold** ${SECRET} \u202e\u2028x\n`);
		desk.write("b", "line\n".repeat(5000));
		const said = await desk.ask("/diff 1");
		expect(said).toContain(" ```\n-old\n+**bold** \u0024{secret:TEST} \uFFFD\uFFFDx");
		expect(said).toContain("- b: new, +5000 -0");
		expect(said).toContain("The rest is not shown.");
		expect(said.length).toBeLessThan(3600);
		const [first] = await desk.list();
		expect(JSON.stringify([first, desk.scene.texts()])).not.toContain(SECRET);
	});
});

describe("/undo --files", () => {
	test("takes chat and files back to before that turn", async () => {
		await desk.start();
		desk.write("a", "0");
		const id = await desk.put("a", "1");
		await desk.put("a", "2");
		await desk.put("b", "2");
		const said = await desk.ask("/undo 2 --files");
		expect(said).toMatch(/^Undone: your last 2 turns \(6 messages\)\. \/redo brings the messages back/);
		expect(said).toContain("1 file restored, 1 removed");
		expect([desk.read("a"), desk.read("b")]).toEqual(["1", null]);
		expect((await visible(id)).length).toBe(4);
		const [, undo] = /\/rollback (\w+) undoes this/.exec(said) ?? [];
		await desk.ask(`/rollback ${undo}`);
		expect(await desk.ask("/redo")).toContain("Brought back 6 messages.");
		expect([desk.read("a"), desk.read("b")]).toEqual(["2", "2"]);
		expect((await visible(id)).length).toBe(12);
	});

	test("keeps what a person has changed since, and says so", async () => {
		await desk.start();
		desk.write("a", "0");
		desk.write("b", "0");
		const id = await desk.put("a", "1");
		desk.write("a", "person");
		const said = await desk.ask("/undo --files");
		expect(said).toContain("- a: someone other than the agent changed it");
		expect(desk.read("a")).toBe("person");
		expect(await visible(id)).toEqual([]);
	});

	test("takes only the chat back where no file was changed, and says so", async () => {
		await desk.start();
		desk.write("a", "0");
		await desk.put("a", "1");
		const id = await desk.say("call look {}");
		desk.write("a", "person");
		expect(await desk.ask("/undo --files")).toContain(
			"No files were changed in it, so no files were restored.",
		);
		expect(desk.read("a")).toBe("person");
		expect((await visible(id)).length).toBe(4);
		expect(await desk.ask("/undo 5 --files")).toContain("The files already match checkpoint");
		expect(await desk.ask("/undo --files")).toBe("There is nothing to undo.");
	});

	test("is refused where a turn may have changed files and there is nothing to go back to", async () => {
		desk.write("a", "0");
		desk.write("b", "0");
		await desk.start({ on: { settings: { maxFiles: 1 } } });
		const id = await desk.put("a", "1");
		const said = await desk.ask("/undo --files");
		expect(said).toContain("Nothing was changed: that turn may have changed files");
		expect(said).toContain("/undo without --files undoes only the messages");
		expect([desk.read("a"), (await visible(id)).length]).toEqual(["1", 4]);
		rmSync(join(desk.folder, "b"));
		await desk.put("a", "2");
		expect(await desk.ask("/undo 2 --files")).toContain("these turns may have changed files");
		expect(await desk.ask("/undo --files")).toContain("1 file restored");
		expect([desk.read("a"), (await visible(id)).length]).toEqual(["1", 4]);
	});

	test("is refused where the checkpoint of before has given way to later ones", async () => {
		await desk.start({ on: { settings: { maxSnapshots: 2 } } });
		const id = await desk.put("a", "1");
		await desk.put("a", "2");
		await desk.put("a", "3");
		await desk.scene.checkpoints?.prune(desk.folder);
		expect(await desk.ask("/undo 3 --files")).toContain("there is no checkpoint from before");
		expect(await desk.ask("/undo --files")).toContain("1 file restored");
		expect([desk.read("a"), (await visible(id)).length]).toEqual(["2", 8]);
	});

	test("takes back an answer that was asked for again together with the one before it", async () => {
		await desk.start();
		const id = await desk.put("a", "1");
		await desk.say("/retry", 2);
		expect((await desk.list()).map(({ kind }) => kind)).toEqual(["after", "before"]);
		expect(await desk.ask("/undo --files")).toContain("1 removed");
		expect([desk.read("a"), await visible(id)]).toEqual([null, []]);
	});

	test("stops a running answer first, and takes back what that has changed", async () => {
		await desk.start(SLOW);
		const id = await desk.scene.say("slow");
		await eventually(async () => {
			await desk.scene.clock.advance(0);
			expect(desk.read("slow")).toBe("s");
		});
		expect(await desk.ask("/undo --files")).toContain("1 removed");
		expect(desk.read("slow")).toBeNull();
		expect(await visible(id)).toEqual([]);
		expect(await desk.scene.disposition(id)).toBe("stopped");
	});

	test("that a crash cuts off between files and chat is finished with both, once, and answered", async () => {
		const durable = desk.options({ durable: true });
		await desk.start({ durable: true, engine: diesAt("endRestore") });
		const id = await desk.put("a", "1");
		await desk.put("a", "2");
		const command = await desk.scene.say("/undo --files");
		await eventually(async () =>
			expect(await desk.scene.store.openRestores({ scope: OPERATOR })).toHaveLength(1),
		);
		await eventually(() => expect(desk.read("a")).toBe("1"));
		expect((await visible(id)).length).toBe(8);
		await desk.scene.crash(0, durable);
		await desk.answers(3);
		expect([desk.read("a"), (await visible(id)).length]).toEqual(["1", 4]);
		expect(desk.scene.texts().at(-1)).toContain("Undone: your last turn (3 messages");
		expect(desk.scene.texts().at(-1)).toContain("1 file restored");
		expect(await desk.scene.disposition(command)).toBe("command");
		await desk.scene.crash(0, durable);
		await desk.scene.clock.advance(MINUTE);
		expect([desk.read("a"), (await visible(id)).length, desk.scene.texts().length]).toEqual(["1", 4, 3]);
	});

	test("that cannot be finished is told; when it can be, a conversation that went on keeps its messages", async () => {
		const durable = desk.options({ durable: true });
		await desk.start({ durable: true, engine: diesAt("endRestore") });
		desk.write("a", "0");
		const id = await desk.put("a", "1");
		await desk.scene.say("/undo --files");
		await eventually(() => expect(desk.read("a")).toBe("0"));
		// Without git its content cannot be read.
		vi.stubEnv("PATH", "/nowhere");
		onTestFinished(() => void vi.unstubAllEnvs());
		await desk.scene.crash(0, durable);
		expect(desk.scene.log.join("\n")).toContain("cannot finish the interrupted restore");
		expect(await desk.scene.store.events({ scope: OPERATOR, after: "", limit: 1000 })).toMatchObject({
			events: expect.arrayContaining([expect.objectContaining({ type: "restore.unfinished" })]),
		});
		// The command is carried out again, and finds that out.
		await desk.answers(2);
		expect(desk.scene.texts().at(-1)).toContain("there is no git on the PATH");
		await desk.ask("hello");
		const before = await visible(id);
		vi.unstubAllEnvs();
		await desk.scene.crash(0, durable);
		expect(await desk.scene.store.openRestores({ scope: OPERATOR })).toEqual([]);
		expect(await visible(id)).toEqual(before);
	});
});

describe("actions", () => {
	const refusal = async (action: Promise<unknown>) => {
		const code = action.then(
			() => "nothing",
			(error: unknown) => (error instanceof KeryxError ? error.code : String(error)),
		);
		await desk.scene.clock.advance(0);
		return code;
	};

	test("take, restore and undo go by the same path", async () => {
		await desk.start();
		desk.write("a", "0");
		const id = await desk.put("a", "1");
		const conversation = await desk.scene.conversation(id);
		const { actions } = desk.scene.gateway;
		expect(await desk.scene.gateway.workspaceOf(conversation)).toBe(desk.folder);
		desk.write("b", "1");
		const taken = await actions.takeCheckpoint({ conversation, label: "mine" });
		expect(taken).toMatchObject({ kind: "taken", checkpoint: { label: "mine", conversation } });
		const [, , before] = await desk.list();
		const report = await actions.restoreCheckpoint({ conversation, id: before?.id ?? "", file: "a" });
		expect(report).toMatchObject({ restored: ["a"], removed: [], kept: [], undone: null });
		expect(desk.read("a")).toBe("0");
		await actions.restoreCheckpoint({ conversation, id: report.before.id });
		const undone = await actions.undo({ conversation, turns: 1, files: true });
		expect(undone).toMatchObject({ turns: 1, rows: 4, restored: { restored: ["a"] } });
		expect([desk.read("a"), desk.read("b"), await visible(id)]).toEqual(["0", "1", []]);
		expect(await actions.undo({ conversation, turns: 1, files: true })).toMatchObject({
			turns: 0,
			restored: null,
		});
	});

	test("a restore is refused while an answer is being worked on, and no turn begins while one runs", async () => {
		await desk.start(SLOW);
		const id = await desk.scene.say("slow");
		await eventually(async () => {
			await desk.scene.clock.advance(0);
			expect(desk.read("slow")).toBe("s");
		});
		const conversation = await desk.scene.conversation(id);
		const { actions } = desk.scene.gateway;
		const [first] = await desk.list();
		const target = first?.id ?? "";
		expect(await refusal(actions.restoreCheckpoint({ conversation, id: target }))).toBe("checkpoint.busy");
		await desk.ask("/stop");
		const restoring = actions.restoreCheckpoint({ conversation, id: target });
		await desk.scene.say("hello");
		expect(desk.scene.texts()).not.toContain("you said hello");
		await restoring;
		await desk.answers(2);
		expect(desk.scene.texts().at(-1)).toBe("you said hello");
	});

	test("without checkpoints are refused", async () => {
		await desk.start({ on: null });
		const conversation = await desk.scene.conversation(await desk.say("hello"));
		const { actions } = desk.scene.gateway;
		for (const action of [
			actions.takeCheckpoint({ conversation }),
			actions.restoreCheckpoint({ conversation, id: "0000000" }),
			actions.undo({ conversation, turns: 1, files: true }),
		])
			expect(await refusal(action)).toBe("checkpoint.disabled");
	});
});
