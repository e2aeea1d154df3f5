// Gateways in processes of their own that are killed, and one in this process that finds what they left.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, createModelAgent } from "../../src/agents/index.ts";
import { createGateway, type Gateway, sendTool, systemClock } from "../../src/gateway/index.ts";
import { NO_SECRETS, type Store, systemIds } from "../../src/store/index.ts";
import { storeOn } from "../../src/store/store.ts";
import {
	type ChannelAbilities,
	createPlatformServer,
	createScriptedAgent,
	createScriptedChannel,
	type PlatformServer,
	type Script,
	ScriptedPlatform,
} from "../../src/testing/index.ts";
import { clarify, createTools } from "../../src/tools/index.ts";
import { programFile } from "../support/programs.ts";
import { newStoreUrl, openAt } from "../support/store-url.ts";
import {
	AUDIT_KEY,
	type ConfigInput,
	configOf,
	confirmationsOn,
	dangerOnFile,
	ECHO,
	effectOnFile,
	OPERATOR,
} from "./support.ts";

const CHILD = programFile(new URL("./child.ts", import.meta.url));

export interface Orders extends LifeOptions {
	/** Of the store. */
	readonly url: string;
	readonly address: string;
	/** Each run of the tool `effect` adds a line. */
	readonly effects: string;
	readonly killAt?: number;
	/** A write of this name, wherever it comes: the first, or the one that killAt counts to. */
	readonly killOn?: string;
	readonly when?: "before" | "after";
	/** Also those that find nothing to write. */
	readonly everyWrite?: boolean;
}

export interface LifeOptions {
	readonly script?: Script;
	/** A model behind HTTP answers, instead of the script. */
	readonly model?: { readonly base_url: string };
	readonly config?: ConfigInput;
	readonly channel?: ChannelAbilities;
}

/** One store on disk, one platform, and the processes that live on them one after another. */
export class Lives {
	readonly folder: string;
	/** Of its store. */
	readonly url: string;
	readonly world: ScriptedPlatform;
	readonly #options: LifeOptions;
	readonly #server: PlatformServer;
	#children: ChildProcess[] = [];

	private constructor(options: LifeOptions, server: PlatformServer, place: { folder: string; url: string }) {
		this.#options = options;
		this.folder = place.folder;
		this.url = place.url;
		this.#server = server;
		this.world = server.platform;
	}

	static async begin(options: LifeOptions): Promise<Lives> {
		const folder = mkdtempSync(join(tmpdir(), "keryx-lives-"));
		const url = await newStoreUrl(pathIn(folder));
		// Creates the tables of a file here, where they are copied (kept-threads.ts): a child would make them one by one.
		if (url.startsWith("sqlite:")) await (await openAt(url, systemClock.now(), AUDIT_KEY)).close();
		return new Lives(
			options,
			await createPlatformServer({ platform: new ScriptedPlatform({ platform: "telegram" }) }),
			{ folder, url },
		);
	}

	/** Of its file. */
	get path(): string {
		return pathIn(this.folder);
	}

	get effects(): number {
		const file = join(this.folder, "effects");
		return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
	}

	/** A child that runs until it is killed, by itself or by us; answers what it wrote to the store, by name. */
	child(
		kill?: { readonly when: "before" | "after" } & (
			| { readonly at: number }
			| { readonly on: string; readonly nth?: number }
		),
	): Child {
		const orders: Orders = {
			...this.#options,
			url: this.url,
			address: this.#server.address,
			effects: join(this.folder, "effects"),
			...(kill && {
				when: kill.when,
				...("at" in kill ? { killAt: kill.at } : { killOn: kill.on, killAt: kill.nth ?? 1 }),
			}),
			everyWrite: process.env.KERYX_CRASH_RUNS !== undefined,
		};
		const process_ = spawn(
			process.execPath,
			["--disable-warning=ExperimentalWarning", CHILD, JSON.stringify(orders)],
			{
				stdio: ["ignore", "pipe", "inherit"],
			},
		);
		this.#children.push(process_);
		return new Child(process_);
	}

	/** A gateway in this process, until everything that was left has come to its end; then it is asked what it found. */
	async recovered<Value>(look: (store: Store) => Promise<Value>): Promise<Value> {
		const { config, channel } = this.#options;
		const engine = await openAt(this.url, systemClock.now(), AUDIT_KEY);
		const store = storeOn(engine, { clock: systemClock, ids: systemIds(systemClock), secrets: NO_SECRETS });
		const effects = join(this.folder, "effects");
		const confirmations = confirmationsOn(store, systemClock, configOf(config));
		const sends = sendTool({
			sending: () => gateway.sending,
			workspaceOf: () => "/nowhere",
			limit: () => 0,
		});
		const gateway: Gateway = createGateway({
			store,
			confirmations,
			agent: agentOf(this.#options),
			tools: createTools([clarify, effectOnFile(effects), dangerOnFile(effects), sends]),
			channels: [createScriptedChannel({ on: this.world, clock: systemClock, ...channel })],
			config: configOf(config),
			clock: systemClock,
			pseudonymKey: new Uint8Array(32),
		});
		try {
			await gateway.start();
			confirmations.start();
			await this.#quiet(store);
			return await look(store);
		} finally {
			await gateway.stop();
			await confirmations.stop();
			await store.close();
		}
	}

	async end(): Promise<void> {
		for (const child of this.#children) child.kill("SIGKILL");
		await this.#server.close();
		rmSync(this.folder, { recursive: true, force: true });
	}

	/** Every message was taken and has its end, and nothing is on its way out. */
	async #quiet(store: Store): Promise<void> {
		for (;;) {
			let changed = () => {};
			const change = new Promise<void>((resolve) => {
				changed = resolve;
			});
			const ends = [store.onCommit(changed), this.world.onChange(changed)];
			const quiet = this.world.unacknowledged.length === 0 && (await isQuiet(store, this.#options));
			if (!quiet) await change;
			for (const end of ends) end();
			if (quiet) return;
		}
	}
}

function pathIn(folder: string): string {
	return join(folder, "keryx.db");
}

/** What answers in every life. `onPause`: told when the model's agent begins to wait before it asks again. */
export function agentOf({ script = ECHO, model }: LifeOptions, onPause = () => {}): Agent {
	if (!model) return createScriptedAgent({ script, clock: systemClock });
	return createModelAgent({
		settings: {
			...model,
			provider: "openai-compatible",
			model: "test-model",
			api_key_env: "MODEL_KEY",
			failover: [],
			retries: 2,
			prices: {},
		},
		env: { MODEL_KEY: "sk-of-every-life" },
		clock: {
			...systemClock,
			after: (ms, callback) => {
				const cancel = systemClock.after(ms, callback);
				onPause();
				return cancel;
			},
		},
		readBlob: () => Promise.resolve(null),
	});
}

/** In the order of a message's way: what has left one place is looked for in the next. */
async function isQuiet(store: Store, { channel }: LifeOptions): Promise<boolean> {
	if ((await store.waitingItems({ scope: OPERATOR, after: 0, limit: 1 })).length > 0) return false;
	const conversations = await store.conversations({ scope: OPERATOR, limit: 50 });
	const open = await Promise.all(
		conversations.map(({ id }) => store.openTurnOf({ scope: OPERATOR, conversation: id })),
	);
	if (open.some((turn) => turn !== null)) return false;
	const unknown = channel?.lookup ? await store.unknownDeliveries({ scope: OPERATOR, since: 0 }) : [];
	if (unknown.length > 0) return false;
	return (await store.deliveries({ scope: OPERATOR, which: "waiting", limit: 1 })).length === 0;
}

export class Child {
	readonly process: ChildProcess;
	readonly writes: string[] = [];
	/** Resolves when it has started, or said why it could not. */
	readonly started: Promise<string>;
	readonly ended: Promise<unknown>;
	#onWrite = () => {};

	constructor(process: ChildProcess) {
		this.process = process;
		this.ended = once(process, "close");
		this.started = new Promise((resolve) => {
			let rest = "";
			process.stdout?.setEncoding("utf8").on("data", (data: string) => {
				const lines = (rest + data).split("\n");
				rest = lines.pop() ?? "";
				for (const line of lines) {
					if (/^(started|refused)/.test(line)) resolve(line);
					else this.writes.push(line.split(" ")[1] ?? "");
				}
				this.#onWrite();
			});
			process.on("close", () => resolve("ended"));
		});
	}

	/** It has come to so many writes of this name. */
	wrote(name: string, times: number): Promise<void> {
		return new Promise((resolve) => {
			this.#onWrite = () => {
				if (this.writes.filter((write) => write === name).length >= times) resolve();
			};
			this.#onWrite();
		});
	}

	async kill(): Promise<void> {
		this.process.kill("SIGKILL");
		await this.ended;
	}
}
