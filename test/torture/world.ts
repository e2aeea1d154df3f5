// The outside of the gateway under torture: users who write, platforms that misbehave, and what kills the process.

import {
	type Attempt,
	type Behaviour,
	createPlatformServer,
	type PlatformServer,
	ScriptedPlatform,
} from "../../src/testing/index.ts";
import { type Child, lines, urlOf, type Workbench } from "../crash/support.ts";
import { DRAIN, type Kind, type Orders, PLATFORMS, type Report } from "./scene.ts";

/** So many messages may wait at the platforms before users write on. */
const UNTAKEN = 30;

export interface SaidMessage {
	readonly platform: string;
	readonly id: string;
	readonly text: string;
	readonly kind: Kind | "command";
}

interface Counts {
	kills: number;
	redeliveries: number;
	duplicates: number;
	pauses: number;
	lost: number;
}

interface WorldOptions {
	/** Of its store; left out: a file. */
	readonly url?: string;
	readonly bench: Workbench;
	readonly random: () => number;
	readonly messages: number;
	readonly conversations: number;
}

export class World {
	readonly said: SaidMessage[] = [];
	readonly counts: Counts = { kills: 0, redeliveries: 0, duplicates: 0, pauses: 0, lost: 0 };
	/** What the gateways had to complain about. */
	readonly logs: string[] = [];
	readonly path: string;
	readonly effects: string;
	readonly #options: WorldOptions;
	readonly #servers = new Map<string, PlatformServer>();
	#writing = false;
	#allowed: number;

	private constructor(options: WorldOptions) {
		this.#options = options;
		this.#allowed = options.messages;
		this.path = options.url ?? options.bench.file("store.db");
		this.effects = options.bench.file("effects");
	}

	static async create(options: WorldOptions): Promise<World> {
		const world = new World(options);
		for (const name of Object.keys(PLATFORMS)) {
			const platform = new ScriptedPlatform({
				platform: name,
				behave: (attempt) => world.#behave(attempt),
			});
			world.#servers.set(name, await createPlatformServer({ platform }));
			platform.onChange(() => world.write());
		}
		return world;
	}

	platform(name: string): ScriptedPlatform {
		return (this.#servers.get(name) as PlatformServer).platform;
	}

	/** Where each platform is served. */
	get addresses(): Readonly<Record<string, string>> {
		return Object.fromEntries([...this.#servers].map(([name, { address }]) => [name, address]));
	}

	get isTaken(): boolean {
		return this.said.length >= this.#options.messages && this.#untaken() === 0;
	}

	/** How far things have come: grows with everything that reaches a platform. */
	get progress(): number {
		return sum(this.#platforms(), ({ acknowledged, attempts }) => acknowledged + attempts.length);
	}

	/**
	 * One life of the gateway. It ends with a kill: by itself at a write, or by the test after so much progress; or, once
	 * everything was taken, with nothing left to do.
	 */
	async live(
		kill: { readonly atWrite: number } | { readonly afterProgress: number } | null,
	): Promise<"killed" | "drained"> {
		const orders: Orders = {
			url: urlOf(this.path),
			addresses: this.addresses,
			effects: this.effects,
			killAt: kill && "atWrite" in kill ? kill.atWrite : 0,
			killWhen: this.#chance(0.5) ? "before" : "after",
		};
		const child = this.#options.bench.start("../torture/child.ts", [JSON.stringify(orders)]);
		const ending = this.#listen(child);
		this.write();
		const until = kill && "afterProgress" in kill ? this.progress + kill.afterProgress : null;
		let isTold = false;
		const watch = this.#onChange(() => {
			if (until !== null && this.progress >= until) child.kill("SIGKILL");
			if (isTold || !this.isTaken) return;
			isTold = true;
			child.stdin.write(`${DRAIN}\n`);
		});
		const { isDrained, code, signal } = await ending;
		watch();
		if (isDrained) return "drained";
		if (signal !== "SIGKILL") throw new Error(`the gateway ended with ${signal ?? code}`);
		this.counts.kills++;
		return "killed";
	}

	/** Breaks every connection of one platform; channels come back by themselves. */
	disconnect(name: string): void {
		this.#servers.get(name)?.disconnect();
	}

	async close(): Promise<void> {
		for (const server of this.#servers.values()) await server.close();
	}

	/** Users write no more than this many messages until more are allowed. */
	allow(messages: number): void {
		this.#allowed = messages;
		this.write();
	}

	/** Users write whenever there is room: bursts, redeliveries, and sometimes in another order than they wrote. */
	write(): void {
		if (this.#writing) return;
		this.#writing = true;
		const { random } = this.#options;
		const messages = Math.min(this.#options.messages, this.#allowed);
		while (this.said.length < messages && this.#untaken() < UNTAKEN) {
			for (let left = 1 + Math.floor(random() ** 3 * 4), chat = this.#chat(); left > 0; left--) {
				if (this.said.length < messages) this.#say(chat);
				if (this.#chance(0.3)) chat = this.#chat();
			}
			if (this.#chance(0.1)) this.#redeliver();
			if (this.#chance(0.1))
				for (const platform of this.#platforms()) platform.reorder((waiting) => waiting.toReversed());
			if (this.#chance(0.005)) this.disconnect(this.#pick(Object.keys(PLATFORMS)));
		}
		this.#writing = false;
	}

	/** A chat is always on the same platform. */
	#chat(): { readonly platform: string; readonly chat: string } {
		const n = Math.floor(this.#options.random() * this.#options.conversations);
		const names = Object.keys(PLATFORMS);
		return { platform: names[n % names.length] as string, chat: `chat ${n}` };
	}

	#say({ platform, chat }: { readonly platform: string; readonly chat: string }): void {
		const kind = this.#kind();
		const text = kind === "command" ? "/status" : `${kind} ${this.said.length + 1} of ${chat}`;
		const id = this.platform(platform).say({ chat, text });
		this.said.push({ platform, id, text, kind });
	}

	#kind(): SaidMessage["kind"] {
		const part = this.#options.random();
		if (part < 0.02) return "command";
		if (part < 0.06) return "fail";
		if (part < 0.08) return "throw";
		if (part < 0.25) return "tool";
		return part < 0.45 ? "slow" : "plain";
	}

	#redeliver(): void {
		const { platform, id } = this.#pick(this.said);
		this.platform(platform).redeliver(id);
		this.counts.redeliveries++;
	}

	#behave({ nth }: Attempt): Behaviour {
		const part = this.#options.random();
		if (part < 0.06) {
			this.counts.pauses++;
			return { retryAfterMs: 10 + Math.floor(part * 500) };
		}
		// What is lost again and again would be given up in the end, which is not what is tried here.
		if (part < 0.12 && nth < 3) {
			this.counts.lost++;
			return part < 0.09 ? "lose_ack" : "lost";
		}
		if (part < 0.14) return "markup_refused";
		return part < 0.2 ? { delayMs: 5 + Math.floor(part * 50) } : "ok";
	}

	#listen(child: Child): Promise<{ isDrained: boolean; code: number | null; signal: string | null }> {
		const closed = new Promise<{ code: number | null; signal: string | null }>((resolve) =>
			child.once("close", (code, signal) => resolve({ code, signal })),
		);
		const read = async () => {
			let isDrained = false;
			for await (const line of lines(child)) {
				const report = JSON.parse(line) as Report;
				if (report.say === "duplicate") this.counts.duplicates++;
				if (report.say === "drained") isDrained = true;
				if (report.say === "log") this.logs.push(`${report.message}: ${report.error}`);
			}
			return { isDrained, ...(await closed) };
		};
		return read();
	}

	#onChange(look: () => void): () => void {
		const stops = this.#platforms().map((platform) => platform.onChange(look));
		look();
		return () => {
			for (const stop of stops) stop();
		};
	}

	#platforms(): ScriptedPlatform[] {
		return [...this.#servers.values()].map(({ platform }) => platform);
	}

	#untaken(): number {
		return sum(this.#platforms(), ({ updates, acknowledged }) => updates.length - acknowledged);
	}

	#chance(share: number): boolean {
		return this.#options.random() < share;
	}

	#pick<Item>(items: readonly Item[]): Item {
		return items[Math.floor(this.#options.random() * items.length)] as Item;
	}
}

function sum<Item>(items: Iterable<Item>, value: (item: Item) => number): number {
	let total = 0;
	for (const item of items) total += value(item);
	return total;
}
