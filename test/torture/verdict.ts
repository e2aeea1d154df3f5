// What must hold when everything is over, asked of the store and of what users see.
import { readFileSync } from "node:fs";
import type { Delivery, InboxItem, Store } from "../../src/store/index.ts";
import type { VisibleMessage } from "../../src/testing/index.ts";
import { PLATFORMS, SCRIPTED_FAILURES } from "./scene.ts";
import type { SaidMessage, World } from "./world.ts";

const scope = { kind: "operator" } as const;

type Turn = Awaited<ReturnType<Store["turn"]>>;

interface Verdict {
	/** Empty when all is well. */
	readonly problems: readonly string[];
	/** Of messages, by disposition. */
	readonly dispositions: Readonly<Record<string, number>>;
	/** Deliveries of unknown outcome, by platform. */
	readonly unknown: Readonly<Record<string, number>>;
	readonly effects: number;
	readonly resumed: number;
	readonly suspended: number;
	readonly rotated: number;
}

export async function judge(store: Store, world: World): Promise<Verdict> {
	const judged = new Judgement(store, world);
	await judged.all();
	return judged;
}

class Judgement implements Verdict {
	readonly problems: string[] = [];
	readonly dispositions: Record<string, number> = {};
	readonly unknown: Record<string, number> = {};
	effects = 0;
	resumed = 0;
	suspended = 0;
	rotated = 0;
	readonly #store: Store;
	readonly #world: World;
	readonly #said = new Map<string, SaidMessage>();
	/** What users see of each delivery, by its id. */
	readonly #shown = new Map<string, VisibleMessage[]>();
	readonly #items = new Map<string, InboxItem>();
	readonly #turns = new Map<string, Turn>();
	readonly #commands: Delivery[] = [];
	readonly #suspended = new Set<string>();

	constructor(store: Store, world: World) {
		this.#store = store;
		this.#world = world;
		for (const message of world.said) this.#said.set(`${message.platform} ${message.id}`, message);
	}

	async all(): Promise<void> {
		await this.#read();
		for (const [name, message] of this.#said) this.#message(name, message);
		for (const turn of this.#turns.values()) this.#replies(turn);
		for (const delivery of this.#commands) this.#delivery(delivery);
		this.#visible();
		this.#order();
		this.#effectsOnce();
		const { problems } = await this.#store.checkIntegrity({ scope });
		this.problems.push(...problems);
	}

	async #read(): Promise<void> {
		for (const name of Object.keys(PLATFORMS))
			for (const message of this.#world.platform(name).visible())
				this.#shown.set(message.id, [...(this.#shown.get(message.id) ?? []), message]);
		for (let cursor = ""; ; ) {
			const page = await this.#store.events({ scope, after: cursor, limit: 1000 });
			if (page.kind === "resync") throw new Error("events are missing");
			for (const { type, subject, turn, session, facts } of page.events) {
				if (type === "inbound.accepted") await this.#readItem(Number(subject));
				if (type === "turn.begun") await this.#readTurn(turn as string);
				if (type === "turn.resumed") this.resumed++;
				if (type === "session.suspended") {
					this.suspended++;
					this.#suspended.add(session as string);
				}
				if (type === "session.ended" && facts.reason === "message_limit") this.rotated++;
			}
			if (page.events.length === 0) return;
			cursor = page.cursor;
		}
	}

	/** What came over another account is left out. */
	async #readTurn(id: string): Promise<void> {
		const turn = await this.#store.turn({ scope, id });
		if (turn.destination.account === "") this.#turns.set(id, turn);
	}

	async #readItem(id: number): Promise<void> {
		const item = await this.#store.inboxItem({ scope, id });
		// Scripted platforms name theirs m1, m2 and so on; those of a real one have a verdict of their own.
		if (!/^m\d+$/.test(item.platformMessage)) return;
		const { platform } = await this.#store.conversation({ scope, ref: { id: item.conversation as never } });
		const name = `${platform} ${item.platformMessage}`;
		if (this.#items.has(name)) this.problems.push(`I4: message ${name} was accepted twice`);
		if (!this.#said.has(name)) this.problems.push(`message ${name} was accepted, and nobody said it`);
		this.#items.set(name, item);
		if (item.disposition?.kind === "command")
			this.#commands.push(await this.#store.delivery({ scope, id: `command:${id}:1` }));
	}

	/** I3: taken, and one stated end that fits what was said. */
	#message(name: string, { kind, text }: SaidMessage): void {
		const item = this.#items.get(name);
		const disposition = item?.disposition;
		if (!item || !disposition) {
			this.problems.push(`I3: message ${name} (${text}) ${item ? "has no disposition" : "was lost"}`);
			return;
		}
		this.dispositions[disposition.kind] = (this.dispositions[disposition.kind] ?? 0) + 1;
		if (kind === "command" || disposition.kind === "command") {
			if (kind !== "command" || disposition.kind !== "command")
				this.problems.push(`message ${name} (${text}) ended as ${JSON.stringify(disposition)}`);
			return;
		}
		const turn = this.#turns.get(item.turn ?? "");
		const allowed = turn ? this.#endsOf(turn) : [];
		const end = "reason" in disposition ? `${disposition.kind} ${disposition.reason}` : disposition.kind;
		if (!allowed.includes(end)) this.problems.push(`message ${name} (${text}) ended as ${end}`);
	}

	/** How a message of this turn may end: as the script says, or as an interruption that was one too many for its session. */
	#endsOf(turn: Turn): string[] {
		const interrupted = this.#suspended.has(turn.session) ? ["failed interrupted"] : [];
		// The agent goes by the last words that it was given.
		const last = turn.inbox.at(-1);
		const { kind } = (last && this.#saidOf(turn, last)) ?? {};
		const failure = kind && kind !== "command" ? SCRIPTED_FAILURES[kind] : undefined;
		const scripted = failure ? `failed ${failure}` : turn.inbox.length > 1 ? "merged" : "answered";
		return [...interrupted, scripted];
	}

	/** Every turn that ended has something to show for it; none is missing unless its outcome is unknown. */
	#replies(turn: Turn): void {
		if (turn.state === "running" || turn.state === "interrupted") {
			this.problems.push(`turn ${turn.id} is still ${turn.state}`);
			return;
		}
		const isSuspended = turn.state === "failed" && turn.detail === "interrupted";
		const replies = turn.deliveries.filter((delivery) => delivery.kind === "reply");
		if (!isSuspended && replies.length !== 1)
			this.problems.push(`turn ${turn.id} has ${replies.length} replies`);
		if (isSuspended && !turn.deliveries.some(({ id }) => id.endsWith(":suspended")))
			this.problems.push(`turn ${turn.id} was given up, and nobody was told`);
		for (const delivery of turn.deliveries) {
			// A preview that was never sent ends with a turn that is given up.
			if (isSuspended && delivery.kind === "reply" && delivery.state === "dead") continue;
			this.#delivery(delivery);
		}
		const last = turn.inbox.at(-1);
		const words = last && this.#saidOf(turn, last)?.text;
		for (const { id, state } of replies) {
			const text = this.#shown.get(id)?.[0]?.text ?? "";
			if (
				turn.state === "completed" &&
				state === "sent" &&
				!(text.startsWith("answer to") && text.includes(words ?? "?"))
			)
				this.problems.push(`reply ${id} to ${words} shows ${JSON.stringify(text)}`);
		}
	}

	#delivery({ id, state, reason, destination }: Delivery): void {
		const { platform } = destination;
		const shown = this.#shown.get(id)?.length ?? 0;
		if (state === "sent" && shown === 1) return;
		if (state !== "unknown") {
			this.problems.push(`I7: delivery ${id} is ${state} (${reason}), and users see it ${shown} times`);
			return;
		}
		this.unknown[platform] = (this.unknown[platform] ?? 0) + 1;
		if (PLATFORMS[platform]?.lookup)
			this.problems.push(`I7: delivery ${id} is unknown (${reason}), and ${platform} can be asked about it`);
	}

	#visible(): void {
		const answers = new Map<string, number>();
		for (const [id, shown] of this.#shown) {
			if (shown.length > 1) this.problems.push(`I7: delivery ${id} is seen ${shown.length} times`);
			for (const { text, chat } of shown)
				if (text.startsWith("answer to"))
					answers.set(`${chat} ${text}`, (answers.get(`${chat} ${text}`) ?? 0) + 1);
		}
		for (const [answer, times] of answers)
			if (times > 1) this.problems.push(`the answer ${JSON.stringify(answer)} is seen ${times} times`);
	}

	/** I19: a chat shows its deliveries in the order in which they were made, or first shown where they were previewed. */
	#order(): void {
		const numbers = new Map<string, { readonly n: number; readonly state: string }>();
		for (const { deliveries } of this.#turns.values())
			for (const delivery of deliveries) numbers.set(delivery.id, delivery);
		for (const delivery of this.#commands) numbers.set(delivery.id, delivery);
		for (const platform of Object.keys(PLATFORMS)) {
			const last = new Map<string, number>();
			for (const { id, chat } of this.#world.platform(platform).visible()) {
				const { n, state } = numbers.get(id) ?? { n: 0, state: "missing" };
				if (state !== "sent") continue;
				if (n < (last.get(chat) ?? 0))
					this.problems.push(`I19: delivery ${id} is shown in ${chat} of ${platform} after a later one`);
				last.set(chat, n);
			}
		}
	}

	#effectsOnce(): void {
		const turns = readFileSync(this.#world.effects, "utf8").trim().split("\n");
		this.effects = turns.length;
		const seen = new Set<string>();
		for (const turn of turns) {
			if (seen.has(turn)) this.problems.push(`the effect of turn ${turn} happened twice`);
			if (!this.#turns.has(turn)) this.problems.push(`an effect names turn ${turn}, which is not there`);
			seen.add(turn);
		}
	}

	#saidOf(turn: Turn, item: InboxItem): SaidMessage | undefined {
		return this.#said.get(`${turn.destination.platform} ${item.platformMessage}`);
	}
}
