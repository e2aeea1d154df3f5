// Chat commands added by a program that embeds Keryx. They only answer; roles work as for Keryx's own commands.
import type { ConversationId, PersonRole, Source } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { parseCommand } from "./parse.ts";
import type { Command } from "./types.ts";

export interface ChatCommand {
	/** Without the slash: letters from a to z. */
	readonly name: string;
	readonly aliases?: readonly string[];
	/** As shown by /help, such as `/weather <town>`; default: only the name. */
	readonly usage?: string;
	/** A few words for /help. */
	readonly about: string;
	/** Roles that may use it; default: owner and member. */
	readonly roles?: readonly PersonRole[];
	/**
	 * Called again if Keryx crashed before the answer was stored, so its effects must be repeatable. If it throws a KeryxError, the
	 * message and hint are the answer.
	 */
	answer(call: CommandCall): string | Promise<string>;
}

export interface CommandCall {
	/** The text after the name, trimmed. */
	readonly args: string;
	readonly role: PersonRole;
	/** The writer; null if the platform does not say. */
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
