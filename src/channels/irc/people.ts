// Who is behind a nick. A nick proves nothing: anyone can take a free one. So a person is their account, if the server says that they are
// logged in, or else nick, user and host together, as the server shows them. Nobody can forge an account by writing, because account
// names contain neither ! nor @.
import { folded, type Message } from "./wire.ts";

export interface Person {
	/** The account, or `nick!user@host`. */
	readonly id: string;
	readonly nick: string;
	/** The server vouches for the account. */
	readonly isProven: boolean;
}

interface Renamed {
	readonly mask: string;
	readonly id: string;
}

export class People {
	/** Where each person was last seen, by id. */
	readonly #nicks = new Map<string, string>();
	/** People who changed their nick while we watched, by the new one: they keep their identity. */
	readonly #renamed = new Map<string, Renamed>();
	/** Ids just confirmed to be behind their nick, until when. */
	readonly #verified = new Map<string, { readonly nick: string; readonly until: number }>();

	/** The sender. Null if no person sent it. */
	of(message: Message): Person | null {
		const { prefix, nick, tags } = message;
		if (!/^[^!]+![^@]+@.+$/.test(prefix)) return null;
		const person = this.#person(prefix, tags.get("account"));
		this.#seen(person.id, nick);
		return person;
	}

	/** Who is behind a nick, by the answer to WHOIS. */
	known(nick: string, user: string, host: string, account: string | undefined): Person {
		const person = this.#person(`${nick}!${user}@${host}`, account);
		this.#seen(person.id, nick);
		return person;
	}

	/** The nick to write to. For an unseen account, the account's name is tried as a nick. */
	nickOf(id: string): string {
		return this.#nicks.get(id) ?? (id.split("!", 1)[0] as string);
	}

	verified(id: string, nick: string, until: number): void {
		this.#verified.set(id, { nick: folded(nick), until });
	}

	isVerified(id: string, nick: string, now: number): boolean {
		const found = this.#verified.get(id);
		return found !== undefined && found.nick === folded(nick) && found.until > now;
	}

	/** NICK, seen in a channel: the server says it is the same person. */
	renamed({ prefix, nick, params, tags }: Message): void {
		const to = params[0] ?? "";
		const mask = folded(`${to}${prefix.slice(nick.length)}`);
		const { id, isProven } = this.#person(prefix, tags.get("account"));
		this.left(nick);
		if (!isProven) this.#renamed.set(folded(to), { mask, id });
		this.#seen(id, to);
	}

	/** CHGHOST: the same nick shows another user and host. */
	moved({ prefix, nick, params, tags }: Message): void {
		const [user = "", host = ""] = params;
		const { id, isProven } = this.#person(prefix, tags.get("account"));
		if (!isProven) this.#renamed.set(folded(nick), { mask: folded(`${nick}!${user}@${host}`), id });
	}

	/** QUIT, PART or KICK: from now on nobody tells us who has the nick. */
	left(nick: string): void {
		const name = folded(nick);
		this.#renamed.delete(name);
		for (const [id, found] of this.#verified) if (found.nick === name) this.#verified.delete(id);
	}

	/** We were removed from a channel, or disconnected. */
	forget(): void {
		this.#renamed.clear();
		this.#verified.clear();
	}

	#person(prefix: string, account: string | undefined): Person {
		const nick = prefix.split("!", 1)[0] as string;
		if (account !== undefined && /^[^!@\s*]+$/.test(account))
			return { id: folded(account), nick, isProven: true };
		const mask = folded(prefix);
		const renamed = this.#renamed.get(folded(nick));
		return { id: renamed?.mask === mask ? renamed.id : mask, nick, isProven: false };
	}

	#seen(id: string, nick: string): void {
		this.#nicks.delete(id);
		this.#nicks.set(id, nick);
		const [oldest] = this.#nicks.keys();
		if (this.#nicks.size > MOST && oldest !== undefined) this.#nicks.delete(oldest);
	}
}

/** How many people are remembered. */
const MOST = 5000;
