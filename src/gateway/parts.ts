// Puts the parts of a gateway together. Each part gets what it needs of the others by name; nothing here starts, and nothing here decides.
import { randomBytes } from "node:crypto";
import { commandMachine, LiveConfig } from "../config/index.ts";
import type { ConversationId } from "../domain/index.ts";
import type { Conversation, Woken } from "../store/index.ts";
import { CHANNEL_DEFAULTS } from "./channel.ts";
import { createActions } from "./commands/actions.ts";
import type { CommandTurn } from "./commands/changes.ts";
import { createCommands } from "./commands/index.ts";
import { CommandRunner } from "./commands/runner.ts";
import { ConversationFiles } from "./files/conversation-files.ts";
import { Inbox } from "./inbox/inbox.ts";
import { Unheard } from "./inbox/unheard.ts";
import { Lanes } from "./lanes/lanes.ts";
import { ChannelWatch } from "./lifecycle/channel-watch.ts";
import { Connections } from "./lifecycle/connections.ts";
import { HookFollower } from "./lifecycle/hook-follower.ts";
import { createHooks } from "./lifecycle/hooks.ts";
import type { GatewayLife } from "./lifecycle/life.ts";
import { Neighbours } from "./lifecycle/neighbours.ts";
import { takeFromDead } from "./lifecycle/recovery.ts";
import { ScheduleRunner } from "./lifecycle/schedule-runner.ts";
import { TextRelay } from "./lifecycle/text-relay.ts";
import { Watchers } from "./lifecycle/watchers.ts";
import { Audiences } from "./outbox/audiences.ts";
import { Outbox } from "./outbox/outbox.ts";
import { createOutlet } from "./outbox/outlet.ts";
import { UnknownDeliveries } from "./outbox/unknown-deliveries.ts";
import { OutputFiles } from "./sending/output.ts";
import { createSending } from "./sending/sending.ts";
import { Targets } from "./sending/targets.ts";
import { createSessionSettings } from "./session-settings.ts";
import { Deltas } from "./turn/deltas.ts";
import { Titles } from "./turn/titles.ts";
import { TurnFactory } from "./turn/turn-factory.ts";
import type { GatewayOptions } from "./types.ts";
import { untilWritten } from "./until-written.ts";

export type GatewayParts = ReturnType<typeof createGatewayParts>;

export function createGatewayParts(options: GatewayOptions, life: GatewayLife) {
	const { store, clock, tools, log = () => {} } = options;
	const { confirmations = null, processes = null, schedules = null, walls = null } = options;
	const live = options.config instanceof LiveConfig ? options.config : new LiveConfig(options.config);
	const config = () => live.values;
	const settingsOf = (channel: string) => options.settingsOf?.(channel) ?? CHANNEL_DEFAULTS;
	const audiences: Audiences = new Audiences(() => live.values.auth);
	const deltas: Deltas = new Deltas();
	const outlet = createOutlet({
		...(options.platforms && { platforms: options.platforms }),
		channels: () => connections.values(),
		...(options.settingsOf && { settingsOf: options.settingsOf }),
	});
	const connections: Connections = new Connections({
		store,
		clock,
		config,
		setHomes: () => sessionSettings.setHomes(),
		audiences,
		hostOf: (channel) => inbox.hostOf(channel),
		log,
	});
	for (const channel of options.channels) connections.add(channel);
	const sessionSettings = createSessionSettings({
		get config() {
			return live.values;
		},
		connectedPlatforms: () => connections.platforms(),
		get tools() {
			return tools.names;
		},
		pseudonymKey: options.pseudonymKey,
		platforms: outlet.platforms,
	});
	const { outputFolder: folder, randomBytes: draw = randomBytes } = options;
	const targets: Targets = new Targets({
		store,
		config,
		channels: () => connections.values(),
		homes: () => connections.homes(),
		labelOf: (platform) => outlet.platforms.traits(platform).label,
		hasOutput: folder !== undefined,
	});
	const output = folder === undefined ? null : new OutputFiles({ store, clock, folder, randomBytes: draw });
	const sending = createSending({ store, targets, outlet, sessionSettings, output });
	const lanes: Lanes = new Lanes({
		clock,
		get maxTurns() {
			return live.values.gateway.max_turns;
		},
		get batchCapMs() {
			return live.values.gateway.batch_cap_ms;
		},
		work: {
			begin: (conversation, items) => turns.begin(conversation, items),
			resume: (conversation, turn) => turns.resume(conversation, turn),
			// Other gateways may have accepted something for a conversation that runs here.
			...(store.cluster && {
				refresh: (conversation) => unheard.refresh(conversation),
				idle: (conversation) => life.track(lookAgain(conversation)),
				// Its lease was away for a moment, and is back before the turn was stopped.
				lost: () => {
					if (store.cluster?.holdsLease && !life.stopping.aborted) unheard.look();
				},
			}),
			log,
		},
	});
	const channelOf = (platform: string, account: string) => connections.get(platform, account);
	const outbox: Outbox = new Outbox({
		store,
		clock,
		get config() {
			return live.values;
		},
		channelOf,
		channels: () => connections.values(),
		elsewhere: () => connections.elsewhere,
		outlet,
		log,
	});
	const unknownDeliveries: UnknownDeliveries = new UnknownDeliveries({
		store,
		clock,
		get config() {
			return live.values;
		},
		channelOf,
		log,
	});
	const channelWatch: ChannelWatch = new ChannelWatch({
		store,
		clock,
		channels: () => connections.values(),
		elsewhere: () => connections.elsewhere,
		settingsOf,
		homes: () => connections.homes(),
		outlet,
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
	const turns: TurnFactory = new TurnFactory({
		store,
		clock,
		get agent() {
			return options.agent;
		},
		get profiles() {
			return options.profiles ?? {};
		},
		tools,
		confirmations,
		walls,
		files,
		get config() {
			return live.values;
		},
		sessionSettings,
		outlet,
		deltas,
		lanes,
		channelOf,
		awaySince: () => life.awaySince,
		promptOf: options.promptOf ?? (() => Promise.resolve(null)),
		completed: (start) => life.track(titles.after(start)),
		log,
	});
	const titles: Titles = new Titles({
		store,
		clock,
		get config() {
			return live.values;
		},
		agentOf: (conversation) => turns.agentOf(conversation),
		stopping: () => life.stopping,
		log,
	});
	const commands = createCommands(options.commands);
	const runner: CommandRunner = new CommandRunner({
		commands,
		store,
		clock,
		get config() {
			return live.values;
		},
		lanes,
		sessionSettings,
		outlet,
		agentOf: (conversation) => turns.agentOf(conversation),
		runTurn: (conversation, turn) => life.track(runBegun(conversation, turn)),
		confirmations,
		processes,
		schedules,
		files,
		tools,
		walls,
		modelChoices: options.modelChoices ?? null,
		stopping: () => life.stopping,
		log,
	});
	const inbox: Inbox = new Inbox({
		store,
		clock,
		config,
		settingsOf,
		randomBytes: draw,
		confirmations,
		life,
		lanes,
		connections,
		audiences,
		outlet,
		onCommand: (command) => life.track(runner.run(command)),
	});
	const unheard: Unheard = new Unheard({
		store,
		clock,
		get config() {
			return live.values;
		},
		lanes,
		commands: runner,
		accepted: () => inbox.untilAdmitted(),
		onCommand: (item) => life.track(runner.recover(item)),
		onCommit: () => {
			outbox.kick();
			follower.look();
		},
		log,
	});
	const neighbours: Neighbours = new Neighbours({
		store,
		clock,
		lanes,
		refresh: (conversation) => unheard.refresh(conversation),
		lookForUnheard: () => unheard.look(),
		turnEnded: (conversation, turn) => deltas.endHeard(conversation, turn),
		takeOver,
		log,
	});
	const relay = store.cluster && new TextRelay({ cluster: store.cluster, clock, deltas });
	const actions = createActions({
		store,
		clock,
		get config() {
			return live.values;
		},
		lanes,
		sessionSettings,
		runTurn: (conversation, turn) => life.track(runBegun(conversation, turn)),
		confirmations,
		processes,
		files,
		tools,
		agentOf: (conversation) => turns.agentOf(conversation),
		isRunning: () => life.isAccepting,
		track: (work) => life.track(work),
	});
	const scheduleRunner: ScheduleRunner = new ScheduleRunner({
		store,
		clock,
		config,
		sending,
		homes: () => connections.homes(),
		wake: (woken) => wake(woken, "schedule"),
		log,
	});
	const hooks = createHooks(live.values, clock, log);
	const follower: HookFollower = new HookFollower(store, hooks, { clock, log });
	const watchers: Watchers = new Watchers({
		store,
		clock,
		hooks,
		policyFor: sessionSettings.policyFor,
		get config() {
			return live.values;
		},
		log,
	});
	return {
		live,
		log,
		outlet,
		connections,
		sessionSettings,
		sending,
		deltas,
		lanes,
		outbox,
		unknownDeliveries,
		channelWatch,
		commands,
		runner,
		inbox,
		unheard,
		neighbours,
		relay,
		actions,
		scheduleRunner,
		follower,
		watchers,
		wake,
	};

	/** An answer of a human, the clock or the end of a program begins a turn. */
	function wake({ conversation, inbox: id }: Woken, kind: "confirmation" | "process" | "schedule"): void {
		lanes.add(conversation, {
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

	/** A turn that a command began. It waits in its lane until nothing else runs there. */
	function runBegun(conversation: Conversation, turn: CommandTurn): Promise<void> {
		return untilWritten(() => turns.ofCommand(conversation, turn), {
			clock,
			signal: life.stopping,
			log: (error) => log(`turn ${turn.turn} cannot start yet`, error),
		}).then(
			(begun) => lanes.run(conversation.id, begun),
			(error: unknown) => log(`turn ${turn.turn} is left for the next start`, error),
		);
	}

	/** A gateway on the same store has died: its started and accepted work continues here. */
	async function takeOver(): Promise<void> {
		const channels = connections.values();
		for (const { conversation, turn } of await takeFromDead({ store, aliveAt: null, channels }))
			if (!lanes.isBusy(conversation)) lanes.resume(conversation, turn);
		unheard.look();
		await connections.openWaiting();
		outbox.kick();
	}

	async function lookAgain(conversation: ConversationId): Promise<void> {
		await unheard.refresh(conversation).catch((error: unknown) => {
			log("what waits in a conversation cannot be read right now", error);
			unheard.look();
		});
	}
}
