// The gateway: channels in, lanes, turns, outbox, channels out. It holds no truth of its own: what it knows in memory is what the
// store says is unfinished, and kill -9 at any moment is safe.
import { randomBytes } from "node:crypto";
import { type Config, commandMachine, LiveConfig } from "../config/index.ts";
import type { ConversationId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { type Conversation, OPERATOR, type Scope, type Woken } from "../store/index.ts";
import {
	type Admission,
	CHANNEL_DEFAULTS,
	type Channel,
	type ChannelBridge,
	type ChannelHost,
	type ChannelReply,
	type ChannelRequest,
	type ChannelSettings,
	type Inbound,
} from "./channel.ts";
import { type Actions, createActions } from "./commands/actions.ts";
import type { CommandTurn } from "./commands/changes.ts";
import { createCommands } from "./commands/index.ts";
import { CommandRunner, type ReceivedCommand } from "./commands/runner.ts";
import { tellStory } from "./commands/why.ts";
import { ConversationFiles } from "./files/conversation-files.ts";
import { AddressedAlbums } from "./inbox/addressed.ts";
import { admit } from "./inbox/admission.ts";
import { ArrivalOrder } from "./inbox/arrival-order.ts";
import { createHost } from "./inbox/host.ts";
import { type PressOptions, press, pressByReaction } from "./inbox/presses.ts";
import { Unheard } from "./inbox/unheard.ts";
import { Lanes } from "./lanes/lanes.ts";
import { ChannelWatch } from "./lifecycle/channel-watch.ts";
import { Connections } from "./lifecycle/connections.ts";
import { tellCutOff } from "./lifecycle/cut-off.ts";
import { HookFollower } from "./lifecycle/hook-follower.ts";
import { createHooks } from "./lifecycle/hooks.ts";
import { Neighbours } from "./lifecycle/neighbours.ts";
import { recover, takeFromDead } from "./lifecycle/recovery.ts";
import { ScheduleRunner } from "./lifecycle/schedule-runner.ts";
import { Watchers } from "./lifecycle/watchers.ts";
import { Audiences } from "./outbox/audiences.ts";
import { Outbox } from "./outbox/outbox.ts";
import { createOutlet, type Outlet } from "./outbox/outlet.ts";
import { UnknownDeliveries } from "./outbox/unknown-deliveries.ts";
import { OutputFiles } from "./sending/output.ts";
import { createSending } from "./sending/sending.ts";
import { Targets } from "./sending/targets.ts";
import type { Sending } from "./sending/types.ts";
import { createSessionSettings, type SessionSettings } from "./session-settings.ts";
import { type Delta, Deltas, type PartialAnswer } from "./turn/deltas.ts";
import { Titles } from "./turn/titles.ts";
import { TurnFactory } from "./turn/turn-factory.ts";
import type { Gateway, GatewayOptions } from "./types.ts";
import { untilWritten } from "./until-written.ts";

/** How long the end waits for a store that is in trouble, before it goes without having told who was cut off. */
const LAST_WORDS_MS = 10_000;
const OWN_WAY_IN = { name: "", account: "" } as const;
const UNNAMED = { who: "program", via: "api", decides: false } as const;

export function createGateway(options: GatewayOptions): Gateway {
	return new RunningGateway(options);
}

class RunningGateway implements Gateway {
	readonly #options: GatewayOptions & { readonly config: Config };
	readonly #log: (message: string, error: unknown) => void;
	readonly #connections: Connections;
	readonly #audiences: Audiences;
	readonly #deltas = new Deltas();
	readonly #sessionSettings: SessionSettings;
	readonly outlet: Outlet;
	readonly sending: Sending;
	readonly #lanes: Lanes;
	readonly #turns: TurnFactory;
	readonly #titles: Titles;
	readonly #outbox: Outbox;
	readonly #commands: CommandRunner;
	readonly actions: Actions;
	readonly commands: Gateway["commands"];
	readonly #follower: HookFollower;
	readonly #watchers: Watchers;
	readonly #scheduleRunner: ScheduleRunner;
	readonly #unknownDeliveries: UnknownDeliveries;
	readonly #channelWatch: ChannelWatch;
	readonly #unheard: Unheard;
	readonly #neighbours: Neighbours;
	readonly #config: LiveConfig;
	#unlisten = () => {};
	#awaySince: number | null = null;
	readonly #arrivalOrder = new ArrivalOrder();
	readonly #albums = new AddressedAlbums();
	#accepting = false;
	/** Aborted when the end begins. */
	#stopping = new AbortController();
	#working = new Set<Promise<void>>();
	readonly #admitting = new Set<Promise<Admission>>();

	constructor(options: GatewayOptions) {
		const { store, clock, tools, channels, pseudonymKey } = options;
		const live = options.config instanceof LiveConfig ? options.config : new LiveConfig(options.config);
		this.#config = live;
		this.#options = {
			...options,
			get config() {
				return live.values;
			},
		};
		this.#log = options.log ?? (() => {});
		this.#audiences = new Audiences(() => live.values.auth);
		this.outlet = createOutlet({
			...(options.platforms && { platforms: options.platforms }),
			channels: () => this.#connections.values(),
			...(options.settingsOf && { settingsOf: options.settingsOf }),
		});
		const log = this.#log;
		this.#connections = new Connections({
			store,
			clock,
			config: () => live.values,
			setHomes: () => this.#sessionSettings.setHomes(),
			audiences: this.#audiences,
			hostOf: (channel) => this.#hostOf(channel),
			log,
		});
		for (const channel of channels) this.#connections.add(channel);
		this.#sessionSettings = createSessionSettings({
			get config() {
				return live.values;
			},
			connectedPlatforms: () => this.#connections.platforms(),
			get tools() {
				return tools.names;
			},
			pseudonymKey,
			platforms: this.outlet.platforms,
		});
		this.sending = this.#createSending();
		this.#lanes = new Lanes({
			clock,
			get maxTurns() {
				return live.values.gateway.max_turns;
			},
			get batchCapMs() {
				return live.values.gateway.batch_cap_ms;
			},
			work: {
				begin: (conversation, items) => this.#turns.begin(conversation, items),
				resume: (conversation, turn) => this.#turns.resume(conversation, turn),
				// Other gateways may have accepted something for a conversation that runs here.
				...(store.cluster && {
					refresh: (conversation) => this.#unheard.refresh(conversation),
					idle: (conversation) => this.#track(this.#lookAgain(conversation)),
				}),
				log,
			},
		});
		const channelOf = (platform: string, account: string) => this.#connections.get(platform, account);
		const sending = {
			store,
			clock,
			get config() {
				return live.values;
			},
			channelOf,
			log,
		};
		this.#outbox = new Outbox({
			...sending,
			channels: () => this.#connections.values(),
			elsewhere: () => this.#connections.elsewhere,
			outlet: this.outlet,
		});
		this.#unknownDeliveries = new UnknownDeliveries(sending);
		this.#channelWatch = new ChannelWatch({
			store,
			clock,
			channels: () => this.#connections.values(),
			settingsOf: (name) => this.#settingsOf(name),
			homes: () => this.#connections.homes(),
			outlet: this.outlet,
			log,
		});
		const { checkpoints, workspaceOf } = options;
		const files =
			checkpoints && workspaceOf
				? new ConversationFiles({
						store,
						checkpoints,
						workspaceOf,
						// A container works in the workspace, which is here.
						elsewhere: (profile) => commandMachine(live.values, profile).ssh?.host ?? null,
						log,
					})
				: null;
		this.#turns = new TurnFactory({
			store,
			clock,
			get agent() {
				return options.agent;
			},
			get profiles() {
				return options.profiles ?? {};
			},
			tools,
			confirmations: options.confirmations ?? null,
			walls: options.walls ?? null,
			files,
			get config() {
				return live.values;
			},
			sessionSettings: this.#sessionSettings,
			outlet: this.outlet,
			deltas: this.#deltas,
			lanes: this.#lanes,
			channelOf,
			awaySince: () => this.#awaySince,
			promptOf: options.promptOf ?? (() => Promise.resolve(null)),
			completed: (start) => this.#track(this.#titles.after(start)),
			log,
		});
		this.#titles = new Titles({
			store,
			clock,
			get config() {
				return live.values;
			},
			agentOf: (place) => this.#turns.agentOf(place),
			stopping: () => this.#stopping.signal,
			log,
		});
		const commands = createCommands(options.commands);
		this.commands = commands.all;
		this.#commands = new CommandRunner({
			commands,
			store,
			clock,
			get config() {
				return live.values;
			},
			lanes: this.#lanes,
			sessionSettings: this.#sessionSettings,
			outlet: this.outlet,
			agentOf: (conversation) => this.#turns.agentOf(conversation),
			runTurn: (conversation, turn) => this.#runBegun(conversation, turn),
			confirmations: options.confirmations ?? null,
			processes: options.processes ?? null,
			schedules: options.schedules ?? null,
			files,
			tools,
			walls: options.walls ?? null,
			modelChoices: options.modelChoices ?? null,
			stopping: () => this.#stopping.signal,
			log,
		});
		this.#unheard = new Unheard({
			store,
			clock,
			get config() {
				return live.values;
			},
			lanes: this.#lanes,
			commands: this.#commands,
			accepted: () => Promise.allSettled(this.#admitting),
			onCommand: (item) => this.#track(this.#commands.recover(item)),
			onCommit: () => {
				this.#outbox.kick();
				this.#follower.look();
			},
			log,
		});
		this.#neighbours = new Neighbours({
			store,
			clock,
			lanes: this.#lanes,
			refresh: (conversation) => this.#unheard.refresh(conversation),
			lookForUnheard: () => this.#unheard.look(),
			takeOver: () => this.#takeOver(),
			log,
		});
		this.actions = createActions({
			store,
			clock,
			get config() {
				return live.values;
			},
			lanes: this.#lanes,
			sessionSettings: this.#sessionSettings,
			runTurn: (conversation, turn) => this.#runBegun(conversation, turn),
			confirmations: options.confirmations ?? null,
			processes: options.processes ?? null,
			files,
			tools,
			agentOf: (conversation) => this.#turns.agentOf(conversation),
			isRunning: () => this.#accepting,
			track: (work) => this.#track(work),
		});
		this.#scheduleRunner = new ScheduleRunner({
			store,
			clock,
			config: () => live.values,
			sending: this.sending,
			homes: () => this.#connections.homes(),
			wake: (woken) => this.#wake(woken, "schedule"),
			log,
		});
		const hooks = createHooks(live.values, clock, log);
		this.#follower = new HookFollower(store, hooks, { clock, log });
		this.#watchers = new Watchers({
			store,
			clock,
			hooks,
			policyFor: this.#sessionSettings.policyFor,
			get config() {
				return live.values;
			},
			log,
		});
	}

	#createSending(): Sending {
		const { store, clock, outputFolder: folder, randomBytes: draw = randomBytes } = this.#options;
		const targets = new Targets({
			store,
			config: () => this.#options.config,
			channels: () => this.#connections.values(),
			homes: () => this.#connections.homes(),
			labelOf: (platform) => this.outlet.platforms.traits(platform).label,
			hasOutput: folder !== undefined,
		});
		const output = folder === undefined ? null : new OutputFiles({ store, clock, folder, randomBytes: draw });
		const { outlet } = this;
		return createSending({ store, targets, outlet, sessionSettings: this.#sessionSettings, output });
	}

	async start(): Promise<void> {
		const { store, clock, config } = this.#options;
		this.#stopping = new AbortController();
		this.#awaySince = await this.#patiently(() => store.lastEventAt({ scope: OPERATOR }));
		// Before what is unfinished is looked at: the end of a restore may be that of a command, too.
		await this.#patiently(() => this.#finishRestores());
		const unfinished = await this.#patiently(() =>
			recover({
				store,
				clock,
				config,
				aliveAt: this.#awaySince,
				channels: this.#connections.values(),
				outlet: this.outlet,
			}),
		);
		this.#sessionSettings.takeHomes(await this.#patiently(() => store.homeChannels({ scope: OPERATOR })));
		this.#accepting = true;
		const unlisten = [
			store.onCommit(() => this.#outbox.kick()),
			this.#options.confirmations?.onWoken((woken) => this.#wake(woken, "confirmation")),
			this.#options.processes?.onWoken((woken) => this.#wake(woken, "process")),
			this.#options.schedules?.onWoken((woken) => {
				if (woken) this.#wake(woken, "schedule");
				this.#scheduleRunner.look();
			}),
		];
		this.#unlisten = () => {
			for (const end of unlisten) end?.();
		};
		// Before any turn goes on: what an earlier life left running is told apart from what this one starts.
		await this.#patiently(async () => this.#options.processes?.open());
		// Commands first: they hold their lanes until they are done.
		for (const item of unfinished.commands) this.#track(this.#commands.recover(item));
		for (const { conversation, turn } of unfinished.turns) this.#lanes.resume(conversation, turn);
		for (const { conversation, item, busy } of unfinished.messages) this.#lanes.add(conversation, item, busy);
		this.#outbox.kick();
		this.#watchers.start();
		this.#unheard.start();
		await this.#patiently(() => this.#neighbours.start());
		await this.#patiently(() => this.#follower.start());
		await this.#connections.openAll();
		this.#unknownDeliveries.start();
		this.#channelWatch.start();
		this.#scheduleRunner.start();
	}

	async connect(channel: Channel): Promise<void> {
		const added = this.#connections.add(channel);
		if (!this.#accepting) return;
		await this.#connections.open(added);
		this.#channelWatch.look();
		await this.#outbox.reachable(channel);
	}

	disconnect(name: string): Promise<void> {
		return this.#connections.remove(name);
	}

	async receive(name: string, request: ChannelRequest): Promise<ChannelReply> {
		if (!this.#accepting) return { kind: "later" };
		return (await this.#connections.named(name)?.receive?.(request)) ?? { kind: "refused" };
	}

	bridge(name: string): ChannelBridge | null {
		return this.#connections.named(name)?.bridge ?? null;
	}

	#hostOf(channel: Channel): ChannelHost {
		const arrivalOrder = new ArrivalOrder();
		return createHost(channel, {
			store: this.#options.store,
			config: () => this.#options.config,
			settings: () => this.#settingsOf(channel.name),
			lanes: this.#lanes,
			accept: (inbound) => this.#admit(inbound, channel, arrivalOrder),
			inOrder: async (write) => {
				this.#assertAccepting();
				return this.#inOrder(write, arrivalOrder);
			},
			// Also while Keryx stops: a channel that ends says where it goes on.
			passed: (write) => this.#inOrder(write, arrivalOrder),
			pressed: (given) => press(given, channel.account, this.#pressing(arrivalOrder)),
			pressedByReaction: (given) => pressByReaction(given, channel.account, this.#pressing(arrivalOrder)),
		});
	}

	/** A gateway on the same store has died: what it had begun and accepted goes on here. */
	async #takeOver(): Promise<void> {
		const { store } = this.#options;
		const channels = this.#connections.values();
		for (const { conversation, turn } of await takeFromDead({ store, aliveAt: null, channels }))
			if (!this.#lanes.isBusy(conversation)) this.#lanes.resume(conversation, turn);
		this.#unheard.look();
		await this.#connections.openWaiting();
		this.#outbox.kick();
	}

	async #lookAgain(conversation: ConversationId): Promise<void> {
		await this.#unheard.refresh(conversation).catch((error: unknown) => {
			this.#log("what waits in a conversation cannot be read right now", error);
			this.#unheard.look();
		});
	}

	async #finishRestores(): Promise<void> {
		for (const { id, workspace, problem, left } of (await this.#options.checkpoints?.recover()) ?? [])
			this.#log(
				problem === null
					? `finished the interrupted restore ${id} of ${workspace}`
					: `cannot finish the interrupted restore ${id} of ${workspace} (${left.length} files left): ${problem}`,
				undefined,
			);
	}

	/** Channels go last: what the drained turns have to say still leaves through them. */
	async stop(): Promise<void> {
		const { store, clock, config, processes } = this.#options;
		this.#accepting = false;
		this.#stopping.abort();
		await Promise.all([
			this.#scheduleRunner.stop(),
			this.#channelWatch.stop(),
			this.#unknownDeliveries.stop(),
			this.#unheard.stop(),
			this.#neighbours.stop(),
			...this.#working,
		]);
		const unplanned = (error: unknown) => this.#log("the shutdown could not be planned", error);
		const drained = this.#lanes.drain();
		const cancel = clock.after(config.shutdown.drain_seconds * 1000, () => {
			// Marked first: what is cut off now was planned, and does not count as an interruption.
			void store
				.planInterruptions()
				.catch(unplanned)
				.then(() => this.#lanes.abortAll("shutdown"));
		});
		await drained;
		cancel();
		const [sessionSettings, outlet] = [this.#sessionSettings, this.outlet];
		await this.#lastWords(() => tellCutOff({ store, config, sessionSettings, outlet })).catch(unplanned);
		this.#unlisten();
		await processes?.close().catch((error: unknown) => this.#log("processes could not be released", error));
		await this.#outbox.stop();
		await this.#connections.stopAll();
		await this.#watchers.stop();
		await this.#follower.stop();
	}

	/** Until the store answers, or the end has begun. */
	#patiently<Value>(work: () => Promise<Value>): Promise<Value> {
		const log = (error: unknown) => this.#log("startup is waiting for the store", error);
		return untilWritten(work, { clock: this.#options.clock, signal: this.#stopping.signal, log });
	}

	async #lastWords(work: () => Promise<void>): Promise<void> {
		const { clock } = this.#options;
		const enough = new AbortController();
		const cancel = clock.after(LAST_WORDS_MS, () => enough.abort());
		const log = (error: unknown) => this.#log("shutdown is waiting for the store", error);
		await untilWritten(work, { clock, signal: enough.signal, log }).finally(cancel);
	}

	/** Never taken for what a channel brings: without a poster it is some program's, which decides nothing. */
	accept(inbound: Inbound): Promise<Admission> {
		const transport = { poster: UNNAMED, ...inbound.transport };
		return this.#admit({ ...inbound, transport }, OWN_WAY_IN, this.#arrivalOrder);
	}

	async why(message: number, scope: Scope): Promise<string> {
		return tellStory(await this.#options.store.story({ scope, id: message }));
	}

	onDelta(listener: (delta: Delta) => void): () => void {
		return this.#deltas.listen(listener);
	}

	partial(conversation: ConversationId): PartialAnswer | null {
		return this.#deltas.partial(conversation);
	}

	async workspaceOf(conversation: ConversationId): Promise<string> {
		const { store, workspaceOf } = this.#options;
		const { profile } = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		if (!workspaceOf)
			throw new KeryxError("workspace.unusable", "conversations have no workspace folders here");
		return workspaceOf({ conversation, profile }).folder;
	}

	health() {
		return this.#channelWatch.health();
	}

	async reconfigure(config: Config) {
		const { store, clock } = this.#options;
		const { keys, restart } = this.#config.change(config);
		if (keys.length > 0)
			await untilWritten(() => store.noteConfig({ kind: "changed", keys, restart }), {
				clock,
				signal: this.#stopping.signal,
				log: (error) => this.#log("the channels cannot be told about the configuration change yet", error),
			});
		return { keys, restart };
	}

	async refuseConfig({ key, line }: { readonly key?: string; readonly line?: number }) {
		await this.#options.store.noteConfig({ kind: "refused", key: key ?? null, line: line ?? null });
	}

	async holdConfig(sections: readonly string[]) {
		await this.#options.store.noteConfig({ kind: "held", sections });
	}

	#settingsOf(channel: string): ChannelSettings {
		return this.#options.settingsOf?.(channel) ?? CHANNEL_DEFAULTS;
	}

	/** Behind everything that the channel has handed in before. */
	async #inOrder<Value>(write: () => Promise<Value>, arrivalOrder: ArrivalOrder): Promise<Value> {
		await arrivalOrder.pass(Promise.resolve());
		return write();
	}

	async #admit(
		inbound: Inbound,
		{ name, account }: Pick<Channel, "name" | "account">,
		arrivalOrder: ArrivalOrder,
	): Promise<Admission> {
		this.#assertAccepting();
		const { store, clock, config } = this.#options;
		const admitting = admit(inbound, account, {
			store,
			clock,
			config,
			settings: this.#settingsOf(name),
			albums: this.#albums,
			randomBytes: this.#options.randomBytes ?? randomBytes,
			outlet: this.outlet,
			homes: () => this.#connections.homes(),
			isOwners: (destination) => this.#audiences.isOwners(destination),
			arrivalOrder,
			onOwner: (source) => this.#audiences.ownerAt(source),
			onMessage: (conversation, item, busy) => this.#lanes.add(conversation, item, busy),
			onCommand: (command) => this.#track(this.#commands.run(command)),
		});
		this.#admitting.add(admitting);
		return admitting.finally(() => this.#admitting.delete(admitting));
	}

	#pressing(arrivalOrder: ArrivalOrder): PressOptions {
		this.#assertAccepting();
		const { store, clock, config, confirmations = null } = this.#options;
		const onCommand = (command: ReceivedCommand) => this.#track(this.#commands.run(command));
		return { store, clock, config, confirmations, arrivalOrder, onCommand };
	}

	#assertAccepting(): void {
		if (!this.#accepting)
			throw new KeryxError("gateway.stopped", "Keryx is not accepting messages right now");
	}

	/** What a human, the clock or a program has come to begins a turn. */
	#wake({ conversation, inbox: id }: Woken, kind: "confirmation" | "process" | "schedule"): void {
		const { clock } = this.#options;
		this.#lanes.add(conversation, {
			id,
			kind,
			principal: null,
			role: null,
			arrivedAt: clock.monotonic(),
			sentAt: clock.now(),
			batchMs: 0,
			late: false,
		});
	}

	/** Commands run beside everything else; the end of the gateway waits for those that have begun. */
	#track(work: Promise<void>): void {
		this.#working.add(work);
		void work.finally(() => this.#working.delete(work));
	}

	/** A turn that a command began; it waits in its lane until nothing else runs there. */
	#runBegun(conversation: Conversation, turn: CommandTurn): void {
		this.#track(
			untilWritten(() => this.#turns.ofCommand(conversation, turn), {
				clock: this.#options.clock,
				signal: this.#stopping.signal,
				log: (error) => this.#log(`turn ${turn.turn} cannot start yet`, error),
			}).then(
				(begun) => this.#lanes.run(conversation.id, begun),
				(error: unknown) => this.#log(`turn ${turn.turn} is left for the next start`, error),
			),
		);
	}
}
