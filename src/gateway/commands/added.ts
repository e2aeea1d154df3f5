// Chat commands of a program that embeds Keryx. They only answer; who may use them is decided as for Keryx's own.
import type { ConversationId, PersonRole, Source } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { parseCommand } from "./parse.ts";
import type { Command } from "./types.ts";

export interface ChatCommand {
	/** Without the slash: letters from a to z. */
	readonly name: string;
	readonly aliases?: readonly string[];
	/** As /help shows it, such as `/weather <town>`; left out: the name alone. */
	readonly usage?: string;
	/** A few words for /help. */
	readonly about: string;
	/** Whoever may use it; left out: owner and member. */
	readonly roles?: readonly PersonRole[];
	/**
	 * Called again where Keryx died before the answer was stored, so an effect must bear being repeated. Throws a KeryxError: its
	 * message and hint are the answer.
	 */
	answer(call: CommandCall): string | Promise<string>;
}

export interface CommandCall {
	/** What stands behind the name, trimmed. */
	readonly args: string;
	readonly role: PersonRole;
	/** Who wrote it; null where the platform does not say. */
	readonly principal: string | null;
	readonly conversation: ConversationId;
	/** "": none. */
	readonly profile: string;
	readonly source: Source;
	readonly now: number;
}

export function toCommand({ name, aliases, usage, about, roles, answer }: ChatCommand): Command {
	return {
		name,
		usage: usage ?? `/${name}`,
		about,
		group: "More",
		...(aliases && { aliases }),
		...(roles && { roles }),
		tell: ({ args, role, principal, conversation: { id, profile }, source, now }) =>
			answer({ args, role, principal, conversation: id, profile, source, now }),
	};
}

export function assertName(name: string, taken: ReadonlyMap<string, unknown>): void {
	if (parseCommand(`/${name}`)?.name !== name)
		throw invalid(`a command's name must be letters from a to z; this one is ${JSON.stringify(name)}`);
	if (taken.has(name)) throw invalid(`two commands are named /${name}`);
}

function invalid(message: string): KeryxError {
	return new KeryxError("argument.invalid", message, { field: "commands" });
}
