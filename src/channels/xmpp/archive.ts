// Reads archives (XEP-0313): that of our own account, and those of rooms. One page at a time.
import { NS } from "./stream/namespaces.ts";
import type { Session } from "./stream/session.ts";
import { child, type Element, element, textOf } from "./stream/xml.ts";

/** Servers keep at most a few hundred unacknowledged stanzas. */
const PAGE = 50;

export interface Archived {
	/** In this archive. */
	readonly id: string;
	/** When the server got it; NaN if it does not say. */
	readonly at: number;
	readonly message: Element;
	readonly done: () => void;
}

export interface Page {
	/** Oldest first. */
	readonly found: readonly Archived[];
	/** Nothing is left in the direction that was asked for. */
	readonly isLast: boolean;
	readonly first: string;
	readonly last: string;
}

export interface Query {
	/** The room; undefined: our own account. */
	readonly of?: string | undefined;
	/** Only with this person. */
	readonly with?: string | undefined;
	/** From then on (milliseconds since 1970). */
	readonly start?: number | undefined;
	/** Only what follows this id; empty: from the beginning. */
	readonly after?: string | undefined;
	/** Only what precedes this id; empty: the newest. */
	readonly before?: string | undefined;
	readonly max?: number;
}

export class Archive {
	/** Answers that come in, by query. */
	readonly #open = new Map<string, { readonly of: string; readonly found: Archived[] }>();
	#queries = 0;

	/** Rejects with StanzaError or if the connection is lost. */
	async page(session: Session, query: Query): Promise<Page> {
		const { of, max = PAGE, after, before } = query;
		const id = `q${++this.#queries}`;
		const found: Archived[] = [];
		this.#open.set(id, { of: of ?? "", found });
		try {
			const set = element(
				"set",
				NS.pages,
				{},
				element("max", NS.pages, {}, String(max)),
				...(after === undefined || after === "" ? [] : [element("after", NS.pages, {}, after)]),
				...(before === undefined ? [] : [element("before", NS.pages, {}, before)]),
			);
			const asked = element("query", NS.archive, { queryid: id }, formOf(query), set);
			const answer = await session.request("set", of, asked);
			const fin = child(answer, "fin", NS.archive);
			const pages = fin && child(fin, "set", NS.pages);
			return {
				found,
				isLast: fin?.attrs.complete === "true" || found.length === 0,
				first: textOf(pages && child(pages, "first")),
				last: textOf(pages && child(pages, "last")),
			};
		} finally {
			this.#open.delete(id);
		}
	}

	/** Whether a message is the answer to a query; only the archive that was asked may answer. */
	heard(message: Element, done: () => void, own: string): boolean {
		const result = child(message, "result", NS.archive);
		if (!result) return false;
		const open = this.#open.get(result.attrs.queryid ?? "");
		const { from = own } = message.attrs;
		const forwarded = child(result, "forwarded", NS.forward);
		const inner = forwarded && child(forwarded, "message", NS.client);
		if (open && inner && from === (open.of === "" ? own : open.of)) {
			const at = Date.parse(child(forwarded, "delay", NS.delay)?.attrs.stamp ?? "");
			open.found.push({ id: result.attrs.id ?? "", at, message: inner, done });
		} else done();
		return true;
	}
}

function formOf({ with: partner, start }: Query): Element {
	const field = (name: string, value: string, type?: string) =>
		element("field", NS.form, { var: name, type }, element("value", NS.form, {}, value));
	return element(
		"x",
		NS.form,
		{ type: "submit" },
		field("FORM_TYPE", NS.archive, "hidden"),
		...(partner === undefined ? [] : [field("with", partner)]),
		...(start === undefined ? [] : [field("start", new Date(start).toISOString())]),
	);
}
