// Creates a runnable turn from waiting messages, an interrupted turn or a command: its row in the store, whom it speaks for, and its
// dependencies. It starts turns, and runs none.
import type { Agent } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import { type ConversationId, mayJoin, type Standing } from "../../domain/index.ts";
import { type Conversation, type Job, OPERATOR, type Store, unpackTranscript } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import type { Channel } from "../channel.ts";
import type { CommandTurn } from "../commands/changes.ts";
import type { ConversationFiles } from "../files/conversation-files.ts";
import { isTooOld, type Waiting } from "../inbox/batch.ts";
import { ChosenTools } from "../inbox/chosen-tools.ts";
import type { Begun, Lanes } from "../lanes/lanes.ts";
import { expire } from "../lifecycle/recovery.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { awaySentence, resumedSentence } from "../sentences.ts";
import { policyOf, type SessionSettings } from "../session-settings.ts";
import type { Deltas } from "./deltas.ts";
import { commandAgent } from "./job-agent.ts";
import { askedAbout, rightsFrom, rightsOf } from "./rights.ts";
import { isQuiet, type TurnStart } from "./start.ts";
import { Turn } from "./turn.ts";
import type { Walls } from "./walls/walls.ts";

/** A message that waited longer is answered with a line that says so. */
const NOTICEABLE_WAIT_MS = 60_000;

export interface TurnFactoryOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly agent: Agent;
	readonly profiles: Readonly<Record<string, Agent>>;
	readonly tools: ToolRegistry;
	readonly confirmations: Confirmations | null;
	readonly walls: Pick<Walls, "describe"> | null;
	readonly files: ConversationFiles | null;
	/** Read per call: it may change while Keryx runs. */
	readonly config: () => Config;
	readonly sessionSettings: SessionSettings;
	readonly outlet: Outlet;
	readonly deltas: Deltas;
	readonly lanes: Pick<Lanes, "joining" | "remove">;
	readonly channelOf: (platform: string, account: string) => Channel | undefined;
	/** When Keryx was last running before this start; null if it was not away. */
	readonly awaySince: () => number | null;
	/** A turn begins here. */
	readonly began: (conversation: ConversationId, turn: string) => void;
	readonly completed: (start: TurnStart) => void;
	/** The note for the agent if a person asks for a prompt of an MCP server; otherwise null. */
	readonly promptOf: (asked: AskedPrompt) => Promise<string | null>;
	readonly log: (message: string, error: unknown) => void;
}

export interface AskedPrompt {
	/** The message. */
	readonly text: string;
	readonly profile: string;
	readonly standing: Standing;
	readonly signal: AbortSignal;
}

export class TurnFactory {
	readonly #with: TurnFactoryOptions;
	readonly #tools: ChosenTools;

	constructor(options: TurnFactoryOptions) {
		this.#with = options;
		this.#tools = new ChosenTools(options.tools, options.config);
	}

	async begin(conversation: ConversationId, waiting: readonly Waiting[]): Promise<Begun> {
		const { store, clock, config } = this.#with;
		const items = await this.#withoutExpired(conversation, waiting);
		if (items.length === 0) return { kind: "none" };
		const home = { scope: OPERATOR, conversation, node: store.epoch };
		// Its programs and their files are there, and that gateway has heard of the message, too.
		if (store.cluster && (await store.nodeWithPrograms(home)) !== null) return { kind: "elsewhere" };
		const conversationInfo = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		const asked = {
			conversation,
			inbox: items.map((item) => item.id),
			policy: policyOf(this.#with.sessionSettings, conversationInfo),
			autoContinueFreshness: config().auto_continue_freshness,
			deadlineAt: clock.now() + config().turn.max_minutes * 60_000,
		};
		const opening = () => this.#with.sessionSettings.openingOf(conversationInfo);
		// What a session opens with costs more than the rest of a begin, and is needed once a session.
		let begun = await store.beginTurn({ ...asked, ...(conversationInfo.liveSession === null && opening()) });
		if (begun.kind === "opens") begun = await store.beginTurn({ ...asked, ...opening() });
		if (begun.kind === "busy" && begun.elsewhere) return { kind: "elsewhere" };
		if (begun.kind === "busy") return { kind: "resume", turn: begun.turn };
		if (begun.kind === "suspended") return { kind: "parked" };
		if (begun.kind !== "begun") return { kind: "none" };
		const start = {
			...begun,
			purpose: "answer" as const,
			conversation,
			conversationInfo: forJob(conversationInfo, begun.job),
			attempt: 1,
			resumed: null,
			away: this.#away(items),
		};
		return { kind: "turn", turn: await this.#turn(start) };
	}

	/** Messages from downtime that are too old are given up, and listed once. */
	async #withoutExpired(
		conversation: ConversationId,
		items: readonly Waiting[],
	): Promise<readonly Waiting[]> {
		const { store, clock, config } = this.#with;
		const tooOld = items.filter((item) => isTooOld(item, clock.now(), config().inbox));
		if (tooOld.length === 0) return items;
		const expired = await Promise.all(tooOld.map(({ id }) => store.inboxItem({ scope: OPERATOR, id })));
		await expire(store, this.#with.outlet, conversation, expired);
		return items.filter((item) => !tooOld.includes(item));
	}

	async resume(conversation: ConversationId, turn: string): Promise<Begun> {
		const { store, clock, config } = this.#with;
		const conversationInfo = await store.conversation({ scope: OPERATOR, ref: { id: conversation } });
		const resumed = await store.resumeTurn({
			turn,
			autoContinueFreshness: config().auto_continue_freshness,
			deadlineAt: clock.now() + config().turn.max_minutes * 60_000,
			policy: policyOf(this.#with.sessionSettings, conversationInfo),
			// A lane runs one turn at a time, and this is another one.
			evenRunning: true,
		});
		if (resumed.kind !== "resumed") return { kind: "none" };
		const started = new Set(resumed.started.filter((call) => !call.repeatable).map((call) => call.call));
		const start = {
			...resumed,
			conversationInfo: forJob(conversationInfo, resumed.job),
			attempt: resumed.attempts,
			resumed: { reason: resumed.reason, started },
			away: this.#awayFor(resumed.interruptedAt),
		};
		return { kind: "turn", turn: await this.#turn(start) };
	}

	/** A turn that a command started in the store. */
	async ofCommand(conversationInfo: Conversation, turn: CommandTurn): Promise<Turn> {
		const start = {
			purpose: "answer" as const,
			...turn,
			conversation: conversationInfo.id,
			conversationInfo,
			boundary: null,
			attempt: 1,
			resumed: null,
			away: null,
			job: null,
		};
		return this.#turn(start);
	}

	/** One line that Keryx was away, if the answered messages waited for it. */
	#away(items: readonly Waiting[]): string | null {
		const { clock, config } = this.#with;
		const awaySince = this.#with.awaySince();
		const oldest = items.find((item) => item.late);
		if (!oldest || awaySince === null || clock.now() - oldest.sentAt < NOTICEABLE_WAIT_MS) return null;
		return awaySentence(awaySince, config().session_reset.timezone);
	}

	/** The same for a resumed turn: what its user saw of it has stood still since then. */
	#awayFor(interruptedAt: number): string | null {
		const { clock, config } = this.#with;
		if (clock.now() - interruptedAt <= NOTICEABLE_WAIT_MS) return null;
		return resumedSentence(interruptedAt, config().session_reset.timezone);
	}

	agentOf({ profile }: Conversation): Agent {
		const { agent, profiles } = this.#with;
		return profile === "" ? agent : (profiles[profile] ?? unknownProfile(profile));
	}

	async #turn(start: TurnStart): Promise<Turn> {
		const { store, tools, clock, confirmations, walls, files, deltas, lanes, log } = this.#with;
		const { session, speakers, conversationInfo } = start;
		// Servers that start with Keryx get a moment, so that their tools are not missing from the first answers.
		await tools.ready?.();
		const { transcript, ...found } = await store.turnFacts({
			...askedAbout(speakers, conversationInfo, clock.now()),
			session,
		});
		const config = this.#with.config();
		const rights = rightsFrom(found, speakers, conversationInfo, config);
		const { platform, account } = start.destination;
		const { profile } = start.conversationInfo;
		this.#with.began(start.conversation, start.turn);
		const own = profile === "" ? undefined : config.profiles[profile];
		return new Turn(start, unpackTranscript(transcript), {
			store,
			outlet: this.#with.outlet,
			agent:
				start.job?.task.kind === "command"
					? commandAgent(start.job.task.text)
					: this.agentOf(start.conversationInfo),
			confirmations,
			files,
			rights,
			standingNow: async (patient) =>
				(
					await rightsOf(speakers, conversationInfo, {
						store: patient,
						config: this.#with.config(),
						now: clock.now(),
					})
				).standing,
			isOwners:
				rights.standing === "owner" &&
				!start.conversationInfo.shared &&
				start.conversationInfo.chatType === "dm",
			tools: this.#tools.for({
				profile,
				platform: start.conversationInfo.platform,
				role: rights.standing,
				only: start.job?.tools ?? null,
			}),
			promptOf: (text, signal) => this.#with.promptOf({ text, profile, standing: rights.standing, signal }),
			clock,
			config: own ? { ...config, agent: own.agent } : config,
			wallNote: async () => (await walls?.describe({ profile, standing: rights.standing })) ?? null,
			deltas,
			// A quiet turn shows no typing.
			channel: isQuiet(start) ? undefined : this.#with.channelOf(platform, account),
			policyOf: (conversation) => policyOf(this.#with.sessionSettings, conversation),
			openingOf: (conversation) => this.#with.sessionSettings.openingOf(conversation),
			joining: () =>
				lanes.joining(
					start.conversation,
					({ principal, role }) =>
						role !== null &&
						mayJoin(start.speakers, { principal, role, platform: start.conversationInfo.platform }),
				),
			joined: (inbox) => lanes.remove(start.conversation, inbox),
			completed: this.#with.completed,
			log,
		});
	}
}

/** A job may name its own model. */
function forJob(conversation: Conversation, job: Job | null): Conversation {
	return job?.model ? { ...conversation, modelOverride: job.model } : conversation;
}

/** A removed profile is never served by another. */
function unknownProfile(name: string): Agent {
	return {
		kind: "step",
		name: "none",
		async *step() {
			yield { type: "failed", failure: { kind: "refused", detail: `profile ${name} is not configured` } };
		},
	};
}
