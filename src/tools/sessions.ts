// Memory for the agent: search and read past messages. Both see only what the speaker may see.
import { z } from "zod";
import { isSessionId } from "../domain/index.ts";
import { KeryxError } from "../errors.ts";
import { defineTool } from "./types.ts";

const searchInput = z.object({
	query: z.string().describe('words, a "quoted phrase" or a prefix*'),
	limit: z.number().int().min(1).max(50).default(10),
});

export const sessionSearch = defineTool({
	name: "session_search",
	description:
		"Search earlier messages in this person's conversations. Returns excerpts with session and seq, newest and best first.",
	input: searchInput,
	repeatable: true,
	async run({ query, limit }, { store, scope }) {
		const { hits } = await store.search({ scope, query, limit });
		if (hits.length === 0) return { content: `Nothing found for ${JSON.stringify(query)}.` };
		const lines = hits.map((hit) => {
			const text = hit.snippet
				.map((piece) => piece.text)
				.join("")
				.replace(/\s+/g, " ");
			return hit.kind === "title"
				? `session ${hit.session}: title ${JSON.stringify(text)}`
				: `session ${hit.session} seq ${hit.seq} ${hit.role} ${new Date(hit.createdAt).toISOString()}: ${JSON.stringify(text)}`;
		});
		return { content: lines.join("\n") };
	},
});

const readInput = z.object({
	session: z.string().describe("a session id such as 20260310_120000_1a2b3c4d"),
	after: z.number().int().min(0).optional().describe("read after this seq"),
	before: z.number().int().min(1).optional().describe("read before this seq"),
	limit: z.number().int().min(1).max(100).default(20),
});

export const sessionRead = defineTool({
	name: "session_read",
	description: "Read messages of an earlier session, in order.",
	input: readInput,
	repeatable: true,
	async run({ session, after, before, limit }, { store, scope }) {
		if (!isSessionId(session))
			return { content: `${JSON.stringify(session)} is not a session id.`, isError: true };
		try {
			const rows = await store.messages({ scope, session, limit, after, before });
			const lines = rows.map(
				(row) =>
					`${row.seq} ${row.role}: ${typeof row.content === "string" ? row.content : JSON.stringify(row.content)}`,
			);
			return { content: lines.length > 0 ? lines.join("\n") : "No messages there." };
		} catch (error) {
			if (error instanceof KeryxError && error.code === "store.not_found")
				return { content: `No session ${session}.`, isError: true };
			throw error;
		}
	},
});

const clarifyInput = z.object({ question: z.string().min(1) });

export const clarify = defineTool({
	name: "clarify",
	description: "Ask the user a question and end the turn; their answer arrives as the next message.",
	input: clarifyInput,
	repeatable: true,
	run: ({ question }) =>
		Promise.resolve({ content: "The user was asked; the turn ends here.", endsTurn: question }),
});
