// How far each archive was read: the newest message before which everything is committed. The cursor holds all of them, so that
// missed messages are read later in every chat.

export interface Position {
	/** The archive's id; empty: its beginning. */
	readonly id: string;
	/** When it was said; used if the archive has forgotten the id. */
	readonly at: number;
}

export interface Entry extends Position {
	readonly archive: string;
	isDone: boolean;
}

interface Progress {
	position: Position;
	/** In the order of the archive. */
	open: Entry[];
}

export class Positions {
	readonly #archives = new Map<string, Progress>();

	/** An unreadable cursor counts as none: repeated messages are recognised by their ids (I4). */
	constructor(cursor: string | null) {
		for (const [archive, position] of Object.entries(parsed(cursor)))
			this.#archives.set(archive, { position, open: [] });
	}

	get(archive: string): Position | null {
		return this.#archives.get(archive)?.position ?? null;
	}

	/** Nothing before it is missing. */
	set(archive: string, position: Position): void {
		this.#archives.set(archive, { position, open: this.#archives.get(archive)?.open ?? [] });
	}

	/** Uncommitted; null: the archive is not followed yet. */
	enter(archive: string, position: Position): Entry | null {
		const progress = this.#archives.get(archive);
		if (!progress) return null;
		const entry: Entry = { ...position, archive, isDone: false };
		progress.open.push(entry);
		return entry;
	}

	/** Stored together with the commit of this entry. */
	cursorWith(entry: Entry | null): string {
		const positions = [...this.#archives].map(([archive, progress]) => {
			const { id, at } = reached(progress, entry).position;
			return [archive, [id, at]];
		});
		return JSON.stringify(Object.fromEntries(positions));
	}

	done(entry: Entry | null): void {
		const progress = entry && this.#archives.get(entry.archive);
		if (!progress) return;
		entry.isDone = true;
		Object.assign(progress, reached(progress, null));
	}

	/** Uncommitted ones will be read again. */
	forgetOpen(): void {
		for (const progress of this.#archives.values()) progress.open = [];
	}
}

/** As if this entry were done, too. */
function reached({ position, open }: Progress, also: Entry | null): Progress {
	const at = open.findIndex((entry) => !entry.isDone && entry !== also);
	const done = at < 0 ? open.length : at;
	const last = open[done - 1];
	return { position: last ? { id: last.id, at: last.at } : position, open: open.slice(done) };
}

function parsed(cursor: string | null): Readonly<Record<string, Position>> {
	try {
		const found: unknown = JSON.parse(cursor ?? "{}");
		if (typeof found !== "object" || found === null) return {};
		return Object.fromEntries(
			Object.entries(found).flatMap(([archive, pair]: [string, unknown]) => {
				const [id, at]: readonly unknown[] = Array.isArray(pair) ? pair : [];
				return typeof id === "string" && typeof at === "number" ? [[archive, { id, at }]] : [];
			}),
		);
	} catch {
		return {};
	}
}
