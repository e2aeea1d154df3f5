// A gateway in this process with time that only the test moves, a scripted platform before it and a scripted agent behind it.
// A crash leaves the old gateway without its store, as death would; what the platform and the file hold stays.
import { appendFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import type { Agent, StepAgent, StepInput } from "../../src/agents/index.ts";
import { NO_USAGE } from "../../src/agents/types.ts";
import {
	type CheckpointSettings,
	type Checkpoints,
	checkpointSettings,
	createCheckpoints,
} from "../../src/checkpoints/index.ts";
import { configSchema } from "../../src/config/schema.ts";
import {
	type Confirmations,
	confirmationSettings,
	createConfirmations,
} from "../../src/confirmations/index.ts";
import type { ConversationId } from "../../src/domain/index.ts";
import { KeryxError } from "../../src/errors.ts";
import { CHANNEL_DEFAULTS } from "../../src/gateway/channel.ts";
import {
	type Channel,
	type ChannelHost,
	type ChannelSettings,
	type Clock,
	createGateway,
	type Gateway,
	type Walls,
} from "../../src/gateway/index.ts";
import { createOutlet, type Outlet } from "../../src/gateway/outbox/outlet.ts";
import { questionDeliveries } from "../../src/gateway/outbox/question.ts";
import { toDeliveries } from "../../src/gateway/outbox/reply.ts";
import {
	createProcesses,
	type Processes,
	type ProcessMachine,
	processSettings,
} from "../../src/processes/index.ts";
import { createSchedules, type Schedules, scheduleSettings } from "../../src/schedules/index.ts";
import {
	createSecrets,
	type Engine,
	type InboxItem,
	type Message,
	type Secrets,
	type Store,
} from "../../src/store/index.ts";
import { storeOn } from "../../src/store/store.ts";
import {
	type ChannelAbilities,
	createScriptedAgent,
	createScriptedChannel,
	createScriptedLoopAgent,
	createVirtualClock,
	type PlatformOptions,
	type Saying,
	type Script,
	ScriptedPlatform,
	type TrackedEngine,
	trackedEngine,
	type VirtualClock,
} from "../../src/testing/index.ts";
import {
	clarify,
	createTerminalTools,
	createTools,
	defineTool,
	sessionRead,
	sessionSearch,
	type Tool,
} from "../../src/tools/index.ts";
import { withoutWall } from "../../src/walls/index.ts";
import { countedIds, NOON } from "../support/clock.ts";
import type { MemoryDatabase } from "../support/memory-engine.ts";
import type { ProcessHome } from "../support/process-home.ts";
import { newStoreUrl, openAt } from "../support/store-url.ts";

export { HOUR, MINUTE } from "../support/clock.ts";
export const SECOND = 1000;
export const DAY = 86_400_000;
/** Known as a secret in every scene. */
export const SECRET = "correct horse battery staple";
/** Nothing of a gateway adds to them. Made once: that takes longer than a turn. */
const SECRETS = createSecrets(new Map([["TEST", SECRET]]));
export const AUDIT_KEY = new Uint8Array(32).fill(7);
export const OPERATOR = { kind: "operator" } as const;

export type ConfigInput = z.input<typeof configSchema>;

/** No boundary by itself, everybody known may speak, one message is one turn. */
const QUIET: ConfigInput = {
	session_reset: { mode: "none", max_messages: 0, timezone: "UTC" },
	auth: { telegram: { allow: [{ id: "ada", role: "owner" }, "bob", "carol", "someone"] } },
	gateway: { batch_ms: 0 },
	display: { streaming: false },
};

/** Sections replace those of the quiet configuration, key by key. */
export function configOf(given: ConfigInput = {}) {
	const merged: Record<string, unknown> = { ...QUIET };
	for (const [name, section] of Object.entries(given))
		merged[name] =
			typeof section !== "object" || Array.isArray(section)
				? section
				: { ...(merged[name] as object), ...section };
	return configSchema.parse(merged);
}

/** Once closed, it says so to whoever still asks, as one on a file does. */
function closing(engine: Engine): Engine {
	let isClosed = false;
	const ask = (work: () => Promise<unknown>) =>
		isClosed ? Promise.reject(new KeryxError("store.closed", "the store is closed")) : work();
	return {
		epoch: engine.epoch,
		write: (name, args, drawn) => ask(() => engine.write(name, args, drawn)),
		read: (name, args) => ask(() => engine.read(name, args)),
		onCommit: (listener) => engine.onCommit(listener),
		close: async () => {
			isClosed = true;
			await engine.close();
		},
	};
}

export const ECHO: Script = { otherwise: [{ text: "you said {{input}}" }] };

export interface SceneFiles {
	readonly home: string;
	readonly folder: string;
	readonly fixed?: boolean;
	readonly settings?: Partial<CheckpointSettings>;
	/** Makes checkpoints misbehave. */
	readonly wrap?: (checkpoints: Checkpoints) => Checkpoints;
}

export interface SceneOptions {
	readonly script?: Script;
	readonly kind?: "step" | "loop";
	readonly agent?: (clock: Clock) => Agent;
	readonly config?: ConfigInput;
	readonly platform?: Partial<PlatformOptions>;
	readonly channel?: ChannelAbilities;
	/** Answered by the same agent. */
	readonly profiles?: readonly string[];
	/** Of the channel's entry. */
	readonly settings?: Partial<ChannelSettings>;
	readonly tools?: readonly Tool[];
	/** Has the tools terminal and process, whose programs run here. */
	readonly programs?: Pick<ProcessHome, "path"> & {
		readonly place: ProcessMachine | { on(clock: Clock): ProcessMachine };
	};
	/** What the terminal's commands run behind; left out: nothing. */
	readonly walls?: Walls;
	/** Takes checkpoints of this folder. */
	readonly files?: SceneFiles;
	/** Makes the channel misbehave. */
	readonly wrap?: (channel: Channel, clock: Clock) => Channel;
	/** Others beside it. */
	readonly channels?: (clock: Clock) => readonly Channel[];
	/** Makes the store misbehave. */
	readonly engine?: (engine: Engine, clock: VirtualClock) => Engine;
	/** Those that the store hides; left out: SECRET. */
	readonly secrets?: Secrets;
	/** Lets time pass while the gateway starts: where the store makes it wait. */
	readonly passing?: boolean;
	/** On a file, so that it can crash and come back. */
	readonly durable?: boolean;
	/** In memory and in this thread, so that it can crash and come back many times as fast; the caller closes it. */
	readonly database?: MemoryDatabase;
	readonly at?: number;
	/** Of the target `local`. */
	readonly outputFolder?: string;
}

/** What the agent was shown in one step. */
export type Shown = Pick<StepInput, "system" | "history" | "notes" | "session" | "turn" | "conversation">;

export class Scene {
	readonly options: SceneOptions;
	readonly world: ScriptedPlatform;
	readonly shown: Shown[] = [];
	readonly log: string[] = [];
	/** Arguments of each call of the tool `effect`. */
	readonly effects: string[] = [];
	readonly #admissions = new Map<string, number>();
	readonly #folder: string | null;
	/** The address of its store. */
	#url: string | null = null;
	readonly ids = countedIds();
	clock!: VirtualClock;
	store!: Store;
	/** The same store without what makes it misbehave, for who only looks. */
	beside!: Store;
	gateway!: Gateway;
	confirmations!: Confirmations;
	processes: Processes | null = null;
	schedules!: Schedules;
	checkpoints: Checkpoints | null = null;
	/** What the tool `danger` was run with. */
	readonly dangers: string[] = [];
	channel!: Channel;
	/** What the channel was given at its start. */
	host!: ChannelHost;
	#engine!: TrackedEngine;

	constructor(options: SceneOptions) {
		this.options = options;
		this.world = new ScriptedPlatform({ platform: "telegram", ...options.platform });
		this.#folder = options.durable ? mkdtempSync(join(tmpdir(), "keryx-gateway-")) : null;
	}

	static async start(options: SceneOptions = {}): Promise<Scene> {
		const scene = new Scene(options);
		await scene.open(options.at ?? NOON);
		return scene;
	}

	get path(): string {
		return this.#folder === null ? ":memory:" : join(this.#folder, "keryx.db");
	}

	/** One life of the gateway: a clock, an owner of the store, a channel. */
	async open(at: number, options: SceneOptions = this.options): Promise<void> {
		this.#url ??= await newStoreUrl(this.path);
		const engine = trackedEngine(
			options.database ? closing(options.database.own()) : await openAt(this.#url, at, AUDIT_KEY),
		);
		const clock = createVirtualClock(at, { settle: engine.idle });
		this.clock = clock;
		this.#engine = engine;
		const secrets = options.secrets ?? SECRETS;
		this.store = storeOn(options.engine?.(engine, clock) ?? engine, { clock, ids: this.ids, secrets });
		this.beside = storeOn(engine, { clock, ids: this.ids, secrets });
		const channel = this.#noting(createScriptedChannel({ on: this.world, clock, ...options.channel }));
		this.channel = options.wrap?.(channel, clock) ?? channel;
		const config = configOf(options.config);
		this.confirmations = confirmationsOn(this.store, clock, config, {
			platforms: {
				traits: (name) => this.gateway.outlet.platforms.traits(name),
				has: () => true,
				names: () => [],
			},
			shows: (to) => this.gateway.outlet.shows(to),
			captionLimit: (to) => this.gateway.outlet.captionLimit(to),
			isOneMessage: (to) => this.gateway.outlet.isOneMessage(to),
			takes: (to, notice) => this.gateway.outlet.takes(to, notice),
		});
		this.processes = options.programs ? this.#programs(options.programs, config) : null;
		this.schedules = createSchedules({ store: this.store, clock, settings: () => scheduleSettings(config) });
		const agent = this.#watched(options.agent?.(clock) ?? this.#scripted(options));
		const { files } = options;
		this.checkpoints = files ? this.#checkpoints(files, config) : null;
		this.gateway = createGateway({
			store: this.store,
			confirmations: this.confirmations,
			...(this.processes && { processes: this.processes }),
			schedules: this.schedules,
			checkpoints: this.checkpoints,
			...(options.walls && { walls: options.walls }),
			...(files && { workspaceOf: () => ({ folder: files.folder, fixed: files.fixed ?? false }) }),
			agent,
			profiles: Object.fromEntries((options.profiles ?? []).map((name) => [name, agent])),
			tools: createTools([
				effectTool(this.effects),
				failTool,
				slowTool(clock),
				dangerTool(this.dangers),
				sessionSearch,
				sessionRead,
				clarify,
				...(options.tools ?? []),
				...(options.programs && this.processes ? terminalIn(options, this.processes, config) : []),
			]),
			...(options.outputFolder !== undefined && { outputFolder: options.outputFolder }),
			channels: [this.channel, ...(options.channels?.(clock) ?? [])],
			settingsOf: () => ({ ...CHANNEL_DEFAULTS, ...options.settings }),
			config,
			clock,
			pseudonymKey: new Uint8Array(32),
			log: (message, error) => this.log.push(error === undefined ? message : `${message}: ${String(error)}`),
		});
		await this.#started(this.gateway.start(), options.passing ?? false);
		this.confirmations.start();
		await clock.advance(0);
	}

	async #started(starting: Promise<void>, passing: boolean): Promise<void> {
		let isStarting = true;
		const started = starting.finally(() => {
			isStarting = false;
		});
		for (let ms = 0; passing && isStarting; ms = SECOND) await this.clock.advance(ms);
		await started;
	}

	/** Takes the store away under the gateway, as kill -9 does, and starts the next life after so long. */
	async crash(ms = 0, options: SceneOptions = this.options): Promise<void> {
		await this.die();
		await this.open(this.clock.now() + ms, options);
	}

	/** The store is gone; the gateway and its channel do not know yet. */
	async loseStore(): Promise<void> {
		await this.#engine.close();
	}

	/** From here on nothing of this life reaches the store or the platform. */
	async die(): Promise<void> {
		await this.loseStore();
		void this.channel.stop();
		await this.processes?.close();
		await this.checkpoints?.close();
		await this.#engine.idle();
	}

	async end(): Promise<void> {
		void this.channel.stop();
		await this.processes?.close();
		await this.checkpoints?.close();
		await this.#engine.close();
		if (this.#folder !== null) rmSync(this.#folder, { recursive: true, force: true });
	}

	/** Somebody writes, and everything that follows without time passing has happened. */
	async say(text: string, saying: Partial<Saying> = {}): Promise<string> {
		const id = this.world.say({ chat: "ada", text, ...saying });
		await this.clock.advance(0);
		return id;
	}

	texts(chat = "ada"): string[] {
		return this.world.visible(chat).map(({ text }) => text);
	}

	/** Of the store, by the platform's id. */
	inbox(platformMessage: string): number {
		const id = this.#admissions.get(platformMessage);
		if (id === undefined) throw new Error(`${platformMessage} was not taken`);
		return id;
	}

	item(platformMessage: string): Promise<InboxItem> {
		return this.store.inboxItem({ scope: OPERATOR, id: this.inbox(platformMessage) });
	}

	async disposition(platformMessage: string): Promise<string> {
		return (await this.item(platformMessage)).disposition?.kind ?? "none";
	}

	async conversation(platformMessage: string): Promise<ConversationId> {
		return (await this.item(platformMessage)).conversation as ConversationId;
	}

	async sessions(platformMessage: string) {
		return this.store.sessions({
			scope: OPERATOR,
			conversation: await this.conversation(platformMessage),
			limit: 100,
		});
	}

	/** The live session's rows, its base's before them. */
	async rows(platformMessage: string): Promise<readonly Message[]> {
		const conversation = await this.conversation(platformMessage);
		const { liveSession } = await this.store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		return liveSession === null ? [] : this.store.transcript({ scope: OPERATOR, session: liveSession });
	}

	why(platformMessage: string): Promise<string> {
		return this.gateway.why(this.inbox(platformMessage), OPERATOR);
	}

	#scripted(options: SceneOptions): Agent {
		const made = { script: options.script ?? ECHO, clock: this.clock };
		return options.kind === "loop" ? createScriptedLoopAgent(made) : createScriptedAgent(made);
	}

	#programs(
		{ place }: NonNullable<SceneOptions["programs"]>,
		config: ReturnType<typeof configOf>,
	): Processes {
		return createProcesses({
			store: this.store,
			machine: "on" in place ? place.on(this.clock) : place,
			clock: this.clock,
			ids: this.ids,
			settings: () => processSettings(config),
			render: (text, to) =>
				toDeliveries(text, { ...to, kind: "notice", class: "status" }, this.gateway.outlet),
			log: (message, error) => this.log.push(`${message}: ${String(error)}`),
		});
	}

	#checkpoints({ home, settings, wrap }: SceneFiles, config: ReturnType<typeof configOf>): Checkpoints {
		const made = createCheckpoints({
			home,
			store: this.store,
			clock: this.clock,
			settings: () => ({ ...checkpointSettings(config), ...settings }),
			log: (message, error) => this.log.push(`${message}: ${String(error)}`),
		});
		return wrap?.(made) ?? made;
	}

	#watched(agent: Agent): Agent {
		const note = <Input extends StepInput>(input: Input): Input => {
			const { system, history, notes, session, turn, conversation } = input;
			this.shown.push({ system, history, notes, session, turn, conversation });
			return input;
		};
		if (agent.kind === "loop") return { ...agent, run: (input) => agent.run(note(input)) };
		return { ...agent, step: (input) => agent.step(note(input)) };
	}

	#noting(channel: Channel): Channel {
		return {
			...channel,
			start: (host) => {
				this.host = host;
				return channel.start({
					...host,
					accept: async (inbound) => {
						const admission = await host.accept(inbound);
						this.#admissions.set(inbound.platformMessage, admission.id);
						return admission;
					},
				});
			},
		};
	}
}

/** Does what it is told: `call <tool> <JSON>` makes that call, anything else is answered. */
export function puppet(): StepAgent {
	return {
		kind: "step",
		name: "puppet",
		async *step({ history }) {
			const last = history.at(-1);
			const [, name, input] = /^call (\w+) (.*)$/.exec(String(last?.content)) ?? [];
			const toolCalls =
				last?.role === "user" && name
					? [{ id: `c${history.length}`, name, input: JSON.parse(input as string) }]
					: [];
			yield {
				type: "done",
				message: { content: "done", toolCalls, finishReason: "stop" },
				usage: { ...NO_USAGE, provider: "puppet", model: "puppet" },
			};
		},
	};
}

function terminalIn(
	{ programs, walls }: Pick<SceneOptions, "programs" | "walls">,
	processes: Processes,
	{ approvals, processes: settings }: ReturnType<typeof configOf>,
): readonly Tool[] {
	return createTerminalTools({
		processes,
		workspaceOf: () => programs?.path ?? "",
		wallOf: async (turn, options) =>
			(await walls?.forCommand(turn, options)) ??
			withoutWall({ PATH: process.env.PATH ?? "", SHELL: "/bin/sh" }),
		secret: (name) => (name === "TEST" ? SECRET : undefined),
		facts: { keryxHome: "/nowhere/.keryx", keryxProgram: "/nowhere/keryx", home: "/nowhere" },
		mode: () => approvals.mode,
		limits: () => ({ foregroundSeconds: 290, waitSeconds: settings.wait_limit_seconds }),
		now: () => Date.now(),
	});
}

const what = z.object({ what: z.string().default("it") });

/** Has a side effect: it may not be repeated. */
function effectTool(effects: string[]): Tool {
	return defineTool({
		name: "effect",
		description: "does something to the world",
		input: what,
		repeatable: false,
		run: (input) => {
			effects.push(input.what);
			return Promise.resolve({ content: `did ${input.what}` });
		},
	});
}

/** Needs a human first. */
export function dangerTool(dangers: string[]): Tool {
	return defineTool({
		name: "danger",
		description: "does something dangerous to the world",
		input: z.object({ what: z.string(), action: z.string().default("run_danger") }),
		repeatable: false,
		confirmation: ({ what: danger, action }) =>
			danger === "nothing" ? null : { action, description: `do ${danger}` },
		run: ({ what: danger }) => {
			dangers.push(danger);
			return Promise.resolve({ content: `did ${danger}` });
		},
	});
}

/** The same across processes. */
export function dangerOnFile(file: string): Tool {
	return defineTool({
		name: "danger",
		description: "does something dangerous to the world",
		input: z.object({ what: z.string() }),
		repeatable: false,
		confirmation: ({ what: danger }) => ({ action: "run_danger", description: `do ${danger}` }),
		run: ({ what: danger }) => {
			appendFileSync(file, `${danger}\n`);
			return Promise.resolve({ content: `did ${danger}` });
		},
	});
}

/** As in every scene and every life. */
export function confirmationsOn(
	store: Store,
	clock: Clock,
	config: ReturnType<typeof configOf>,
	outlet: Outlet = createOutlet({ channels: () => [] }),
): Confirmations {
	return createConfirmations({
		store,
		clock,
		settings: () => confirmationSettings(config, {}),
		render: (question, to) =>
			questionDeliveries(question, { ...to, kind: "notice", class: "question" }, outlet),
	});
}

/** The same across processes: each run adds a line to a file. */
export function effectOnFile(file: string): Tool {
	return defineTool({
		name: "effect",
		description: "does something to the world",
		input: z.object({}),
		repeatable: false,
		run: () => {
			appendFileSync(file, "once\n");
			return Promise.resolve({ content: "done" });
		},
	});
}

export const failTool = defineTool({
	name: "fail",
	description: "never works",
	input: what,
	repeatable: true,
	run: () => Promise.resolve({ content: "it did not work", isError: true }),
});

/** Takes as many milliseconds as it is told; deaf to being stopped. */
function slowTool(clock: Clock): Tool {
	return defineTool({
		name: "slow",
		description: "takes its time",
		input: z.object({ ms: z.number() }),
		repeatable: true,
		run: ({ ms }) => new Promise((resolve) => clock.after(ms, () => resolve({ content: "slowly done" }))),
	});
}
