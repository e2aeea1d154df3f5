// What must hold when a gateway has come to rest, asked of the store and of what users see.
import type { Message } from "../../../src/domain/index.ts";
import type { Delivery, InboxItem, Store } from "../../../src/store/index.ts";
import { OPERATOR, type Scene } from "../support.ts";
import { ScriptedPlace } from "./place.ts";

type Turn = Awaited<ReturnType<Store["turn"]>>;

export interface Found {
	/** Empty when all is well. */
	readonly problems: readonly string[];
	/** What users see, chat by chat, without what is drawn anew in each run. */
	readonly shown: string;
	/** How many calls of models the record has. */
	readonly calls: number;
}

/**
 * `ends`: dispositions that belong to the scenario, beside an answer. `isAway`: the store may have been away when the gateway ended, so
 * that what was sent last could not be written down.
 */
export async function judge(
	scene: Scene,
	{ ends, isAway }: { readonly ends: readonly string[]; readonly isAway: boolean },
): Promise<Found> {
	const problems: string[] = [];
	const say = (holds: boolean, problem: string): void => {
		if (!holds) problems.push(problem);
	};
	const { items, turns, deliveries, calls } = await everything(scene.beside);

	say(scene.world.unacknowledged.length === 0, "I3: a message was never acknowledged");
	const said = new Set(scene.world.updates.map(({ inbound }) => inbound.platformMessage));
	const accepted = items.filter(({ kind }) => kind === "person").map((item) => item.platformMessage);
	for (const message of said) {
		const times = accepted.filter((one) => one === message).length;
		say(times === 1, `I4: message ${message} was accepted ${times} times`);
	}
	for (const item of items) {
		const end = item.disposition?.kind ?? "none";
		say(item.disposition !== null, `I3: inbound ${item.id} (${item.kind}) has no disposition`);
		say(item.command === null, `inbound ${item.id} was never answered`);
		say(
			item.disposition === null || ["answered", "merged", "observed", ...ends].includes(end),
			`inbound ${item.id} ended as ${JSON.stringify(item.disposition)}`,
		);
	}
	for (const { id, state, detail } of turns)
		say(state !== "running" && state !== "interrupted", `I5: turn ${id} is still ${state} (${detail})`);
	for (const delivery of deliveries)
		if (!(isAway && delivery.state === "unknown" && delivery.reason === DIED))
			judgeDelivery(scene, delivery, say);
	judgeOrder(scene, deliveries, say);
	for (const turn of turns) await judgeRows(scene.beside, turn, isAway, say);
	await judgeProcesses(scene, say);
	for (const effects of [scene.effects, scene.dangers])
		say(effects.length <= scene.shown.length, "an effect happened more often than it was asked for");
	problems.push(...(await scene.beside.checkIntegrity({ scope: OPERATOR })).problems);
	return { problems, shown: shownIn(scene), calls };
}

/** By what the events name: everything there ever was. */
async function everything(store: Store) {
	const items = new Map<number, InboxItem>();
	const turns = new Map<string, Turn>();
	const deliveries = new Map<string, Delivery>();
	let calls = 0;
	for (let cursor = ""; ; ) {
		const page = await store.events({ scope: OPERATOR, after: cursor, limit: 1000 });
		if (page.kind === "resync") throw new Error("events are missing");
		for (const { type, subject, turn } of page.events) {
			if (type === "model.called") calls++;
			if (type.startsWith("inbound.")) {
				const id = Number(subject);
				items.set(id, await store.inboxItem({ scope: OPERATOR, id }));
			}
			if (type === "turn.begun" && turn !== null)
				turns.set(turn, await store.turn({ scope: OPERATOR, id: turn }));
			if ((type === "delivery.pending" || type === "delivery.opened") && subject !== null)
				deliveries.set(subject, await store.delivery({ scope: OPERATOR, id: subject }));
		}
		if (page.events.length === 0) break;
		cursor = page.cursor;
	}
	return {
		calls,
		items: [...items.values()],
		turns: [...turns.values()],
		deliveries: [...deliveries.values()].toSorted((a, b) => a.n - b.n),
	};
}

const DIED = "Keryx died while sending";

type Say = (holds: boolean, problem: string) => void;

/** Sent and seen once. What was never sent, because its turn was stopped, is not seen. */
function judgeDelivery(scene: Scene, { id, state, reason }: Delivery, say: Say): void {
	const seen = scene.world.visible().filter((message) => message.id === id).length;
	const isRight = (state === "sent" && seen === 1) || (state === "dead" && seen === 0);
	say(isRight, `I7: delivery ${id} is ${state} (${reason}), and users see it ${seen} times`);
	if (state === "dead")
		say(reason?.startsWith("the turn ended") ?? false, `I7: delivery ${id} is dead: ${reason}`);
}

/** I19: in the order in which it was committed. */
function judgeOrder(scene: Scene, deliveries: readonly Delivery[], say: Say): void {
	const number = new Map(deliveries.map(({ id, n }) => [id, n]));
	const last = new Map<string, number>();
	for (const { id, chat } of scene.world.visible()) {
		const n = number.get(id) ?? 0;
		say(n > (last.get(chat) ?? 0), `I19: delivery ${id} is shown in ${chat} after a later one`);
		last.set(chat, n);
	}
}

/** Each call of a turn has one result; where the turn was cut short, at most one. No result tells of a fault that has passed. */
async function judgeRows(store: Store, turn: Turn, isAway: boolean, say: Say): Promise<void> {
	const rows = (await store.transcript({ scope: OPERATOR, session: turn.session })).filter(
		(row: Message) => row.turn === turn.id,
	);
	const results = rows.filter(({ role }) => role === "tool").map(({ toolCallId }) => toolCallId);
	for (const { content } of rows)
		say(
			isAway || !String(content).includes("(store."),
			`turn ${turn.id} was told of the store: ${String(content)}`,
		);
	for (const { id } of rows.flatMap(({ toolCalls }) => toolCalls ?? [])) {
		const times = results.filter((result) => result === id).length;
		const isRight = times === 1 || (times === 0 && turn.state !== "completed");
		say(isRight, `call ${id} of turn ${turn.id} (${turn.state}) has ${times} results`);
	}
	const summaries = rows.filter(({ kind }) => kind === "summary").map(({ covers }) => JSON.stringify(covers));
	say(new Set(summaries).size === summaries.length, `turn ${turn.id} has summed up the same rows twice`);
}

/** What was started has run, and has the end that it had. */
async function judgeProcesses({ beside, options }: Scene, say: Say): Promise<void> {
	const place = options.programs?.place;
	if (!(place instanceof ScriptedPlace)) return;
	for (const { id, status, endedAt } of await beside.processes({ scope: OPERATOR, limit: 100 })) {
		const right = place.starts.includes(id) ? "exited" : "failed_start";
		say(endedAt !== null && status === right, `process ${id} is ${status}, and should be ${right}`);
	}
	say(new Set(place.starts).size === place.starts.length, "a process was started twice");
}

function shownIn({ world, effects, dangers }: Scene): string {
	const chats = new Map<string, string[]>();
	for (const { chat, text } of world.visible())
		if (!text.startsWith("Keryx was offline since")) chats.set(chat, [...(chats.get(chat) ?? []), text]);
	const shown = [...chats].sort(([one], [other]) => (one < other ? -1 : 1));
	return JSON.stringify([shown, effects, dangers])
		.replace(/\d{8}_\d{6}_[0-9a-f]{8}/g, "<session>")
		.replace(/(proc_)?[0-9a-f]{12,}/g, "<id>")
		.replace(/within \d+ (seconds|minutes)/g, "within <time>")
		.replace(/idle for \d+ min/g, "idle for <time>")
		.replace(/after \d+(\.\d+)? ?(s|ms|min)\b/g, "after <time>");
}
