// Messages beside the rows: from Keryx itself, or answers to commands. Read backwards from the end, as far as rows are shown.
import { api } from "../../../api/index.ts";
import type { Delivery } from "../../../api/types.ts";

export interface Notice {
	readonly id: string;
	readonly kind: "notice" | "command" | "failure";
	/** That failed. */
	readonly turn: string | null;
	readonly text: string;
	readonly at: string;
	/** The command that it answers, as it was written. */
	readonly asked: Asked | null;
}

export type Asked = NonNullable<Delivery["asked"]>;

const PAGE = 200;

/** Replies are no notices: they are rows, but for those of a turn that failed. */
export function noticeOf({ kind, id, text, plain, asked, created_at }: Delivery): Notice | null {
	if (kind === "reply") return null;
	return { id, kind, turn: null, text: kind === "notice" ? plain : text, at: created_at, asked };
}

/** Why a turn failed stands in its reply, and nowhere in the transcript. */
export function failureNotice(turn: string, parts: readonly Delivery[], at: string): Notice | null {
	const text = parts.map(({ plain }) => plain).join("");
	return text === "" ? null : { id: `failed:${turn}`, kind: "failure", turn, text, at, asked: null };
}

/** The ones given, with others in their place where they are the same. */
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

	/** Reads on until everything since that time is there; the newest page in any case. */
	async reach(since: string): Promise<void> {
		while (!this.#isWhole && (this.#read[0]?.created_at ?? since) >= since) await this.#readPage();
	}

	/** Everything that was read. A reply may have been opened before its turn wrote rows: it failed after `lastRowOf` them. */
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
