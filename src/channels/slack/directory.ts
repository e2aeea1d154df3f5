// Names of people and channels, which Slack's events omit. Looked up once and kept for an hour; if Slack does not say, a message
// continues without them.
import type { Clock } from "../../time/index.ts";
import type { Web } from "./web.ts";

const FRESH_MS = 3_600_000;
/** Failed lookups are retried after this. */
const FAILED_MS = 30_000;
const MOST = 5000;

export interface ChatFacts {
	readonly type: "im" | "mpim" | "channel" | "group";
	readonly name?: string;
	readonly topic?: string;
}

interface WireChat {
	readonly id?: string;
	readonly name?: string;
	readonly is_im?: boolean;
	readonly is_mpim?: boolean;
	readonly is_private?: boolean;
	readonly topic?: { readonly value?: string };
}

interface Kept<Fact> {
	readonly fact: Promise<Fact | undefined>;
	readonly until: number;
}

export class Directory {
	readonly #clock: Clock;
	#web: Web;
	readonly #chats = new Map<string, Kept<ChatFacts>>();
	readonly #people = new Map<string, Kept<string>>();

	constructor(web: Web, clock: Clock) {
		this.#web = web;
		this.#clock = clock;
	}

	/** The same names, looked up with another token from now on. */
	on(web: Web): this {
		this.#web = web;
		return this;
	}

	/** Never rejects. */
	chat(id: string): Promise<ChatFacts | undefined> {
		return this.#known(this.#chats, id, async () => {
			const { channel } = await this.#web.call<{ channel?: WireChat }>("conversations.info", { channel: id });
			return factsOf(channel ?? {});
		});
	}

	/** The visible name. Never rejects. */
	person(id: string): Promise<string | undefined> {
		return this.#known(this.#people, id, async () => {
			const { user } = await this.#web.call<{
				user?: { name?: string; real_name?: string; profile?: { display_name?: string } };
			}>("users.info", { user: id });
			return user?.profile?.display_name || user?.real_name || user?.name;
		});
	}

	/** From a list that was read anyway. */
	learn(chat: WireChat): void {
		if (chat.id !== undefined) this.#keep(this.#chats, chat.id, Promise.resolve(factsOf(chat)), FRESH_MS);
	}

	#known<Fact>(
		kept: Map<string, Kept<Fact>>,
		id: string,
		ask: () => Promise<Fact | undefined>,
	): Promise<Fact | undefined> {
		const found = kept.get(id);
		if (found && found.until > this.#clock.monotonic()) return found.fact;
		const fact = ask().catch(() => {
			this.#keep(kept, id, Promise.resolve(undefined), FAILED_MS);
			return undefined;
		});
		this.#keep(kept, id, fact, FRESH_MS);
		return fact;
	}

	#keep<Fact>(kept: Map<string, Kept<Fact>>, id: string, fact: Promise<Fact | undefined>, ms: number): void {
		kept.delete(id);
		kept.set(id, { fact, until: this.#clock.monotonic() + ms });
		const [oldest] = kept.keys();
		if (kept.size > MOST && oldest !== undefined) kept.delete(oldest);
	}
}

function factsOf({ name, is_im: im, is_mpim: mpim, is_private: isPrivate, topic }: WireChat): ChatFacts {
	return {
		type: im ? "im" : mpim ? "mpim" : isPrivate ? "group" : "channel",
		...(name !== undefined && { name }),
		...(topic?.value && { topic: topic.value }),
	};
}
