// A real gateway on the Telegram peer, one life after another over the same store, with an agent that writes as the test lets it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StepAgent } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import { type Channel, createGateway, type Gateway, systemClock } from "../../src/gateway/index.ts";
import { type Delivery, NO_SECRETS, type Store, systemIds } from "../../src/store/index.ts";
import { openSqlite } from "../../src/store/sqlite/engine.ts";
import { storeOn } from "../../src/store/store.ts";
import { createTools } from "../../src/tools/index.ts";
import { AUDIT_KEY, type ConfigInput, configOf, confirmationsOn, dangerTool } from "../gateway/support.ts";
import { createTelegramPeer, type TelegramPeer } from "../peers/telegram/index.ts";
import { channelOn } from "./telegram-scene.ts";

const clock = systemClock;
const scope = { kind: "operator" } as const;

export interface LifeOptions {
	readonly agent: StepAgent;
	readonly channels?: readonly Channel[];
	readonly config?: ConfigInput;
}

export class Lives {
	readonly peer: TelegramPeer;
	readonly dangers: string[] = [];
	readonly logs: string[] = [];
	readonly #folder = mkdtempSync(join(tmpdir(), "keryx-lives-"));
	#store: Store | undefined;
	#gateway: Gateway | undefined;

	private constructor(peer: TelegramPeer) {
		this.peer = peer;
	}

	static async create(): Promise<Lives> {
		return new Lives(await createTelegramPeer());
	}

	get store(): Store {
		if (!this.#store) throw new Error("nothing is open");
		return this.#store;
	}

	get gateway(): Gateway {
		if (!this.#gateway) throw new Error("nothing is open");
		return this.#gateway;
	}

	async begin({ agent, channels = [channelOn(this.peer)], config = {} }: LifeOptions): Promise<void> {
		const parsed = configOf({ auth: { telegram: { allow_all: true } }, ...config });
		const path = join(this.#folder, "keryx.db");
		const engine = await openSqlite({ path, startedAt: clock.now(), access: "own", auditKey: AUDIT_KEY });
		const store = storeOn(engine, { clock, ids: systemIds(clock), secrets: NO_SECRETS });
		this.#store = store;
		const confirmations = confirmationsOn(store, clock, parsed);
		this.#gateway = createGateway({
			store,
			confirmations,
			agent,
			tools: createTools([dangerTool(this.dangers)]),
			channels,
			config: parsed,
			clock,
			pseudonymKey: new Uint8Array(32),
			log: (message, error) => this.logs.push(`${message}: ${String(error)}`),
		});
		await this.#gateway.start();
		confirmations.start();
	}

	async end(): Promise<void> {
		await this.#gateway?.stop();
		await this.#store?.close();
		this.#gateway = undefined;
		this.#store = undefined;
	}

	async close(): Promise<void> {
		await this.end();
		await this.peer.close();
		rmSync(this.#folder, { recursive: true, force: true });
	}

	/** Those that somebody asked for, by their state, in the order in which they were made. */
	async deliveries(): Promise<readonly Delivery[]> {
		const found: Delivery[] = [];
		for (let cursor = ""; ; ) {
			const page = await this.store.events({ scope, after: cursor, limit: 1000 });
			if (page.kind === "resync" || page.events.length === 0) return found;
			cursor = page.cursor;
			for (const { type, subject } of page.events)
				if (type === "delivery.pending" || type === "delivery.opened")
					if (!found.some(({ id }) => id === subject))
						found.push(await this.store.delivery({ scope, id: subject as string }));
		}
	}
}

/** Writes what it is told, for as long as it is told to. */
export class Writer {
	#text = "";
	#isDone = false;
	#wake: () => void = () => {};
	/** How often it was asked. */
	asked = 0;

	readonly agent: StepAgent = agentOf(this);

	write(delta: string): void {
		this.#text += delta;
		this.#wake();
	}

	finish(): void {
		this.#isDone = true;
		this.#wake();
	}

	async *deltas(): AsyncGenerator<string> {
		this.asked++;
		for (let at = 0; ; ) {
			if (at < this.#text.length) {
				const delta = this.#text.slice(at);
				at = this.#text.length;
				yield delta;
				continue;
			}
			if (this.#isDone) return;
			await new Promise<void>((resolve) => {
				this.#wake = resolve;
			});
		}
	}
}

function agentOf(writer: Writer): StepAgent {
	return {
		kind: "step",
		name: "writer",
		async *step() {
			let content = "";
			for await (const delta of writer.deltas()) {
				content += delta;
				yield { type: "text", delta };
			}
			yield {
				type: "done",
				message: { content, toolCalls: [], finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "test", model: "test" },
			};
		},
	};
}
