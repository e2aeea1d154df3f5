// A storm on a real server, into which nobody can look: people write, lines are cut, the gateway is killed. What it has taken is known from
// its reports; what people saw is compared with the store at the end. What each platform has of its own is in the worlds beside this one.
import type { Delivery, Store } from "../../../src/store/index.ts";
import { randomBy } from "../../crash/acks.ts";
import { type Child, lines, open, type Workbench } from "../../crash/support.ts";
import { Progress } from "./progress.ts";
import { COMMANDS, type Orders, type Report } from "./scene.ts";
import { type Judged, judge } from "./verdict.ts";

export interface ServerWorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
}

/** Somebody who reads what Keryx writes in one chat. */
export interface Reader {
	readonly name: string;
	readonly texts: readonly string[];
	/** Whether they see what is sent there. */
	readonly sees: (destination: Delivery["destination"]) => boolean;
}

type Taken = Extract<Report, { say: "taken" }>;

/** Every message and every answer has its number. */
const NUMBERED = /message \d+/;

export abstract class ServerWorld<Options extends ServerWorldOptions = ServerWorldOptions> {
	readonly counts = { kills: 0, cuts: 0, duplicates: 0, repeated: 0 };
	readonly logs: string[] = [];
	readonly path: string;
	protected readonly options: Options;
	protected isCalm = false;
	/** The last cursor up to which everything was reported. */
	protected seen = "";
	#look: () => void = () => {};
	readonly #progress = new Progress(() => this.stateOf());

	constructor(options: Options) {
		this.options = options;
		this.path = options.bench.file("storm.db");
	}

	abstract get isTaken(): boolean;
	abstract close(): Promise<void>;
	protected abstract said(): Judged["said"];
	protected abstract readers(): Promise<readonly Reader[]>;
	protected abstract ordersOf(common: Pick<Orders, "path" | "dangers">): Orders;
	/** How far it is; the same words mean that nothing has happened. */
	protected abstract stateOf(): string;
	/** People say what they may say now. */
	protected abstract write(): void;
	/** Whether it counts for the life of the gateway. */
	protected abstract onTaken(report: Taken): boolean;
	protected onReport(_report: Report): void {}
	/** Whether the gateway may be killed already. */
	protected mayDie(): boolean {
		return true;
	}

	/** Lives and dies until everything is taken. From then on nothing breaks, and the rest is worked off. Then all of it is judged. */
	async storm(seed: number): Promise<{ readonly problems: readonly string[]; readonly report: object }> {
		try {
			await this.#through(randomBy(seed));
			return await this.#judged();
		} finally {
			await this.close();
		}
	}

	async #through(random: () => number): Promise<void> {
		const { least, most } = this.options.messages > 100 ? { least: 10, most: 80 } : { least: 5, most: 20 };
		while (!this.isTaken) await this.#live(least + Math.floor(random() * (most - least)));
		this.isCalm = true;
		if ((await this.#live(null)) !== "drained") throw new Error("the last gateway was killed");
	}

	async #judged(): Promise<{ readonly problems: readonly string[]; readonly report: object }> {
		const store = await open(this.path, "read");
		// People see no receipts: `#shown` judges what they see.
		const verdict = await judge(store, {
			said: this.said(),
			places: [],
			done: [],
			chatPart: 4,
			shows: ({ plain }) => plain,
		});
		const shown = await this.#shown(store);
		await store.close();
		return {
			problems: [...verdict.problems, ...shown.problems],
			report: { ...this.counts, seen: shown.seen, ...verdict },
		};
	}

	protected look(): void {
		this.#look();
	}

	protected pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.options.random() * items.length)] as Item;
	}

	/** One in ten is a command; some take long to answer. */
	protected wordsOf(number: number): { readonly kind: "words" | "command"; readonly text: string } {
		const part = this.options.random();
		if (part < 0.1) return { kind: "command", text: `/status message ${number}` };
		return { kind: "words", text: `${part < 0.4 ? "slow " : ""}message ${number}` };
	}

	/** One life of the gateway: killed after so many messages, or left to work everything off. */
	async #live(messages: number | null): Promise<"killed" | "drained"> {
		const { bench } = this.options;
		const orders = this.ordersOf({ path: this.path, dangers: bench.file("dangers") });
		const child = bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		let left = messages ?? Number.POSITIVE_INFINITY;
		let isTold = false;
		let stuck: string | undefined;
		const unwatch = this.#progress.watch((reason) => {
			stuck = reason;
			child.kill("SIGKILL");
		});
		this.#look = () => {
			this.write();
			if ((left <= 0 && this.mayDie()) || (messages !== null && this.isTaken)) child.kill("SIGKILL");
			if (isTold || messages !== null || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${COMMANDS.drain}\n`);
		};
		const { isDrained, signal, code } = await this.#listen(child, () => left--);
		this.#look = () => {};
		unwatch();
		if (stuck !== undefined) throw new Error(stuck);
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	async #listen(
		child: Child,
		onCounted: () => void,
	): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
		const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
			child.once("close", (code, signal) => resolve({ code, signal })),
		);
		let isDrained = false;
		for await (const line of lines(child)) {
			const report = JSON.parse(line) as Report;
			if (report.say === "duplicate") this.counts.duplicates++;
			if (report.say === "quiet") child.stdin.write(`${COMMANDS.end}\n`);
			if (report.say === "drained") isDrained = true;
			if (report.say === "log") this.logs.push(report.message);
			if (report.say === "seen") this.seen = report.cursor;
			if (report.say === "taken" && this.onTaken(report)) onCounted();
			this.onReport(report);
			this.#look();
		}
		return { isDrained, ...(await closed) };
	}

	/** I7, I19: each message that was sent is seen once and in order; what else is seen is of unknown outcome. */
	async #shown(store: Store): Promise<{ readonly problems: readonly string[]; readonly seen: number }> {
		const problems: string[] = [];
		const deliveries = (await deliveriesOf(store)).filter(({ body }) => NUMBERED.test(body.plain));
		let seen = 0;
		for (const { name, texts, sees } of await this.readers()) {
			const shown = texts.filter((text) => NUMBERED.test(text));
			seen += shown.length;
			const of = deliveries.filter(({ destination }) => sees(destination));
			const sent = of.filter(({ state }) => state === "sent").map(({ body }) => body.plain);
			const unknown = of.filter(({ state }) => state === "unknown").map(({ body }) => body.plain);
			for (const { id, state, reason } of of)
				if (state !== "sent" && state !== "unknown")
					problems.push(`I7: delivery ${id} is ${state} (${reason})`);
			const certain = shown.filter((text) => !unknown.includes(text));
			if (JSON.stringify(certain) !== JSON.stringify(sent))
				problems.push(`I19: ${name} shows ${certain.join(" | ")}, not ${sent.join(" | ")}`);
			if (new Set(shown).size !== shown.length) problems.push(`${name} shows something twice`);
		}
		return { problems, seen };
	}
}

/** Of every turn, in the order in which they were made. */
async function deliveriesOf(store: Store): Promise<readonly Delivery[]> {
	const scope = { kind: "operator" } as const;
	const found: Delivery[] = [];
	for (let cursor = ""; ; ) {
		const page = await store.events({ scope, after: cursor, limit: 1000 });
		if (page.kind === "resync") throw new Error("events are missing");
		if (page.events.length === 0) return found.toSorted((a, b) => a.n - b.n);
		cursor = page.cursor;
		for (const { type, turn } of page.events)
			if (type === "turn.begun") found.push(...(await store.turn({ scope, id: turn as string })).deliveries);
	}
}
