// Decides which waiting messages of a conversation form the next turn. Pure.
import type { PersonRole } from "../../domain/index.ts";

export interface Waiting {
	readonly id: number;
	readonly kind: "person" | "confirmation" | "process" | "schedule";
	readonly principal: string | null;
	/** The sender's role when admitted; null if no person wrote it. */
	readonly role: PersonRole | null;
	/** When this process learned of it, by the monotonic clock. */
	readonly arrivedAt: number;
	/** When the sender wrote it, if known, by the wall clock. */
	readonly sentAt: number;
	/** A burst may continue until then. */
	readonly batchMs: number;
	/** Messages of one album are one turn if they come within ALBUM_MS of each other. */
	readonly album?: string;
	/** Accepted by an earlier owner of the store, or sent while nobody listened. */
	readonly late: boolean;
}

/** If a message arrives this long after it was sent, nobody was listening. */
const LATE_MS = 60_000;

/** Whether nobody listened when it was sent, whichever gateway accepted it. */
export function isLate({
	sentAt,
	acceptedAt,
}: {
	readonly sentAt: number;
	readonly acceptedAt: number;
}): boolean {
	return acceptedAt - sentAt > LATE_MS;
}

/** Age counts from when a message was sent, not accepted: time spent at the platform counts, too. */
export function isTooOld(
	{ kind, late, sentAt }: Pick<Waiting, "kind" | "late" | "sentAt">,
	now: number,
	{ max_age_minutes }: { readonly max_age_minutes: number },
): boolean {
	return kind === "person" && late && sentAt < now - max_age_minutes * 60_000;
}

export type Batch =
	| { readonly kind: "empty" }
	/** The burst may not be over yet. Monotonic clock. */
	| { readonly kind: "wait"; readonly until: number }
	| { readonly kind: "take"; readonly items: readonly Waiting[] };

/** Platforms send an album as one message per picture, in quick succession. */
const ALBUM_MS = 1500;
/** However many there are. */
const ALBUM_CAP_MS = 15_000;

/**
 * First in, first out. `now` is monotonic. A burst of one sender is one turn; so is everything in a conversation that waited while Keryx
 * was away.
 */
export function nextBatch(queue: readonly Waiting[], now: number, capMs: number): Batch {
	const first = queue[0];
	if (!first) return { kind: "empty" };
	// Outcomes, or ends of processes, that are ready together are one turn: the agent continues once, knowing all of them.
	if (first.kind === "confirmation" || first.kind === "process")
		return { kind: "take", items: takeWhile(queue, (item) => item.kind === first.kind) };
	if (first.kind !== "person") return { kind: "take", items: [first] };
	if (first.late) {
		const items = takeWhile(queue, (item) => item.kind === "person" && item.late);
		const last = items.at(-1) as Waiting;
		// No cap: the backlog from downtime is finite.
		const until = last.arrivedAt + last.batchMs;
		return items.length === queue.length && until > now ? { kind: "wait", until } : { kind: "take", items };
	}

	const items: Waiting[] = [first];
	for (const item of queue.slice(1)) {
		const previous = items.at(-1) as Waiting;
		const { ms, cap } = windowOf(item, previous, capMs);
		const together =
			item.kind === "person" &&
			item.principal === first.principal &&
			item.arrivedAt - previous.arrivedAt <= ms &&
			item.arrivedAt - first.arrivedAt <= cap &&
			ms > 0;
		if (!together) return { kind: "take", items };
		items.push(item);
	}
	const last = items.at(-1) as Waiting;
	const { ms, cap } = windowOf(last, last, capMs);
	const until = Math.min(last.arrivedAt + ms, first.arrivedAt + cap);
	return ms > 0 && until > now ? { kind: "wait", until } : { kind: "take", items };
}

/** How long after the previous item, and after the first, an item still belongs to the same turn. */
function windowOf(item: Waiting, previous: Waiting, capMs: number): { ms: number; cap: number } {
	if (item.album !== undefined && item.album === previous.album)
		return { ms: Math.max(ALBUM_MS, item.batchMs), cap: Math.max(ALBUM_CAP_MS, capMs) };
	return { ms: item.batchMs, cap: capMs };
}

function takeWhile<Item>(items: readonly Item[], holds: (item: Item) => boolean): Item[] {
	const end = items.findIndex((item) => !holds(item));
	return items.slice(0, end < 0 ? items.length : end);
}
