// Puts the parts of a gateway together. Each part gets what it needs of the others by name; nothing here starts, and nothing here decides.

import { randomBytes } from "node:crypto";
import { commandMachine, LiveConfig } from "../config/index.ts";
import { type Conversation, OPERATOR } from "../store/index.ts";
import { CHANNEL_DEFAULTS } from "./channel.ts";
import { createActions } from "./commands/actions.ts";
import type { CommandTurn } from "./commands/changes.ts";
import { createCommands } from "./commands/index.ts";
import { CommandRunner } from "./commands/runner.ts";
import { ConversationFiles } from "./files/conversation-files.ts";
import { Inbox } from "./inbox/inbox.ts";
import { Unheard } from "./inbox/unheard.ts";
import { stoppingElsewhere } from "./lanes/elsewhere.ts";
import { Lanes } from "./lanes/lanes.ts";
import { LastAnswered } from "./lanes/last-answered.ts";
import { Starts } from "./lanes/starts.ts";
import { ChannelWatch } from "./lifecycle/channel-watch.ts";
import { Connections } from "./lifecycle/connections.ts";
import { HookFollower } from "./lifecycle/hook-follower.ts";
import { createHooks } from "./lifecycle/hooks.ts";
import type { GatewayLife } from "./lifecycle/life.ts";
import { Neighbours } from "./lifecycle/neighbours.ts";
import { ScheduleRunner } from "./lifecycle/schedule-runner.ts";
import { takeOver } from "./lifecycle/take-over.ts";
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

export type GatewayParts = ReturnType<typeof createGatewayParts>;

export function createGatewayParts(options: GatewayOptions, life: GatewayLife) {
	const { store, clock, tools, log = () => {} } = options;
	const { confirmations = null, processes = null, schedules = null, walls = null } = options;
	const live = options.config instanceof LiveConfig ? options.config : new LiveConfig(options.config);
	const config = () => live.values;
	const common = { store, clock, config, log };
	const settingsOf = (channel: string) => options.settingsOf?.(channel) ?? CHANNEL_DEFAULTS;
	const audiences: Audiences = new Audiences(() => live.values.auth);
	const deltas: Deltas = new Deltas();
	const outlet = createOutlet({
		...(options.platforms && { platforms: options.platforms }),
		channels: () => connections.values(),
		...(options.settingsOf && { settingsOf: options.settingsOf }),
	});
	const connections: Connections = new Connections({
		...common,
		setHomes: () => sessionSettings.setHomes(),
		audiences,
		hostOf: (channel) => inbox.hostOf(channel),
	});
	for (const channel of options.channels) connections.add(channel);
	const sessionSettings = createSessionSettings({
		config,
		connectedPlatforms: () => connections.platforms(),
		tools,
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
	const lastAnswered = new LastAnswered();
	const lanes: Lanes = new Lanes({
		clock,
		get maxTurns() {
			return live.values.gateway.max_turns;
		},
		get batchCapMs() {
			return live.values.gateway.batch_cap_ms;
		},
		work: {
			begin: async (conversation, items) =>
				starts.preferred(conversation, items) ?? (await turns.begin(conversation, items)),
			resume: (conversation, turn) => turns.resume(conversation, turn),
			// Other gateways may have accepted something for a conversation that runs here.
			...(store.cluster && {
				refresh: (conversation) => unheard.refresh(conversation),
				stopElsewhere: (conversation, only) => stopElsewhere?.(conversation, only) ?? Promise.resolve(null),
				isBusyElsewhere: async (conversation) => {
					const turn = await store.openTurnOf({ scope: OPERATOR, conversation });
					return turn?.state === "running" && turn.node !== store.epoch;
				},
				idle: (conversation) => life.track(unheard.lookAgain(conversation)),
				// Its lease was away for a moment, and is back before the turn was stopped.
				lost: () => {
					if (store.cluster?.holdsLease && !life.stopping.aborted) unheard.look();
				},
			}),
			log,
		},
	});
	const stopElsewhere = store.cluster && stoppingElsewhere(store, store.cluster, { clock, lanes });
	const channelOf = (platform: string, account: string) => connections.get(platform, account);
	const outbox: Outbox = new Outbox({
		...common,
		channelOf,
		channels: () => connections.values(),
		elsewhere: () => connections.elsewhere,
		outlet,
	});
	const unknownDeliveries: UnknownDeliveries = new UnknownDeliveries({
		...common,
		channelOf,
	});
	const channelWatch: ChannelWatch = new ChannelWatch({
		...common,
		channels: () => connections.values(),
		elsewhere: () => connections.elsewhere,
		settingsOf,
		homes: () => connections.homes(),
		outlet,
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
		...common,
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
		sessionSettings,
		outlet,
		deltas,
		lanes,
		channelOf,
		awaySince: () => life.awaySince,
		promptOf: options.promptOf ?? (() => Promise.resolve(null)),
		began: (conversation, turn) => {
			if (store.cluster) lastAnswered.ran(conversation, turn);
		},
		completed: (start) => life.track(titles.after(start)),
	});
	const starts: Starts = new Starts({
		clock,
		config,
		lanes,
		lastAnswered,
		ofCommand: (conversation, turn) => turns.ofCommand(conversation, turn),
		stopping: () => life.stopping,
		log,
	});
	const titles: Titles = new Titles({
		...common,
		agentOf: (conversation) => turns.agentOf(conversation),
		stopping: () => life.stopping,
	});
	const commands = createCommands(options.commands);
	/** What a person can do, by a command or at the page. */
	const acting = {
		lanes,
		sessionSettings,
		agentOf: (conversation: Conversation) => turns.agentOf(conversation),
		runTurn: (conversation: Conversation, turn: CommandTurn) =>
			life.track(starts.runBegun(conversation, turn)),
		confirmations,
		processes,
		files,
		tools,
	};
	const runner: CommandRunner = new CommandRunner({
		...common,
		...acting,
		commands,
		outlet,
		schedules,
		walls,
		modelChoices: options.modelChoices ?? null,
		stopping: () => life.stopping,
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
		...common,
		lanes,
		commands: runner,
		accepted: () => inbox.untilAdmitted(),
		onCommand: (item) => life.track(runner.recover(item)),
		onCommit: () => {
			outbox.kick();
			follower.look();
		},
	});
	const neighbours: Neighbours = new Neighbours({
		...common,
		lanes,
		lastAnswered,
		refresh: (conversation) => unheard.refresh(conversation),
		lookForUnheard: () => unheard.look(),
		turnEnded: (conversation, turn) => deltas.endHeard(conversation, turn),
		readHomes: async () => sessionSettings.takeHomes(await store.homeChannels({ scope: OPERATOR })),
		letGo: () => connections.letGo(),
		takeOver: () => takeOver({ store, lanes, lastAnswered, connections, unheard, outbox, scheduleRunner }),
	});
	const relay = store.cluster && new TextRelay({ cluster: store.cluster, clock, deltas });
	const actions = createActions({
		...common,
		...acting,
		isRunning: () => life.isAccepting,
		track: (work) => life.track(work),
	});
	const scheduleRunner: ScheduleRunner = new ScheduleRunner({
		...common,
		sending,
		homes: () => connections.homes(),
		wake: (woken) => starts.wake(woken, "schedule"),
	});
	const hooks = createHooks(live.values, clock, log);
	const follower: HookFollower = new HookFollower(store, hooks, { clock, log });
	const watchers: Watchers = new Watchers({
		...common,
		hooks,
		policyFor: sessionSettings.policyFor,
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
		starts,
	};
}
