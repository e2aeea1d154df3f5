// Runs commands at once, next to a running turn. The effect and the end of the message are one transaction. The answer follows in a
// second one; after a crash in between it is rebuilt from the stored effect.

import type { Agent } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { Confirmations } from "../../confirmations/index.ts";
import {
	type ConversationId,
	contentText,
	type ModelOverride,
	type Source,
	type Speaker,
} from "../../domain/index.ts";
import type { Processes } from "../../processes/index.ts";
import type { Schedules } from "../../schedules/index.ts";
import {
	type Conversation,
	destinationOf,
	type InboxItem,
	isPassing,
	OPERATOR,
	type Poster,
	type Store,
} from "../../store/index.ts";
import { type Clock, type Patience, untilWritten } from "../../time/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import { type ConversationFiles, withFiles } from "../files/conversation-files.ts";
import { type RestoreRequest, restoreFiles } from "../files/rewind.ts";
import { roleOf } from "../inbox/admission.ts";
import { type Authorisation, NOT_ALLOWED } from "../inbox/authorise.ts";
import type { Lanes } from "../lanes/lanes.ts";
import type { Outlet } from "../outbox/outlet.ts";
import { withButtons } from "../outbox/question.ts";
import { toDeliveries } from "../outbox/reply.ts";
import { patientStore } from "../patient-store.ts";
import { NOT_DONE } from "../sentences.ts";
import { policyOf, type SessionSettings } from "../session-settings.ts";
import { reach, rightsOf } from "../turn/rights.ts";
import type { Walls } from "../turn/walls/walls.ts";
import { afterChange, type ChangeName, type ChangeResult, type Memory } from "./changes.ts";
import { type CommandContext, type CommandList, type Parsed, parseCommand } from "./index.ts";
import { choicesOf, inWords, isStoreTrouble, type Plan, planOf, refusalOf } from "./plan.ts";

export interface CommandRunnerOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly config: () => Config;
	readonly lanes: Lanes;
	readonly commands: CommandList;
	readonly sessionSettings: SessionSettings;
	readonly outlet: Outlet;
	readonly agentOf: (conversation: Conversation) => Agent;
	readonly runTurn: Memory["runTurn"];
	readonly confirmations: Confirmations | null;
	readonly processes: Processes | null;
	readonly schedules: Schedules | null;
	readonly files: ConversationFiles | null;
	readonly tools: ToolRegistry;
	/** Null: walls are unknown. */
	readonly walls: Pick<Walls, "describe"> | null;
	/** Null: the models are unknown. */
	readonly modelChoices: ((profile: string) => Promise<readonly ModelOverride[]>) | null;
	/** Aborted when the gateway stops. The next start picks up anything not yet written. */
	readonly stopping: () => AbortSignal;
	readonly log: (message: string, error: unknown) => void;
}

export interface ReceivedCommand {
	readonly inbox: number;
	readonly conversation: ConversationId;
	readonly principal: string | null;
	readonly source: Source;
	readonly parsed: Parsed;
	readonly authorisation: Authorisation;
	/** Null: it came from a channel. */
	readonly poster: Poster | null;
	/** Gets the answer first. True: the sender has seen it, so no message is sent. */
	readonly hearAnswer?: (text: string) => boolean;
}

/** Null: not a command, or already answered. */
type Receive = (item: InboxItem) => ReceivedCommand | null | Promise<ReceivedCommand | null>;

export class CommandRunner {
	readonly #options: CommandRunnerOptions;
	/** The end of the last command in each conversation with running commands. */
	readonly #last = new Map<ConversationId, Promise<void>>();
	readonly #underWay = new Set<number>();

	constructor(options: CommandRunnerOptions) {
		this.#options = options;
	}

	/** Runs and answers. Never throws: failed writes are retried, at the latest at the next start. */
	run(received: ReceivedCommand): Promise<void> {
		return this.#holding(received.inbox, received.conversation, () => received);
	}

	/** A command accepted by an earlier owner of the store, or whose acceptance was not reported. */
	async recover({ id, conversation }: InboxItem): Promise<void> {
		if (conversation !== null)
			await this.#holding(id, conversation, (item) => this.#asItIsNow(receivedBefore(item)));
	}

	/** Uses the sender's current role: they may have lost access meanwhile (I18). */
	async #asItIsNow(received: ReceivedCommand | null): Promise<ReceivedCommand | null> {
		if (!received) return null;
		const { config, clock } = this.#options;
		const store = this.#store();
		const conversation = await store.conversation({ scope: OPERATOR, ref: { id: received.conversation } });
		const { standing } = await rightsOf([speakerOf(received)], conversation, {
			store,
			config: config(),
			now: clock.now(),
		});
		const authorisation: Authorisation =
			standing === "none"
				? { kind: "refused", reason: NOT_ALLOWED }
				: { ...received.authorisation, kind: "allowed", role: standing };
		return { ...received, authorisation };
	}

	/** Whether it is running, or waits for another one. */
	isUnderWay(inbox: number): boolean {
		return this.#underWay.has(inbox);
	}

	async #holding(inbox: number, conversation: ConversationId, receive: Receive): Promise<void> {
		const { lanes, log } = this.#options;
		if (this.#underWay.has(inbox)) return;
		this.#underWay.add(inbox);
		const letGo = lanes.hold(conversation);
		try {
			// Run again if another part met the fault: the effect is in the store and is not repeated.
			await this.#inOrder(conversation, () =>
				untilWritten(() => this.#carryOut(inbox, receive), this.#patience()),
			);
		} catch (error) {
			log(`the command in message ${inbox} failed`, error);
		} finally {
			this.#underWay.delete(inbox);
			letGo();
		}
	}

	/** One at a time per conversation: each command sees the effect of the previous one, and answers keep their order. */
	#inOrder(conversation: ConversationId, work: () => Promise<void>): Promise<void> {
		const done = (this.#last.get(conversation) ?? Promise.resolve()).then(work);
		const ended = done.catch(() => undefined);
		this.#last.set(conversation, ended);
		void ended.then(() => {
			if (this.#last.get(conversation) === ended) this.#last.delete(conversation);
		});
		return done;
	}

	/** The store decides: it runs, is only answered if it has taken effect, or is done if it was answered. */
	async #carryOut(inbox: number, receive: Receive): Promise<void> {
		const item = await this.#store().inboxItem({ scope: OPERATOR, id: inbox });
		const received = await receive(item);
		if (!received) return;
		if (item.command !== null)
			await this.#answer(received, await this.#context(received), item.command.result);
		else if (item.disposition === null) await this.#run(received);
	}

	async #run(received: ReceivedCommand): Promise<void> {
		const { lanes, config, runTurn, confirmations, commands, log } = this.#options;
		const context = await this.#context(received);
		const plan = await planOf(
			{ called: received.parsed.name, authorisation: received.authorisation },
			commands,
			context,
		).catch((error: unknown): Plan => {
			if (isStoreTrouble(error)) throw error;
			log(`/${received.parsed.name} failed`, error);
			return { name: received.parsed.name, said: NOT_DONE };
		});
		const outcome =
			"restore" in plan
				? await this.#restore(received.inbox, plan, context)
				: await this.#perform(received.inbox, plan);
		if (outcome.kind === "nothing") return;
		if (outcome.changed !== null)
			afterChange(outcome.changed, outcome.result as ChangeResult<ChangeName>, {
				lanes,
				conversation: context.conversation,
				sessionSettings: this.#options.sessionSettings,
				toolProgress: config().display.tool_progress,
				runTurn,
				resolved: (resolved) => confirmations?.afterResolve(resolved),
				scheduled: (woken) => this.#options.schedules?.wake(woken),
			});
		await this.#answer(received, context, outcome.result);
	}

	/** If the store refuses the change, nothing changes. The command still ends, and its answer says why. */
	async #perform(inbox: number, plan: Exclude<Plan, { restore: RestoreRequest }>): Promise<Performed> {
		const { name: command, ...what } = plan;
		try {
			const done = await this.#store().performCommand({ inbox, command, ...what });
			if (done.kind === "nothing") return done;
			return { ...done, changed: "change" in plan ? plan.change.name : null };
		} catch (error) {
			return this.#refuse(inbox, command, error);
		}
	}

	/** The end of the message is part of the restore's end. A failure before that has changed nothing unrecorded. */
	async #restore(
		inbox: number,
		{ name, restore }: Extract<Plan, { restore: RestoreRequest }>,
		{ conversation, lanes, files }: CommandContext,
	): Promise<Performed> {
		try {
			const command = { inbox, name };
			await restoreFiles(conversation, restore, { files: withFiles(files), lanes, command });
		} catch (error) {
			return this.#refuse(inbox, name, error);
		}
		const { command } = await this.#store().inboxItem({ scope: OPERATOR, id: inbox });
		return command === null ? { kind: "nothing" } : { kind: "done", result: command.result, changed: null };
	}

	async #refuse(inbox: number, command: string, error: unknown): Promise<Performed> {
		const said = refusalOf(error);
		const done = await this.#store().performCommand({ inbox, command, said });
		return done.kind === "nothing" ? done : { ...done, changed: null };
	}

	async #answer(received: ReceivedCommand, context: CommandContext, result: unknown): Promise<void> {
		const { inbox, conversation, parsed, source } = received;
		const command = this.#options.commands.find(parsed.name);
		const text = await inWords(command, result, context);
		const destination = destinationOf(source);
		const { outlet } = this.#options;
		const posting = { id: `command:${inbox}`, kind: "command", destination } as const;
		const deliveries = received.hearAnswer?.(text)
			? []
			: withButtons(toDeliveries(text, posting, outlet), choicesOf(result, context), outlet);
		await this.#store().answerCommand({ inbox, conversation, deliveries });
	}

	/** Retries while the store is in trouble; after the gateway stops, the next start picks up the command. */
	#store(): Store {
		return patientStore(this.#options.store, this.#patience());
	}

	#patience(): Patience {
		const { clock, stopping, log } = this.#options;
		return {
			clock,
			signal: stopping(),
			isPassing,
			log: (error) => log("a command is waiting for the store", error),
		};
	}

	async #context(received: ReceivedCommand): Promise<CommandContext> {
		const { lanes, clock, sessionSettings, agentOf, confirmations, processes } = this.#options;
		const config = this.#options.config();
		const store = this.#store();
		const { files, tools, walls, modelChoices, schedules } = this.#options;
		const { inbox, conversation: id, principal, source, parsed, authorisation, poster } = received;
		const conversation = await store.conversation({ scope: OPERATOR, ref: { id } });
		return {
			store,
			lanes,
			config,
			confirmations,
			processes,
			schedules,
			files,
			tools,
			walls,
			modelChoices: async () => (await modelChoices?.(conversation.profile)) ?? [],
			poster,
			agent: agentOf(conversation),
			now: clock.now(),
			inbox,
			conversation,
			conversationId: id,
			source,
			role: roleOf(authorisation),
			principal,
			speaker: speakerOf(received),
			scope: reach(conversation, principal),
			policy: policyOf(sessionSettings, conversation),
			context: sessionSettings.openingOf({ ...conversation, source }).context,
			args: parsed.args,
			deadlineAt: clock.now() + config.turn.max_minutes * 60_000,
			commands: this.#options.commands.all,
		};
	}
}

type Performed =
	| { readonly kind: "done"; readonly result: unknown; readonly changed: ChangeName | null }
	| { readonly kind: "nothing" };

function speakerOf({ principal, source, authorisation }: ReceivedCommand): Speaker {
	const role = roleOf(authorisation);
	const platformRole = authorisation.kind === "allowed" ? authorisation.platformRole : undefined;
	return { principal, role, platform: source.platform, ...(platformRole !== undefined && { platformRole }) };
}

/** As it would have arrived. Null: not a command, or already answered. */
function receivedBefore({
	id: inbox,
	conversation,
	principal,
	source,
	content,
	role,
	platformRole,
	poster,
}: InboxItem): ReceivedCommand | null {
	const parsed = content === null ? null : parseCommand(contentText(content));
	if (source === null || conversation === null || !parsed) return null;
	const authorisation = {
		kind: "allowed",
		role: role ?? "guest",
		...(platformRole !== null && { platformRole }),
	} as const;
	return { inbox, conversation, principal, source, parsed, authorisation, poster };
}
