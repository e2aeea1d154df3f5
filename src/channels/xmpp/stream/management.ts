// Stream management (XEP-0198): what the server is told was handled. A stanza counts when everything before it and it itself are committed
// (I3), so that a session that continues brings the rest again.

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

	/** The session continues: the server sends everything again after what it was told. More may be committed since. */
	resume(acknowledged: number): void {
		this.#received = acknowledged;
	}
}

/** A session of the server that outlives its connection. */
export interface Management {
	/** Null: it ends with its connection. */
	readonly id: string | null;
	readonly jid: string;
	/** Ours for the session: no other has it. */
	readonly name: string;
	readonly handled: Handled;
	/** Our own stanzas. */
	sent: number;
}
