// The gateway's public interface: its options and methods.
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
	Channel,
	ChannelBridge,
	ChannelReply,
	ChannelRequest,
	ChannelSettings,
	Inbound,
	StoredAdmission,
} from "./channel.ts";
import type { Actions } from "./commands/actions.ts";
import type { ChatCommand } from "./commands/index.ts";
import type { Workspace, WorkspaceOwner } from "./files/workspaces.ts";
import type { NamedHealth } from "./lifecycle/channel-watch.ts";
import type { Outlet } from "./outbox/outlet.ts";
import type { Sending } from "./sending/types.ts";
import type { Delta, PartialAnswer } from "./turn/deltas.ts";
import type { AskedPrompt } from "./turn/turn-factory.ts";
import type { Walls } from "./turn/walls/walls.ts";

export interface GatewayOptions {
	readonly store: Store;
	/** Read at the start of each turn: it may change, and so may those of profiles. */
	readonly agent: Agent;
	/** The agents of configured profiles, by name. */
	readonly profiles?: Readonly<Record<string, Agent>>;
	readonly tools: ToolRegistry;
	/** The note for the agent if a person asks for a prompt of an MCP server; otherwise null. Default: no prompts. */
	readonly promptOf?: (asked: AskedPrompt) => Promise<string | null>;
	/** Chat commands in addition to Keryx's own. */
	readonly commands?: readonly ChatCommand[];
	/** Asks a human before a dangerous call; without it, such calls are refused. */
	readonly confirmations?: Confirmations;
	/** Runs the agent's commands; opened and closed with the gateway. */
	readonly processes?: Processes;
	/** Jobs, for the chat command; without it there is none. Due jobs in the store still run. */
	readonly schedules?: Schedules;
	/** Checkpoints of workspaces; null or absent: none. The creator closes them. */
	readonly checkpoints?: Checkpoints | null;
	/** Where a conversation's files are; needed for checkpoints. */
	readonly workspaceOf?: (owner: WorkspaceOwner) => Workspace;
	/** Models a conversation of a profile may choose; without it, `/model` lists none. */
	readonly modelChoices?: (profile: string) => Promise<readonly ModelOverride[]>;
	/** The walls; without them, prompts and `/status` do not mention walls. */
	readonly walls?: Pick<Walls, "describe">;
	/** The folder of output files (target `local`); without it there is no such target. */
	readonly outputFolder?: string;
	readonly channels: readonly Channel[];
	/** A channel's settings by name; undefined: the defaults. Read per call: they may change. */
	readonly settingsOf?: (name: string) => ChannelSettings | undefined;
	/** Traits of platforms whose channels do not declare them; default: the built-in registry. */
	readonly platforms?: Platforms;
	/** A live configuration is shared with its creator, and changed by `reconfigure`. */
	readonly config: Config | LiveConfig;
	readonly clock: Clock;
	/** Default: the machine's. */
	readonly randomBytes?: (length: number) => Uint8Array;
	/** Per installation; used to make pseudonyms of ids. */
	readonly pseudonymKey: Uint8Array;
	readonly log?: (message: string, error: unknown) => void;
}

export interface Gateway {
	/** Resumes unfinished work, then starts the channels. */
	start(): Promise<void>;
	/** Stops accepting, drains turns as configured, and leaves the rest to the next start. */
	stop(): Promise<void>;
	/** For our own channels; resolves after the commit. */
	accept(inbound: Inbound): Promise<StoredAdmission>;
	/** What happened to one message, in sentences with times. */
	why(message: number, scope: Scope): Promise<string>;
	onDelta(listener: (delta: Delta) => void): () => void;
	/** The text so far of a running answer. */
	partial(conversation: ConversationId): PartialAnswer | null;
	/** Where the conversation's agent and tools work; created if missing. Throws workspace.unusable. */
	workspaceOf(conversation: ConversationId): Promise<string>;
	/** What our own channels do instead of chat commands. */
	readonly actions: Actions;
	/** The commands, in the order of /help. */
	readonly commands: readonly { readonly name: string; readonly usage: string; readonly about: string }[];
	/** Unprompted messages: targets, and sending to them. */
	readonly sending: Sending;
	/** What each chat can show and is sent, for others who create deliveries. */
	readonly outlet: Outlet;
	/** From each channel's report and its silence. */
	health(): readonly NamedHealth[];
	/** Starts one more channel; waiting deliveries are sent. If the gateway is not running, it starts with it. */
	connect(channel: Channel): Promise<void>;
	/** Stops the channel of that name. Deliveries to its platform wait until there is one again. */
	disconnect(name: string): Promise<void>;
	/** Passes a request to the channel of that name. Refused if there is none, or if it accepts no requests. */
	receive(name: string, request: ChannelRequest): Promise<ChannelReply>;
	/** Null: no bridge channel has that name. */
	bridge(name: string): ChannelBridge | null;
	/**
	 * Applies a checked configuration to new work; keys that are read once wait for a restart. Returns the changed keys; emits an event.
	 */
	reconfigure(
		config: Config,
	): Promise<{ readonly keys: readonly string[]; readonly restart: readonly string[] }>;
	/** A changed configuration is invalid, and the last valid one stays; emits an event. */
	refuseConfig(problem: { readonly key?: string; readonly line?: number }): Promise<void>;
	/** A changed configuration lacks whole sections, and is not applied yet; emits an event. */
	holdConfig(sections: readonly string[]): Promise<void>;
}
