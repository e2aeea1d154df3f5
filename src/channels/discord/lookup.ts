// Looks up a delivery. Discord reports the bot's own messages with their nonce; the history has no nonces, but shows whether any message
// is unaccounted for. While Discord knows the nonce, an uncertain delivery can be sent again: it is shown once.
import type { REST } from "@discordjs/rest";
import type { Channel } from "../../gateway/index.ts";
import type { Destination } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { channelOf } from "./deliver.ts";
import { CODE, hasCode } from "./outcome.ts";
import type { SentMessages } from "./sent.ts";
import { isAfter, snowflakeAt } from "./snowflake.ts";
import type { Me } from "./text.ts";

/** Discord keeps a nonce for some minutes; this is less. */
const NONCE_MS = 2 * 60_000;
/** How long Discord may take to report an existing message. */
const ECHO_MS = 5000;
/** By how much Discord's clock may differ. */
const CLOCKS_MS = 5 * 60_000;
/** Shows which command was used: not a delivery. */
const COMMAND_SHOWN = 20;
const PAGE = 100;
const PAGES = 5;

export interface LookupContext {
	readonly rest: REST;
	readonly me: Me;
	readonly sent: SentMessages;
	readonly clock: Clock;
}

/** `madeAt`: no attempt was earlier. */
export async function lookUp(
	id: string,
	destination: Destination,
	madeAt: number | undefined,
	context: LookupContext,
): ReturnType<NonNullable<Channel["lookup"]>> {
	const { sent, clock } = context;
	const nonce = sent.nonceOf(id);
	const seen = () => {
		const message = sent.find(nonce);
		return message === undefined ? null : ({ kind: "sent", receipt: message } as const);
	};
	const early = seen();
	if (early) return early;
	if (!(await hasUnaccounted(destination, madeAt, context))) return seen() ?? { kind: "absent" };
	if (madeAt !== undefined && clock.now() - madeAt < NONCE_MS) return seen() ?? { kind: "absent" };
	return new Promise((resolve) => {
		const end = (result: ReturnType<typeof seen>) => {
			unwatch();
			cancel();
			resolve(result ?? { kind: "unknown" });
		};
		const unwatch = sent.onAdded(() => {
			const now = seen();
			if (now) end(now);
		});
		const cancel = clock.after(ECHO_MS, () => end(seen()));
	});
}

/** Whether one of our messages could be it. */
async function hasUnaccounted(
	destination: Destination,
	madeAt: number | undefined,
	{ rest, me, sent }: LookupContext,
): Promise<boolean> {
	let after = madeAt === undefined ? null : snowflakeAt(madeAt - CLOCKS_MS);
	for (let pages = 0; pages < PAGES; pages++) {
		const query = new URLSearchParams({ limit: String(PAGE), ...(after !== null && { after }) });
		const page = await history(destination, query, rest);
		if (
			page.some(({ id, type, author }) => author.id === me.id && type !== COMMAND_SHOWN && !sent.isKnown(id))
		)
			return true;
		if (page.length < PAGE || after === null) return false;
		after = page.reduce((newest, { id }) => (isAfter(id, newest) ? id : newest), after);
	}
	// Too many messages to be sure.
	return true;
}

interface Past {
	readonly id: string;
	readonly type: number;
	readonly author: Me;
}

async function history(
	destination: Destination,
	query: URLSearchParams,
	rest: REST,
): Promise<readonly Past[]> {
	try {
		return (await rest.get(`/channels/${channelOf(destination)}/messages`, { query })) as Past[];
	} catch (error) {
		// A thread that was never opened is empty.
		if (hasCode(error, CODE.unknownChannel)) return [];
		throw error;
	}
}
