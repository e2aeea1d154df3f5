// Messages without a row: notices from Keryx, and answers to commands. Read backwards from the end, as far as rows are shown.
import { api } from "../../../api/index.ts";
import type { Delivery } from "../../../api/types.ts";

export interface Notice {
	readonly id: string;
	readonly kind: "notice" | "command" | "failure";
	/** The turn that failed. */
	readonly turn: string | null;
	readonly text: string;
	readonly at: string;
	/** The command that this answers, as it was written. */
	readonly asked: Asked | null;
}

export type Asked = NonNullable<Delivery["asked"]>;

const PAGE = 200;

/** Replies are not notices: they have rows, except those of a failed turn. */
export function noticeOf({ kind, id, text, plain, asked, created_at }: Delivery): Notice | null {
	if (kind === "reply") return null;
	return { id, kind, turn: null, text: kind === "notice" ? plain : text, at: created_at, asked };
}

/** The reason for a failed turn is in its reply, and nowhere in the transcript. */
export function failureNotice(turn: string, parts: readonly Delivery[], at: string): Notice | null {
	const text = parts.map(({ plain }) => plain).join("");
	return text === "" ? null : { id: `failed:${turn}`, kind: "failure", turn, text, at, asked: null };
}

/** Merges notices by id; newly read ones replace known ones. */
export function joinedNotices(known: readonly Notice[], read: readonly Notice[]): readonly Notice[] {
	return [...new Map([...known, ...read].map((notice) => [notice.id, notice])).values()];
}

export class NoticeReader {
	readonly #conversation: string;
	/** Oldest first. */
	#read: readonly Delivery[] = [];
	#isWhole = false;

	constructor(conversation: string) {
		this.#conversation = conversation;
	}

	/** Reads until everything since that time is known, and at least the newest page. */
	async reach(since: string): Promise<void> {
		while (!this.#isWhole && (this.#read[0]?.created_at ?? since) >= since) await this.#readPage();
	}

	/** All notices read so far. A reply may be older than the rows of its turn, so a failure is placed after the turn's last row. */
	notices(lastRowOf: (turn: string) => string | undefined): readonly Notice[] {
		const notices = this.#read.flatMap((delivery) => noticeOf(delivery) ?? []);
		const replies = this.#read.filter(({ kind }) => kind === "reply");
		const failed = [...Map.groupBy(replies, ({ turn }) => turn ?? "")].flatMap(([turn, parts]) => {
			const times = [lastRowOf(turn) ?? "", ...parts.map(({ created_at }) => created_at)];
			return failureNotice(turn, parts, times.sort().at(-1) ?? "") ?? [];
		});
		return [...notices, ...failed];
	}

	async #readPage(): Promise<void> {
		const [oldest] = this.#read;
		const { deliveries, more } = await api.conversationDeliveries({
			conversation: this.#conversation,
			kind: "all",
			limit: PAGE,
			...(oldest && { before: oldest.n }),
		});
		this.#read = [...deliveries, ...this.#read];
		this.#isWhole = !more;
	}
}
