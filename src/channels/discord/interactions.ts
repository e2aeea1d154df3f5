// Buttons and slash commands. Discord allows three seconds to answer: each is deferred at once, and its result is shown when committed.
// If that answer is too late, only the answer is lost: the action is done.
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
 * Discord fetches links to preview them: anyone who makes the agent write a link could learn something from its address. The setting
 * stays when the message is edited.
 */
export const NO_PREVIEWS = 1 << 2;
export const NOBODY = { parse: [], replied_user: false } as const;
/** The name of the commands' only argument. */
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

/** Button presses and commands; not Discord's other interactions. */
export function isAnswerable({ type }: Interaction): boolean {
	return type === COMMAND || type === BUTTON;
}

/** The line a person would have written. */
export function lineOf({ data }: Interaction): string {
	const argument = (data?.options ?? []).find(({ name }) => name === ARGUMENT)?.value;
	return [`/${data?.name ?? ""}`, ...(argument === undefined ? [] : [String(argument)])].join(" ");
}

type Log = (message: string, error?: unknown) => void;

/** Deferred interactions, and their results. */
export class Answers {
	readonly #putOff = new Map<string, Promise<boolean>>();
	readonly #log: Log;

	constructor(log: Log) {
		this.#log = log;
	}

	/** Called on arrival, whatever else waits. */
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

	/** A sentence only the presser sees. */
	say(interaction: Interaction, text: string, rest: REST): Promise<void> {
		const { application_id: app, token } = interaction;
		const body = {
			content: text.slice(0, 2000),
			flags: ONLY_FOR_YOU | NO_PREVIEWS,
			allowed_mentions: NOBODY,
		};
		return this.#after(interaction, () => rest.post(`/webhooks/${app}/${token}`, { body, auth: false }));
	}

	/** Shows everyone which command was used; the answer is a separate message. A refused one leaves nothing. */
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
