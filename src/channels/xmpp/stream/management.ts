// Stream management (XEP-0198): which stanzas are acknowledged. A stanza counts when it and everything before it are committed
// (I3), so that a continued session repeats the rest.

const STANZAS: ReadonlySet<string> = new Set(["message", "presence", "iq"]);

export function isStanza({ name }: { readonly name: string }): boolean {
	return STANZAS.has(name);
}

export class Handled {
	readonly #done = new Set<number>();
	#received = 0;
	#upTo = 0;

	/** Committed, without a gap. */
	get upTo(): number {
		return this.#upTo;
	}

	/** The number of the stanza that has just come. */
	receive(): number {
		return ++this.#received;
	}

	/** Whether more is committed without a gap than before. */
	done(number: number): boolean {
		const before = this.#upTo;
		if (number > before) this.#done.add(number);
		while (this.#done.delete(this.#upTo + 1)) this.#upTo++;
		return this.#upTo > before;
	}

	/** The session continues: the server repeats everything that was not acknowledged. More may be committed since. */
	resume(acknowledged: number): void {
		this.#received = acknowledged;
	}
}

/** A session of the server that outlives its connection. */
export interface Management {
	/** Null: it ends with its connection. */
	readonly id: string | null;
	readonly jid: string;
	/** Our unique name for the session. */
	readonly name: string;
	readonly handled: Handled;
	/** Our own stanzas. */
	sent: number;
}
