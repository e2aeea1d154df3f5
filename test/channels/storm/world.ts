// The outside of the gateway in a storm: people who write and press, a platform that breaks, and the kills. What each platform has of its own
// (places, updates, faults) is in the worlds beside this one.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { type Child, lines, type Workbench } from "../../crash/support.ts";
import { Progress } from "./progress.ts";
import { COMMANDS, type Orders, type Report } from "./scene.ts";
import type { Judged, Said } from "./verdict.ts";

/** So many messages may be on their way before people write on. */
const UNTAKEN = 40;
/** So many messages are written before all of them must be answered. */
const STRETCH = 500;

export interface WorldOptions {
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly chats: number;
	/** The platform posts its updates, and some gateways die between a commit and their answer. */
	readonly isPosted?: boolean;
}

/** A message of Keryx with buttons, as people see it. */
export interface Question {
	readonly name: string;
	readonly buttons: readonly { readonly id: string }[];
	/** Resolves with what the person is shown; never, where the answer is lost. */
	readonly press: (button: string) => Promise<string>;
}

/** The part of a peer that every world needs. */
interface Peer {
	readonly calls: { readonly length: number };
	readonly onChange: (listener: () => void) => () => void;
}

/** What every gateway is told, whatever its platform. */
type CommonOrders = Pick<Orders, "path" | "dangers" | "commits">;

export abstract class World {
	readonly said: Said[] = [];
	readonly logs: string[] = [];
	readonly counts = {
		kills: 0,
		duplicates: 0,
		redelivered: 0,
		pauses: 0,
		lost: 0,
		broken: 0,
		cuts: 0,
		moves: 0,
		forgotten: 0,
		edits: 0,
		files: 0,
		dangers: 0,
		presses: 0,
	};
	/** What people were shown after a press, and how often. */
	readonly shownAfterPress: Record<string, number> = {};
	readonly path: string;
	/** How many are said in all. */
	messages: number;
	protected readonly options: WorldOptions;
	protected isCalm = false;
	readonly #dangers: string;
	/** Questions that were pressed in this life. */
	readonly #pressed = new Set<string>();
	/** Questions whose presser was shown something. */
	readonly #heard = new Set<string>();
	readonly #progress = new Progress(() => {
		const { length } = this.questions("everywhere");
		return `${this.said.length} said, ${this.untaken()} of them not taken, ${length} answers shown`;
	});
	#isWriting = false;

	constructor(options: WorldOptions) {
		this.options = options;
		this.messages = options.messages;
		this.path = options.bench.file("storm.db");
		this.#dangers = options.bench.file("dangers");
	}

	abstract judged(): Judged;
	protected abstract peerOf(): Peer;
	protected abstract ordersOf(common: CommonOrders): Orders;
	/** Somebody says something. `isDanger`: something that needs a yes. */
	protected abstract say(isDanger: boolean): void;
	/** The messages of Keryx in one place that are drawn, or in all of them. */
	protected abstract questions(where: "somewhere" | "everywhere"): Question[];
	/** How many messages the gateway has not taken. */
	protected abstract untaken(): number;
	/** What goes wrong after a message, by chance. */
	protected abstract disturb(): void;
	/** Whether people may write already. */
	protected isReady(): boolean {
		return true;
	}
	protected async onStarted(): Promise<void> {}
	protected onTaken(_message: string): void {}
	protected onSeen(_cursor: string): void {}

	get isTaken(): boolean {
		return this.said.length >= this.messages && this.untaken() === 0;
	}

	/** From now on nothing breaks. */
	calm(): void {
		this.isCalm = true;
	}

	/** Everybody writes before anybody listens. */
	writeAll(): void {
		while (this.said.length < this.messages) this.#sayNext();
	}

	/** What was done of what is dangerous. */
	done(): readonly string[] {
		return existsSync(this.#dangers) ? readFileSync(this.#dangers, "utf8").trim().split("\n") : [];
	}

	/**
	 * Lives and dies until everything is answered and every question decided. The next stretch of messages begins when the last one is
	 * answered. Otherwise answers pile up, and lives are spent on pressing old buttons again.
	 */
	async storm(callsOfLife: () => number): Promise<void> {
		const all = this.messages;
		for (this.messages = 0; this.messages < all; ) {
			this.messages = Math.min(all, this.messages + STRETCH);
			while ((await this.live(callsOfLife())) !== "drained");
		}
	}

	/** One life of the gateway: killed after so many more calls, if it has not worked off everything before. */
	async live(calls: number | null): Promise<"killed" | "drained"> {
		const commits =
			calls !== null && this.options.isPosted && this.chance(0.5) ? Math.ceil(calls / 10) : null;
		const orders = this.ordersOf({
			path: this.path,
			dangers: this.#dangers,
			...(commits !== null && { commits }),
		});
		const child = this.options.bench.start("../channels/storm/child.ts", [JSON.stringify(orders)]);
		const peer = this.peerOf();
		const until = calls === null ? Number.POSITIVE_INFINITY : peer.calls.length + calls;
		let isTold = false;
		this.#pressed.clear();
		const look = () => {
			if (!this.isReady()) return;
			this.#write();
			this.#press(this.questions("somewhere"));
			if (peer.calls.length >= until) child.kill("SIGKILL");
			if (isTold || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${COMMANDS.drain}\n`);
		};
		const unwatch = peer.onChange(look);
		let stuck: string | undefined;
		const unwatchProgress = this.#progress.watch((reason) => {
			stuck = reason;
			child.kill("SIGKILL");
		});
		const ending = this.#listen(child, look);
		look();
		const { isDrained, signal, code } = await ending;
		unwatch();
		unwatchProgress();
		if (stuck !== undefined) throw new Error(stuck);
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	protected chance(share: number): boolean {
		return this.options.random() < share;
	}

	protected pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.options.random() * items.length)] as Item;
	}

	protected file(): { readonly name: string; readonly bytes: Uint8Array; readonly digest: string } {
		const bytes = new Uint8Array(1 + Math.floor(this.options.random() * 60_000));
		for (let at = 0; at < bytes.length; at++) bytes[at] = Math.floor(this.options.random() * 256);
		return {
			name: `file ${bytes.length}.bin`,
			bytes,
			digest: createHash("sha256").update(bytes).digest("hex"),
		};
	}

	#write(): void {
		if (this.#isWriting) return;
		this.#isWriting = true;
		while (this.said.length < this.messages && this.untaken() < UNTAKEN) {
			this.#sayNext();
			this.disturb();
		}
		this.#isWriting = false;
	}

	/** One in twelve asks for something dangerous, so that few messages have one too. */
	#sayNext(): void {
		this.say(this.said.length % 12 === 7);
	}

	/** The owner presses one button of each question, sometimes twice at once, sometimes both. */
	#press(questions: readonly Question[]): boolean {
		const open = questions.filter(({ name, buttons }) => buttons.length > 1 && !this.#pressed.has(name));
		for (const { name, buttons, press } of open) {
			const [yes, no] = buttons as [{ id: string }, { id: string }];
			this.#pressed.add(name);
			const pressed = this.chance(0.7) ? [yes] : [no];
			if (this.chance(0.3)) pressed.push(this.chance(0.5) ? yes : no);
			for (const { id } of pressed) {
				this.counts.presses++;
				void press(id).then((text) => {
					if (text !== FAILED) this.#heard.add(name);
					this.shownAfterPress[text] = (this.shownAfterPress[text] ?? 0) + 1;
				});
			}
		}
		return open.length > 0;
	}

	/**
	 * Nothing is left to do but what people still decide. Whoever was shown nothing presses again: a press may be lost with a kill or with a
	 * session. Where the platform cannot say whether a question was sent, its buttons stay, and whoever pressed was told so.
	 */
	#onQuiet(child: Child): void {
		const open = this.questions("everywhere").filter(({ name }) => !this.#heard.has(name));
		for (const { name } of open) this.#pressed.delete(name);
		if (!this.#press(open)) child.stdin.write(`${COMMANDS.end}\n`);
	}

	#listen(
		child: Child,
		look: () => void,
	): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
		const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
			child.once("close", (code, signal) => resolve({ code, signal })),
		);
		const hear = async (report: Report): Promise<void> => {
			switch (report.say) {
				case "started":
					return this.onStarted();
				case "duplicate":
					this.counts.duplicates++;
					return;
				case "log":
					this.logs.push(report.message);
					return;
				case "taken":
					this.onTaken(report.message);
					look();
					return;
				case "seen":
					this.onSeen(report.cursor);
					return;
				case "quiet":
					this.#onQuiet(child);
					return;
				case "coming":
				case "connected":
				case "drained":
			}
		};
		const read = async () => {
			let isDrained = false;
			for await (const line of lines(child)) {
				const report = JSON.parse(line) as Report;
				await hear(report);
				if (report.say === "drained") isDrained = true;
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}
}

/** What Discord shows by itself where a bot did not answer in time. */
const FAILED = "This interaction failed";
