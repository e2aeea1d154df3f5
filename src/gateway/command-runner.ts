// Carrying out commands, at once and beside a running turn. The effect and the end of the message are one transaction; the answer
// follows in a second one, and is made up for after a crash between them.
import type { Config } from "../config/index.ts";
import type { ConversationId, Source } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { destinationOf, type InboxItem, type Store } from "../store/index.ts";
import { authorisationOf, plainText } from "./admission.ts";
import type { Authorisation, Role } from "./authorise.ts";
import type { GatewayClock } from "./clock.ts";
import {
	COMMANDS,
	type CommandContext,
	findCommand,
	mayUse,
	type Parsed,
	type Plan,
	parseCommand,
	unknownCommand,
} from "./commands/index.ts";
import type { Lanes } from "./lanes.ts";
import { toDeliveries } from "./reply.ts";
import { policyOf, type Surroundings } from "./surroundings.ts";

export interface CommandRunnerOptions {
	readonly store: Store;
	readonly clock: GatewayClock;
	readonly config: Config;
	readonly lanes: Lanes;
	readonly surroundings: Surroundings;
	readonly log: (message: string, error: unknown) => void;
}

export interface ReceivedCommand {
	readonly inbox: number;
	readonly conversation: ConversationId;
	readonly source: Source;
	readonly parsed: Parsed;
	readonly authorisation: Authorisation;
}

export class CommandRunner {
	readonly #options: CommandRunnerOptions;

	constructor(options: CommandRunnerOptions) {
		this.#options = options;
	}

	/** Carries out and answers. Never throws: what could not be written is logged, stays due, and is done at the next start. */
	async run(received: ReceivedCommand): Promise<void> {
		const { lanes, log } = this.#options;
		const letGo = lanes.hold(received.conversation);
		try {
			const { plan, name, context } = await this.#plan(received);
			const outcome = await this.#perform(received.inbox, name, plan);
			if (outcome.kind === "nothing") return;
			await plan.after?.(outcome.result);
			const text = outcome.refusal ?? (await answerOf(plan, outcome.result));
			await this.#answer(received, context.source, text);
		} catch (error) {
			log(`the command of message ${received.inbox} could not be carried out`, error);
		} finally {
			letGo();
		}
	}

	/** A command that an earlier owner accepted: carried out now, or only answered if it had taken effect. */
	async recover(item: InboxItem): Promise<void> {
		const { lanes, log } = this.#options;
		const { conversation } = item;
		if (conversation === null) return;
		const letGo = lanes.hold(conversation);
		try {
			await this.#recover({ ...item, conversation });
		} catch (error) {
			log(`the command of message ${item.id} could not be answered`, error);
		} finally {
			letGo();
		}
	}

	async #recover(item: InboxItem & { readonly conversation: ConversationId }): Promise<void> {
		const { store, config } = this.#options;
		if (item.source === null || item.content === null) return;
		const parsed = parseCommand(plainText(item.content));
		if (!parsed) return;
		// What only the transport knew (roles on the platform) is gone by now: the lists decide.
		const authorisation = await authorisationOf(item.source, {}, { store, config });
		const received = {
			inbox: item.id,
			conversation: item.conversation,
			source: item.source,
			parsed,
			authorisation,
		};
		if (item.command === null) return this.run(received);
		const { plan } = await this.#plan(received);
		await this.#answer(received, item.source, await answerOf(plan, item.command.result));
	}

	async #plan(received: ReceivedCommand): Promise<{ plan: Plan; name: string; context: CommandContext }> {
		const { parsed, authorisation } = received;
		const context = await this.#context(received);
		const command = findCommand(COMMANDS, parsed.name);
		const role: Role = authorisation.kind === "allowed" ? authorisation.role : "guest";
		if (!command) return { plan: saying(unknownCommand(COMMANDS, parsed.name)), name: "unknown", context };
		if (!mayUse(command, role))
			return {
				plan: saying(`/${command.name} is not for you here. /help lists what is.`),
				name: command.name,
				context,
			};
		try {
			return { plan: await command.plan(context), name: command.name, context };
		} catch (error) {
			if (error instanceof KeryxError) return { plan: saying(refusalOf(error)), name: command.name, context };
			throw error;
		}
	}

	/** A change that the store refuses changes nothing; the command ends all the same, and its answer says why. */
	async #perform(
		inbox: number,
		command: string,
		plan: Plan,
	): Promise<{ kind: "done"; result: unknown; refusal?: string } | { kind: "nothing" }> {
		const { store } = this.#options;
		try {
			return await store.performCommand({ inbox, command, ...(plan.change && { change: plan.change }) });
		} catch (error) {
			if (
				!(error instanceof KeryxError) ||
				(error.code.startsWith("store.") && error.code !== "store.not_found")
			)
				throw error;
			const ended = await store.performCommand({ inbox, command });
			return ended.kind === "nothing" ? ended : { ...ended, refusal: refusalOf(error) };
		}
	}

	async #answer({ inbox, conversation }: ReceivedCommand, source: Source, text: string): Promise<void> {
		const destination = destinationOf(source);
		const deliveries = toDeliveries(text, { id: `command:${inbox}`, kind: "command", destination });
		await this.#options.store.answerCommand({ inbox, conversation, deliveries });
	}

	async #context({
		inbox,
		conversation: id,
		source,
		parsed,
		authorisation,
	}: ReceivedCommand): Promise<CommandContext> {
		const { store, lanes, config, clock, surroundings } = this.#options;
		const conversation = await store.conversation({ scope: { kind: "operator" }, ref: { id } });
		return {
			store,
			lanes,
			config,
			now: clock.now(),
			inbox,
			conversation,
			conversationId: id,
			source,
			role: authorisation.kind === "allowed" ? authorisation.role : "guest",
			policy: policyOf(surroundings, conversation),
			context: surroundings.contextOf({ source, shared: conversation.shared }),
			args: parsed.args,
			deadlineAt: clock.now() + config.turn.max_minutes * 60_000,
			commands: COMMANDS,
		};
	}
}

function saying(text: string): Plan {
	return { answer: () => text };
}

async function answerOf(plan: Plan, result: unknown): Promise<string> {
	try {
		return await plan.answer(result);
	} catch (error) {
		if (error instanceof KeryxError) return refusalOf(error);
		throw error;
	}
}

function refusalOf({ message, hint }: KeryxError): string {
	return `${sentence(message)} ${sentence(hint)}`;
}

function sentence(text: string): string {
	const upper = text.charAt(0).toUpperCase() + text.slice(1);
	return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}
