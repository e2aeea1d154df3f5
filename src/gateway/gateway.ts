// The gateway: channels in, lanes, turns, outbox, channels out. It holds no truth of its own: what it knows in memory is what the
// store says is unfinished, and kill -9 at any moment is safe.
import type { Agent } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import type { ConversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import type { Delivery, Scope, Store } from "../store/index.ts";
import type { ToolRegistry } from "../tools/index.ts";
import { admit } from "./admission.ts";
import type { Waiting } from "./batch.ts";
import type { Admission, Channel, ChannelHealth, Inbound } from "./channel.ts";
import type { GatewayClock } from "./clock.ts";
import { CommandRunner } from "./command-runner.ts";
import { type Delta, Deltas, type Partial } from "./deltas.ts";
import { Door } from "./door.ts";
import { HookFollower } from "./hook-follower.ts";
import { createHooks } from "./hooks.ts";
import { type Begun, Lanes } from "./lanes.ts";
import { Outbox } from "./outbox.ts";
import { expire, type RecoveryOptions, recover, resolveUnknown } from "./recovery.ts";
import { awaySentence } from "./sentences.ts";
import { createSurroundings, policyOf, type Surroundings } from "./surroundings.ts";
import { Turn } from "./turn.ts";
import type { TurnStart } from "./turn-start.ts";
import { Watchers } from "./watchers.ts";
import { tellStory } from "./why.ts";

/** A message that waited longer than this is answered with a line that says so. */
const NOTICEABLE_WAIT_MS = 60_000;
const LOOK_UP_EVERY_MS = 30_000;

export interface GatewayOptions {
	readonly store: Store;
	readonly agent: Agent;
	readonly tools: ToolRegistry;
	readonly channels: readonly Channel[];
	readonly config: Config;
	readonly clock: GatewayClock;
	/** Per installation; pseudonyms of ids are made with it. */
	readonly pseudonymKey: Uint8Array;
	readonly log?: (message: string, error: unknown) => void;
}

export interface Gateway {
	/** Takes up unfinished work, then starts the channels. */
	start(): Promise<void>;
	/** Stops accepting, drains turns for as long as configured, and leaves what is cut off to the next start. */
	stop(): Promise<void>;
	/** For ways in of our own; resolves after the commit. */
	accept(inbound: Inbound): Promise<Admission>;
	/** The story of one message, in sentences with times. */
	why(message: number, scope: Scope): Promise<string>;
	onDelta(listener: (delta: Delta) => void): () => void;
	/** The text so far of an answer that is being written. */
	partial(conversation: ConversationId): Partial | null;
	health(): readonly (ChannelHealth & { readonly platform: string; readonly account: string })[];
}

export function createGateway(options: GatewayOptions): Gateway {
	return new RunningGateway(options);
}

class RunningGateway implements Gateway {
	readonly #options: GatewayOptions;
	readonly #log: (message: string, error: unknown) => void;
	readonly #channels = new Map<string, Channel>();
	readonly #deltas = new Deltas();
	readonly #surroundings: Surroundings;
	readonly #lanes: Lanes;
	readonly #outbox: Outbox;
	readonly #commands: CommandRunner;
	readonly #follower: HookFollower;
	readonly #watchers: Watchers;
	#unlisten = () => {};
	#awaySince: number | null = null;
	readonly #door = new Door();
	#accepting = false;
	#cancelResolve = () => {};
	#working = new Set<Promise<void>>();

	constructor(options: GatewayOptions) {
		const { store, clock, config, tools, channels, pseudonymKey } = options;
		this.#options = options;
		this.#log = options.log ?? (() => {});
		for (const channel of channels) this.#channels.set(`${channel.platform} ${channel.account}`, channel);
		const log = this.#log;
		this.#surroundings = createSurroundings({
			config,
			connectedPlatforms: [...new Set(channels.map((channel) => channel.platform))],
			tools: tools.names,
			pseudonymKey,
		});
		this.#lanes = new Lanes({
			clock,
			maxTurns: config.gateway.max_turns,
			batchCapMs: config.gateway.batch_cap_ms,
			work: {
				begin: (conversation, items) => this.#begin(conversation as ConversationId, items),
				resume: (conversation, turn) => this.#resume(conversation as ConversationId, turn),
				log,
			},
		});
		const channelOf = (platform: string, account: string) => this.#channels.get(`${platform} ${account}`);
		this.#outbox = new Outbox({ store, clock, config, channelOf, log });
		this.#commands = new CommandRunner({
			store,
			clock,
			config,
			lanes: this.#lanes,
			surroundings: this.#surroundings,
			log,
		});
		const hooks = createHooks(config, clock, log);
		this.#follower = new HookFollower(store, hooks, log);
		this.#watchers = new Watchers({
			store,
			clock,
			hooks,
			policyFor: this.#surroundings.policyFor,
			keepEventsDays: config.events.keep_days,
			log,
		});
	}

	async start(): Promise<void> {
		const { store, clock, config } = this.#options;
		this.#awaySince = await store.lastEventAt();
		const channels = this.#channels;
		const recovery = { store, clock, config, channels, aliveAt: this.#awaySince, log: this.#log };
		const unfinished = await recover(recovery);
		this.#accepting = true;
		// Commands first: they hold their lanes until they are done.
		for (const item of unfinished.commands) this.#track(this.#commands.recover(item));
		for (const { conversation, turn } of unfinished.turns) this.#lanes.resume(conversation, turn);
		for (const { conversation, item, busy } of unfinished.messages) this.#lanes.add(conversation, item, busy);
		this.#unlisten = store.onCommit(() => this.#outbox.kick());
		this.#outbox.kick();
		this.#watchers.start();
		await this.#follower.start();
		for (const channel of this.#channels.values()) {
			const door = new Door();
			await channel.start({
				accept: (inbound) => this.#admit(inbound, channel.account, door),
				cursor: () => store.channelCursor({ platform: channel.platform, account: channel.account }),
			});
		}
		this.#resolve(unfinished.unknown, recovery);
	}

	/** Channels go last: what the drained turns have to say still leaves through them. */
	async stop(): Promise<void> {
		const { store, clock, config } = this.#options;
		this.#accepting = false;
		this.#cancelResolve();
		await Promise.all(this.#working);
		const drained = this.#lanes.drain();
		const cancel = clock.after(config.shutdown.drain_seconds * 1000, () => {
			// Marked first: what is cut off now was planned, and does not count as an interruption.
			store.planInterruptions().then(
				() => this.#lanes.abortAll("shutdown"),
				(error: unknown) => this.#log("the end could not be planned", error),
			);
		});
		await drained;
		cancel();
		this.#unlisten();
		await this.#outbox.stop();
		await Promise.all([...this.#channels.values()].map((channel) => channel.stop()));
		await this.#watchers.stop();
		await this.#follower.stop();
	}

	accept(inbound: Inbound): Promise<Admission> {
		return this.#admit(inbound, "", this.#door);
	}

	async why(message: number, scope: Scope): Promise<string> {
		return tellStory(await this.#options.store.story({ scope, id: message }));
	}

	onDelta(listener: (delta: Delta) => void): () => void {
		return this.#deltas.listen(listener);
	}

	partial(conversation: ConversationId): Partial | null {
		return this.#deltas.partial(conversation);
	}

	health() {
		return [...this.#channels.values()].map((channel) => ({
			platform: channel.platform,
			account: channel.account,
			...channel.health(),
		}));
	}

	async #admit(inbound: Inbound, account: string, door: Door): Promise<Admission> {
		if (!this.#accepting)
			throw new KeryxError("gateway.stopped", "Keryx is not accepting messages right now");
		const { store, clock, config } = this.#options;
		return admit(inbound, account, {
			store,
			clock,
			config,
			door,
			onMessage: (conversation, item, busy) => this.#lanes.add(conversation, item, busy),
			onCommand: (command) => this.#track(this.#commands.run(command)),
		});
	}

	/** Asked again while the platform cannot say; whatever stays unknown waits for a person. */
	#resolve(unknown: readonly Delivery[], recovery: RecoveryOptions): void {
		if (unknown.length === 0 || !this.#accepting) return;
		const asked = resolveUnknown(unknown, recovery);
		this.#track(
			asked.then((open) => {
				this.#cancelResolve = recovery.clock.after(LOOK_UP_EVERY_MS, () => this.#resolve(open, recovery));
			}),
		);
	}

	/** Commands run beside everything else; the end of the gateway waits for those that have begun. */
	#track(work: Promise<void>): void {
		this.#working.add(work);
		void work.finally(() => this.#working.delete(work));
	}

	async #begin(conversation: ConversationId, waiting: readonly Waiting[]): Promise<Begun> {
		const { store, clock, config } = this.#options;
		const items = await this.#withoutExpired(conversation, waiting);
		if (items.length === 0) return { kind: "none" };
		const place = await store.conversation({ scope: { kind: "operator" }, ref: { id: conversation } });
		const begun = await store.beginTurn({
			conversation,
			inbox: items.map((item) => item.id),
			policy: policyOf(this.#surroundings, place),
			context: this.#surroundings.contextOf(place),
			autoContinueFreshness: config.auto_continue_freshness,
			deadlineAt: clock.now() + config.turn.max_minutes * 60_000,
		});
		if (begun.kind === "busy") return { kind: "resume", turn: begun.turn };
		if (begun.kind === "suspended") return { kind: "parked" };
		if (begun.kind === "nothing") return { kind: "none" };
		const start = { ...begun, conversation, place, attempt: 1, resumed: null, away: this.#away(items) };
		return { kind: "turn", turn: this.#turn(start) };
	}

	/** What was sent while Keryx was away and has got too old is given up, and listed once. */
	async #withoutExpired(
		conversation: ConversationId,
		items: readonly Waiting[],
	): Promise<readonly Waiting[]> {
		const { store, clock, config } = this.#options;
		const oldest = clock.now() - config.inbox.max_age_minutes * 60_000;
		const tooOld = items.filter((item) => item.kind === "person" && item.late && item.sentAt < oldest);
		if (tooOld.length === 0) return items;
		const scope = { kind: "operator" } as const;
		const expired = await Promise.all(tooOld.map(({ id }) => store.inboxItem({ scope, id })));
		await expire(store, conversation, expired);
		return items.filter((item) => !tooOld.includes(item));
	}

	async #resume(conversation: ConversationId, turn: string): Promise<Begun> {
		const { store, clock, config } = this.#options;
		const place = await store.conversation({ scope: { kind: "operator" }, ref: { id: conversation } });
		const resumed = await store.resumeTurn({
			turn,
			autoContinueFreshness: config.auto_continue_freshness,
			deadlineAt: clock.now() + config.turn.max_minutes * 60_000,
			policy: policyOf(this.#surroundings, place),
		});
		if (resumed.kind !== "resumed") return { kind: "none" };
		const started = new Set(resumed.started.filter((call) => !call.repeatable).map((call) => call.call));
		return {
			kind: "turn",
			turn: this.#turn({
				...resumed,
				place,
				attempt: resumed.attempts,
				resumed: { reason: resumed.reason, started },
				away: null,
			}),
		};
	}

	/** One line that Keryx was away, where what is answered now has waited for it. */
	#away(items: readonly Waiting[]): string | null {
		const { clock, config } = this.#options;
		const oldest = items.find((item) => item.late);
		if (!oldest || this.#awaySince === null || clock.now() - oldest.sentAt < NOTICEABLE_WAIT_MS) return null;
		return awaySentence(this.#awaySince, config.session_reset.timezone);
	}

	#turn(start: TurnStart): Turn {
		const { store, agent, tools, clock, config } = this.#options;
		const { platform, account } = start.destination;
		return new Turn(start, {
			store,
			agent,
			tools,
			clock,
			config,
			deltas: this.#deltas,
			channel: this.#channels.get(`${platform} ${account}`),
			policyOf: (conversation) => policyOf(this.#surroundings, conversation),
			contextOf: (conversation) => this.#surroundings.contextOf(conversation),
			joining: () => this.#lanes.joining(start.conversation),
			joined: (inbox) => this.#lanes.joined(start.conversation, inbox),
			log: this.#log,
		});
	}
}
