// The gateway to programs that use it: what it is made with, and what can be asked of it.
import type { Agent } from "../agents/index.ts";
import type { Checkpoints } from "../checkpoints/index.ts";
import type { Config, LiveConfig } from "../config/index.ts";
import type { Confirmations } from "../confirmations/index.ts";
import type { ConversationId, ModelOverride, Platforms } from "../domain/index.ts";
import type { Processes } from "../processes/index.ts";
import type { Schedules } from "../schedules/index.ts";
import type { Scope, Store } from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { ToolRegistry } from "../tools/index.ts";
import type {
	Admission,
	Channel,
	ChannelBridge,
	ChannelReply,
	ChannelRequest,
	ChannelSettings,
	Inbound,
} from "./channel.ts";
import type { Actions } from "./commands/actions.ts";
import type { ChatCommand } from "./commands/index.ts";
import type { Workspace, WorkspaceOwner } from "./files/workspaces.ts";
import type { NamedHealth } from "./lifecycle/channel-watch.ts";
import type { Outlet } from "./outbox/outlet.ts";
import type { Sending } from "./sending/types.ts";
import type { Delta, PartialAnswer } from "./turn/deltas.ts";
import type { AskedPrompt } from "./turn/turn-factory.ts";
import type { Walls } from "./turn/walls.ts";

export interface GatewayOptions {
	readonly store: Store;
	/** Asked at the start of each turn: it may change, and so may those of profiles. */
	readonly agent: Agent;
	/** The agents of configured profiles, by name. */
	readonly profiles?: Readonly<Record<string, Agent>>;
	readonly tools: ToolRegistry;
	/** What the agent is told where a person asks for a prompt of an MCP server; null where they do not. Left out: nobody can. */
	readonly promptOf?: (asked: AskedPrompt) => Promise<string | null>;
	/** Chat commands beside Keryx's own. */
	readonly commands?: readonly ChatCommand[];
	/** Who asks a human before a dangerous call; left out, such calls are refused. */
	readonly confirmations?: Confirmations;
	/** What the agent's commands run in; opened and closed with the gateway. */
	readonly processes?: Processes;
	/** Jobs, for the chat command; left out, there is none. What is due in the store runs all the same. */
	readonly schedules?: Schedules;
	/** Snapshots of workspaces; left out or null, none are taken. Who made them closes them. */
	readonly checkpoints?: Checkpoints | null;
	/** Where a conversation's files are; checkpoints need it. */
	readonly workspaceOf?: (owner: WorkspaceOwner) => Workspace;
	/** Which models a conversation of a profile may choose from; left out, `/model` lists none. */
	readonly modelChoices?: (profile: string) => Promise<readonly ModelOverride[]>;
	/** What its programs run behind; left out, prompts and `/status` do not speak of it. */
	readonly walls?: Pick<Walls, "describe">;
	/** The folder of output files, the target `local`; left out, there is no such target. */
	readonly outputFolder?: string;
	readonly channels: readonly Channel[];
	/** Of a channel, by its name; left out, or undefined: the defaults. Asked each time: they may change. */
	readonly settingsOf?: (name: string) => ChannelSettings | undefined;
	/** What is known of platforms, where their channels do not say; left out: the built-in registry. */
	readonly platforms?: Platforms;
	/** One that is live is shared with whoever made it, and changed by `reconfigure`. */
	readonly config: Config | LiveConfig;
	readonly clock: Clock;
	/** Left out: the machine's. */
	readonly randomBytes?: (length: number) => Uint8Array;
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
	partial(conversation: ConversationId): PartialAnswer | null;
	/** Where the conversation's agent and tools work; made if it is not there. Throws workspace.unusable. */
	workspaceOf(conversation: ConversationId): Promise<string>;
	/** What ways in of our own do where a chat would write a command. */
	readonly actions: Actions;
	/** What can be written after a slash, in the order of /help. */
	readonly commands: readonly { readonly name: string; readonly usage: string; readonly about: string }[];
	/** Messages that answer nobody: targets, and sending to them. */
	readonly sending: Sending;
	/** What each chat can show, and is told: for whoever else makes deliveries. */
	readonly outlet: Outlet;
	/** As each channel says, and as its silence says. */
	health(): readonly NamedHealth[];
	/** Starts one more channel; deliveries that wait for it leave. Where the gateway does not run, it starts with it. */
	connect(channel: Channel): Promise<void>;
	/** Stops the channel of that name. Deliveries to its platform wait until there is one again. */
	disconnect(name: string): Promise<void>;
	/** A request for the channel of that name. Refused where there is none, or where it takes no requests. */
	receive(name: string, request: ChannelRequest): Promise<ChannelReply>;
	/** Null: no channel of that name is a bridge. */
	bridge(name: string): ChannelBridge | null;
	/**
	 * Takes a checked configuration: what begins from now on goes by it, except for what is read once, which waits for a restart.
	 * Answers the keys that changed; told as an event.
	 */
	reconfigure(
		config: Config,
	): Promise<{ readonly keys: readonly string[]; readonly restart: readonly string[] }>;
	/** A changed configuration was wrong, and the last good one stays; told as an event. */
	refuseConfig(problem: { readonly key?: string; readonly line?: number }): Promise<void>;
	/** A changed configuration lacks whole sections, and is not taken yet; told as an event. */
	holdConfig(sections: readonly string[]): Promise<void>;
}
