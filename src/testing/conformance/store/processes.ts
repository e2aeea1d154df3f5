// Background processes: recorded before anything starts, ended once, reported to their conversation once.
import { expect } from "vitest";
import type { ConversationId } from "../../../domain/index.ts";
import type { Process, Store } from "../../../store/index.ts";
import { HOUR, MINUTE } from "../clock.ts";
import { ADA, BOB, OPERATOR, policy, refusal, type Scene, type Tell } from "./scene.ts";

type BeginArgs = Parameters<Store["beginProcess"]>[0];

const IDENTITY = { bootId: "boot", pid: 7, startTime: "123" };
const DESTINATION = { platform: "telegram", account: "", chatId: "100", threadId: "5" };
const EXITED = { status: "exited", exitCode: 0, signal: null, cause: "exited by itself" } as const;
const FAR = 253_402_300_000_000;

export function processConformance(tell: Tell): void {
	tell("a process is there before it is started, then runs, then has ended", async (scene) => {
		const conversation = await talk(scene);
		const begun = await begin(scene, conversation, "proc_000000000001", { command: "sleep 1", cwd: "/tmp" });
		expect(begun).toMatchObject({
			status: "starting",
			command: "sleep 1",
			cwd: "/tmp",
			identity: null,
			endedAt: null,
			nextCheckAt: null,
			startedAt: scene.clock.now(),
		});
		await scene.store.processStarted({ id: begun.id, identity: IDENTITY });
		await scene.store.processStarted({ id: begun.id, identity: { ...IDENTITY, pid: 8 } });
		expect(await find(scene, begun.id)).toMatchObject({ status: "running", identity: IDENTITY });
		scene.clock.advance(MINUTE);
		await end(scene, begun.id, { status: "exited", exitCode: 3 });
		expect(await find(scene, begun.id)).toMatchObject({
			status: "exited",
			exitCode: 3,
			logBytes: 10,
			logLost: 2,
			endedAt: scene.clock.now(),
		});
		const types = (await scene.events(conversation)).map(({ type }) => type);
		expect(types.filter((type) => type.startsWith("process."))).toEqual([
			"process.begun",
			"process.started",
			"process.ended",
		]);
	});

	tell(
		"an end is recorded once and tells its conversation once, where the process came from",
		async (scene) => {
			const conversation = await talk(scene);
			const { id } = await begin(scene, conversation);
			const first = await end(scene, id);
			expect(first?.woken).toMatchObject({ conversation });
			expect(await end(scene, id, { status: "lost" })).toBeNull();
			expect(await find(scene, id)).toMatchObject({ status: "exited" });
			const turn = await scene.begin(conversation, [first?.woken?.inbox as number]);
			expect(turn).toMatchObject({ destination: DESTINATION });
			expect(turn.appended).toMatchObject([{ role: "meta", kind: "note", content: "it has ended" }]);
			await scene.end(turn);
			const waiting = await scene.store.waitingItems({ scope: OPERATOR, after: 0, limit: 10 });
			expect(waiting).toEqual([]);
		},
	);

	tell("who is told of an end is what was asked for", async (scene) => {
		const conversation = await talk(scene);
		const isNotified = async (args: Partial<BeginArgs>, ended: Partial<EndArgs["end"]>, note?: null) => {
			const { id } = await begin(scene, conversation, nextId(), args);
			return (await end(scene, id, ended, note))?.woken !== null;
		};
		expect(await isNotified({ notify: "none" }, { exitCode: 1 })).toBe(false);
		expect(await isNotified({ notify: "result" }, {})).toBe(true);
		expect(await isNotified({ notify: "all" }, {})).toBe(true);
		expect(await isNotified({ notify: "error" }, {})).toBe(false);
		expect(await isNotified({ notify: "error" }, { exitCode: 1 })).toBe(true);
		expect(await isNotified({ notify: "error" }, { exitCode: null, signal: "SIGSEGV" })).toBe(true);
		expect(await isNotified({ notify: "error" }, { status: "lost", exitCode: null })).toBe(true);
		expect(await isNotified({ background: false }, { exitCode: 1 })).toBe(false);
		expect(await isNotified({ notify: "result" }, {}, null)).toBe(false);
	});

	tell(
		"one that nobody waits for any more is taken into the background, and its end is told",
		async (scene) => {
			const conversation = await talk(scene);
			const { id } = await begin(scene, conversation, nextId(), { background: false, notify: "none" });
			expect(await scene.store.adoptProcess({ id })).toBe(true);
			expect(await scene.store.adoptProcess({ id })).toBe(false);
			expect(await find(scene, id)).toMatchObject({ background: true, notify: "result" });
			expect((await end(scene, id))?.woken).not.toBeNull();
			expect(await scene.store.adoptProcess({ id })).toBe(false);
		},
	);

	tell("no more run than allowed, in all and in one conversation; an ended one makes room", async (scene) => {
		const ada = await talk(scene);
		const bob = await talk(scene, BOB);
		const limits = { inAll: 3, perConversation: 2 };
		const attempt = (conversation: ConversationId) =>
			scene.store.beginProcess(beginArgs(conversation, nextId(), { limits }));
		const first = await attempt(ada);
		await attempt(ada);
		expect(await attempt(ada)).toEqual({ kind: "limit", of: "conversation", limit: 2 });
		expect(await attempt(bob)).toMatchObject({ kind: "begun" });
		expect(await attempt(bob)).toEqual({ kind: "limit", of: "all", limit: 3 });
		await end(scene, first.kind === "begun" ? first.process.id : "");
		expect(await attempt(bob)).toMatchObject({ kind: "begun" });
	});

	tell("another conversation's process is not there, by its id or any part of it", async (scene) => {
		const ada = await talk(scene);
		const bob = await talk(scene, BOB);
		await begin(scene, ada, "proc_aaaa00000001");
		await begin(scene, ada, "proc_aaaa00000002");
		await begin(scene, bob, "proc_aaaa10000003");
		const look = (conversation: ConversationId, id: string) =>
			scene.store.process({ scope: { kind: "conversation", conversation }, id });
		expect((await look(ada, "proc_aaaa00000001")).id).toBe("proc_aaaa00000001");
		expect((await look(ada, "aaaa00000002")).id).toBe("proc_aaaa00000002");
		expect((await look(bob, "aaaa")).id).toBe("proc_aaaa10000003");
		expect((await look(bob, "proc_aaaa1")).id).toBe("proc_aaaa10000003");
		expect(await refusal(look(bob, "proc_aaaa00000001"))).toBe("store.not_found");
		expect(await refusal(look(bob, "aaaa0"))).toBe("store.not_found");
		expect(await refusal(look(ada, "aaaa"))).toBe("argument.invalid");
		for (const id of ["", "a", "aaa", "proc_", "proc_aaa", "proc", "%", "aaaa%", "proc_zzzz"])
			expect(await refusal(look(bob, id))).toBe("store.not_found");
		expect((await scene.store.process({ scope: OPERATOR, id: "aaaa1" })).id).toBe("proc_aaaa10000003");
	});

	tell("those that run are listed first, then the newest; a conversation sees its own", async (scene) => {
		const ada = await talk(scene);
		const bob = await talk(scene, BOB);
		const [first, second, third] = [
			await begin(scene, ada, "proc_000000000001"),
			await begin(scene, ada, "proc_000000000002"),
			await begin(scene, bob, "proc_000000000003"),
		].map(({ id }) => id);
		await end(scene, second as string);
		const listed = async (scope: Parameters<Store["processes"]>[0]["scope"], limit = 10) =>
			(await scene.store.processes({ scope, limit })).map(({ id }) => id);
		expect(await listed({ kind: "conversation", conversation: ada })).toEqual([first, second]);
		expect(await listed(OPERATOR)).toEqual([third, first, second]);
		expect(await listed(OPERATOR, 2)).toEqual([third, first]);
		const unfinished = await scene.store.unfinishedProcesses({ scope: OPERATOR });
		expect(unfinished.map(({ id }) => id)).toEqual([first, third]);
	});

	tell(
		"progress is due at its interval, with the notice in the same commit; without one never",
		async (scene) => {
			const conversation = await talk(scene);
			const { id } = await begin(scene, conversation, "proc_00000000000a", { checkMs: MINUTE });
			await begin(scene, conversation, "proc_00000000000b");
			const due = async (now = scene.clock.now()) =>
				(await scene.store.dueProcessChecks({ scope: OPERATOR, now, limit: 10 })).map((one) => one.id);
			expect(await due()).toEqual([]);
			expect(await due(FAR)).toEqual([id]);
			expect((await find(scene, id)).nextCheckAt).toBe(scene.clock.now() + MINUTE);
			scene.clock.advance(MINUTE);
			expect(await due()).toEqual([id]);
			const notice = {
				id: `process:${id}:5`,
				kind: "notice" as const,
				destination: DESTINATION,
				body: { text: "still at it", plain: "still at it" },
			};
			await scene.store.processChecked({ id, to: 5, printedAt: scene.clock.now(), deliveries: [notice] });
			expect(await find(scene, id)).toMatchObject({ checkedTo: 5, nextCheckAt: scene.clock.now() + MINUTE });
			expect(await due()).toEqual([]);
			expect(await scene.deliverAll()).toEqual(["still at it"]);
			await end(scene, id);
			scene.clock.advance(MINUTE);
			await scene.store.processChecked({ id, to: 9, deliveries: [notice] });
			expect(await find(scene, id)).toMatchObject({ checkedTo: 5, nextCheckAt: null });
			expect(await due(FAR)).toEqual([]);
		},
	);

	tell("progress does not wait for a clock that was set back", async (scene) => {
		const conversation = await talk(scene);
		const { id } = await begin(scene, conversation, "proc_00000000000a", { checkMs: MINUTE });
		await begin(scene, conversation, "proc_00000000000b");
		scene.clock.advance(-HOUR);
		const now = scene.clock.now();
		const due = await scene.store.dueProcessChecks({ scope: OPERATOR, now, limit: 10 });
		expect(due.map((one) => one.id)).toEqual([id]);
		await scene.store.processChecked({ id, to: 0, deliveries: [] });
		expect((await find(scene, id)).nextCheckAt).toBe(now + MINUTE);
		expect(await scene.store.dueProcessChecks({ scope: OPERATOR, now, limit: 10 })).toEqual([]);
	});

	tell("what has been handed over is never handed over again", async (scene) => {
		const conversation = await talk(scene);
		const { id } = await begin(scene, conversation);
		await scene.store.processPolled({ id, to: 10 });
		await scene.store.processPolled({ id, to: 4 });
		expect((await find(scene, id)).polledTo).toBe(10);
	});

	tell(
		"a process holds its session open: for a day, and longer while it prints or is watched",
		async (scene) => {
			const idle = policy({ mode: "idle", idle_minutes: 60, process_max_age_hours: 24 });
			const held = async (from: typeof ADA, args: Partial<BeginArgs>, printsAt?: number) => {
				const begun = await scene.exchange("hello", "hi", from, { policy: idle });
				const { id } = await begin(scene, begun.conversation, nextId(), args);
				return { id, begun, printsAt };
			};
			const chat = (n: number) => ({ ...ADA, chat_id: `${n}`, user_id: `${n}` });
			const cases = {
				quiet: await held(chat(1), {}),
				printing: await held(chat(2), {}),
				watched: await held(chat(3), { checkMs: HOUR }),
				waitedFor: await held(chat(4), { background: false }),
			};
			const goesOn = async (name: keyof typeof cases, n: number) => {
				const { begun } = cases[name];
				const { id } = await scene.say("again", chat(n));
				const turn = await scene.begin(begun.conversation, [id], { policy: idle });
				await scene.reply(turn, "hi", { policy: idle });
				return turn.session === begun.session;
			};
			scene.clock.advance(23 * HOUR);
			expect(await goesOn("quiet", 1)).toBe(true);
			expect(await goesOn("waitedFor", 4)).toBe(false);
			await scene.store.processPrinted({ id: cases.printing.id, at: scene.clock.now() });
			scene.clock.advance(2 * HOUR);
			expect(await goesOn("quiet", 1)).toBe(false);
			expect(await goesOn("printing", 2)).toBe(true);
			expect(await goesOn("watched", 3)).toBe(true);
		},
	);

	tell("ended ones are forgotten when they are old, running ones never", async (scene) => {
		const conversation = await talk(scene);
		const { id: old } = await begin(scene, conversation, nextId());
		const { id: running } = await begin(scene, conversation, nextId());
		await end(scene, old);
		scene.clock.advance(HOUR);
		const before = scene.clock.now();
		expect(await scene.store.oldProcesses({ scope: OPERATOR, before, limit: 10 })).toEqual([old]);
		expect(await scene.store.forgetProcess({ id: running })).toBe(false);
		expect(await scene.store.forgetProcess({ id: old })).toBe(true);
		expect(await refusal(scene.store.process({ scope: OPERATOR, id: old }))).toBe("store.not_found");
		expect(await refusal(scene.store.processStarted({ id: old, identity: IDENTITY }))).toBe(
			"store.not_found",
		);
	});

	tell("an end before its beginning is not believed", async (scene) => {
		const conversation = await talk(scene);
		const { id, startedAt } = await begin(scene, conversation);
		await scene.store.endProcess({ id, end: EXITED, at: 5, logBytes: 0, logLost: 0, note: null });
		expect((await find(scene, id)).endedAt).toBe(startedAt);
	});
}

type EndArgs = Parameters<Store["endProcess"]>[0];

let ids = 0;
function nextId(): string {
	return `proc_${(++ids).toString(16).padStart(12, "0")}`;
}

async function talk(scene: Scene, from = ADA): Promise<ConversationId> {
	return (await scene.exchange("hello", "hi", from)).conversation;
}

/** A process that nobody waits for, and whose end is reported to a chat. */
export function beginArgs(
	conversation: ConversationId,
	id: string,
	args: Partial<BeginArgs> = {},
): BeginArgs {
	return {
		id,
		conversation,
		principal: null,
		turn: null,
		role: null,
		backend: "local",
		command: "true",
		cwd: "/",
		background: true,
		pty: false,
		notify: "result",
		destination: DESTINATION,
		limits: { inAll: 100, perConversation: 100 },
		...args,
	};
}

async function begin(
	scene: Scene,
	conversation: ConversationId,
	id = nextId(),
	args: Partial<BeginArgs> = {},
): Promise<Process> {
	const begun = await scene.store.beginProcess(beginArgs(conversation, id, args));
	return begun.kind === "begun" ? begun.process : expect.fail("it was not begun");
}

function end(
	scene: Scene,
	id: string,
	ended: Partial<EndArgs["end"]> = {},
	note: string | null = "it has ended",
) {
	return scene.store.endProcess({
		id,
		end: { ...EXITED, ...ended },
		at: scene.clock.now(),
		logBytes: 10,
		logLost: 2,
		note,
	});
}

function find(scene: Scene, id: string): Promise<Process> {
	return scene.store.process({ scope: OPERATOR, id });
}
