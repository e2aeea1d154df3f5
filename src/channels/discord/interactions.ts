// Buttons and slash commands. Discord gives three seconds to answer: each is put off at once, before anything else, and what it came to is
// shown when it is committed. An answer that comes too late is lost alone: what the person wanted is done.
import type { REST } from "@discordjs/rest";
import type { APIMessage, APIUser } from "discord-api-types/v10";
import type { ChannelFacts } from "./directory.ts";
import { CODE, hasCode, reasonOf } from "./outcome.ts";
import type { MemberFacts } from "./source.ts";

export const COMMAND = 2;
export const BUTTON = 3;
const PUT_OFF = { [COMMAND]: 5, [BUTTON]: 6 } as const;
const ONLY_FOR_YOU = 1 << 6;
/**
 * To show what a link leads to, Discord fetches it, unasked: whoever brings the agent to write one could be told anything by its address.
 * It stays when the message is changed.
 */
export const NO_PREVIEWS = 1 << 2;
export const NOBODY = { parse: [], replied_user: false } as const;
/** The name of the one argument that commands have. */
export const ARGUMENT = "text";

export interface Interaction {
	readonly id: string;
	readonly token: string;
	readonly type: number;
	readonly application_id: string;
	readonly channel_id?: string;
	readonly channel?: ChannelFacts;
	readonly guild_id?: string;
	readonly member?: MemberFacts & { readonly user: APIUser };
	readonly user?: APIUser;
	readonly message?: Pick<APIMessage, "id">;
	readonly data?: {
		readonly name?: string;
		readonly custom_id?: string;
		readonly options?: readonly { readonly name: string; readonly value?: unknown }[];
	};
}

/** Pressing a button and using a command; not the rest that Discord calls so. */
export function isAnswerable({ type }: Interaction): boolean {
	return type === COMMAND || type === BUTTON;
}

/** The line that a person would have written. */
export function lineOf({ data }: Interaction): string {
	const argument = (data?.options ?? []).find(({ name }) => name === ARGUMENT)?.value;
	return [`/${data?.name ?? ""}`, ...(argument === undefined ? [] : [String(argument)])].join(" ");
}

type Log = (message: string, error?: unknown) => void;

/** Interactions that were put off, and what came of that. */
export class Answers {
	readonly #putOff = new Map<string, Promise<boolean>>();
	readonly #log: Log;

	constructor(log: Log) {
		this.#log = log;
	}

	/** Called when it arrives, whatever else waits. */
	putOff({ id, token, type }: Interaction, rest: REST): void {
		const body = { type: PUT_OFF[type as keyof typeof PUT_OFF] };
		const done = rest.post(`/interactions/${id}/${token}/callback`, { body, auth: false }).then(
			() => true,
			(error: unknown) => {
				// Done before Keryx was killed.
				if (hasCode(error, CODE.alreadyAnswered)) return true;
				this.#log("an interaction could not be answered in time", reasonOf(error));
				return false;
			},
		);
		this.#putOff.set(id, done);
	}

	/** A sentence that the person who pressed sees. */
	say(interaction: Interaction, text: string, rest: REST): Promise<void> {
		const { application_id: app, token } = interaction;
		const body = {
			content: text.slice(0, 2000),
			flags: ONLY_FOR_YOU | NO_PREVIEWS,
			allowed_mentions: NOBODY,
		};
		return this.#after(interaction, () => rest.post(`/webhooks/${app}/${token}`, { body, auth: false }));
	}

	/** Shows everybody which command was used; the answer is a message of its own. One that was refused leaves nothing. */
	close(interaction: Interaction, isRefused: boolean, rest: REST): Promise<void> {
		const { application_id: app, token } = interaction;
		const path = `/webhooks/${app}/${token}/messages/@original` as const;
		const content = `\`${lineOf(interaction).replaceAll("`", "'").slice(0, 1900)}\``;
		return this.#after(interaction, () =>
			isRefused
				? rest.delete(path, { auth: false })
				: rest.patch(path, { body: { content, allowed_mentions: NOBODY }, auth: false }),
		);
	}

	async #after({ id }: Interaction, show: () => Promise<unknown>): Promise<void> {
		const isPutOff = await this.#putOff.get(id);
		this.#putOff.delete(id);
		if (!isPutOff) return;
		await show().catch((error: unknown) => this.#log("an interaction was not answered", reasonOf(error)));
	}
}
