// Going back to an earlier session: which there are, and taking one up again. What may not be reached is not there: no answer tells
// somebody else's session from one that never was (scenario 12).
import { cleanTitle, describeDuration, isSessionId, type SessionId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { OPERATOR, type Reachable } from "../../store/index.ts";
import { stoppedFirst } from "./sessions.ts";
import type { Changing, CommandContext, Listing, Telling } from "./types.ts";
import { counted, literal, quoted, shortened } from "./words.ts";

const LISTED = 10;
const NAME = 60;
const SNIPPET = 80;
const LABEL = 30;
/** Hits read for one search: several may lie in one session. */
const HITS = 50;

export const sessions: Telling = {
	name: "sessions",
	usage: "/sessions [words]",
	about: "earlier ones; words: search",
	group: "Conversation",
	tell: (context) => (context.args === "" ? list(context) : search(context)),
};

export const resume: Changing<"switchSession"> = {
	name: "resume",
	usage: "/resume [n]",
	about: "go back to one of /sessions",
	group: "Conversation",
	change: "switchSession",
	plan: async (context) => {
		if (context.args === "") return list(context);
		const { conversationId, config, policy, principal, context: block } = context;
		return {
			args: {
				conversation: conversationId,
				target: await targetOf(context),
				within: config.routing.resume_scope,
				asker: principal,
				policy,
				context: block,
			},
		};
	},
	answer: async ({ session: id, ended, stopped }, { store }) => {
		const { title, messages } = await store.session({ scope: OPERATOR, id });
		const name = title === null ? id : quoted(title, NAME);
		const back = ended === null ? "" : ` /resume ${ended} goes back to where you were.`;
		return `${stoppedFirst(stopped)}You are in session ${name} now, with ${counted(messages, "message")}.${back}`;
	},
};

async function list(context: CommandContext): Promise<string | Listing> {
	const found = await reachable(context);
	if (found.length === 0)
		return "There is no earlier session to go back to. /new starts one and keeps this one.";
	const text = [
		"Earlier sessions, newest first:",
		...found.map((session, index) => `${index + 1}. ${line(session, context.now)}`),
		"",
		"/resume and a number goes back to one; /sessions and words searches in all.",
	].join("\n");
	const choices = found.map(({ id, title, opening }, index) => ({
		label: `${index + 1}. ${label(title ?? opening) || id}`,
		command: `/resume ${id}`,
	}));
	return { text, choices };
}

/** Of a button, where nothing is markup. */
function label(text: string): string {
	return shortened(cleanTitle(text), LABEL);
}

function line(session: Reachable, now: number): string {
	const { title, opening, lastActivityAt, messages, endReason, elsewhere } = session;
	const name = literal(title ?? opening, NAME) || session.id;
	const where = elsewhere === null ? "" : `, in ${literal(elsewhere, NAME)}`;
	const ago = `${describeDuration(Math.max(0, now - lastActivityAt))} ago`;
	return `${name} (${ago}, ${counted(messages, "message")}, ${endReason === null ? "still open" : ENDED[endReason]}${where})`;
}

const ENDED: Readonly<Record<NonNullable<Reachable["endReason"]>, string>> = {
	idle: "ended idle",
	daily: "ended by the daily reset",
	message_limit: "ended full",
	user_new: "ended by /new",
	user_switch: "left for another",
	suspended: "suspended",
	resume_expired: "cut off",
	retention: "archived",
};

/** Of each session the best hit, best first; a session that has a number in the list is named by it. */
async function search(context: CommandContext): Promise<string | Listing> {
	const { store, scope, config, conversation, conversationId, args } = context;
	const onlyHere = conversation.shared || config.routing.resume_scope === "conversation";
	const { hits } = await store.search({
		scope,
		query: args,
		limit: HITS,
		...(onlyHere && { conversation: conversationId }),
	});
	const first = new Map<SessionId, string>();
	for (const { session, snippet } of hits)
		if (!first.has(session)) first.set(session, snippet.map(({ text }) => text).join(""));
	const shown = [...first].slice(0, LISTED);
	if (shown.length === 0)
		return `Nothing was found for ${quoted(args, NAME)}. Try fewer words, or the beginning of one: "tul*".`;
	const lines: string[] = [];
	const choices: Listing["choices"][number][] = [];
	for (const [id, snippet] of shown) {
		const { title, live } = await store.session({ scope, id });
		const name = title === null ? "" : `${literal(title, NAME)}: `;
		const isThis = id === live && id === conversation.liveSession;
		lines.push(`- ${name}${literal(snippet, SNIPPET)} (${isThis ? "this session" : `/resume ${id}`})`);
		if (!isThis) choices.push({ label: label(title ?? snippet) || id, command: `/resume ${id}` });
	}
	return {
		text: [`Found in ${counted(shown.length, "session")}, best first:`, ...lines].join("\n"),
		choices,
	};
}

/** A number as listed, an id, or a title. */
async function targetOf(context: CommandContext): Promise<SessionId> {
	const { args } = context;
	if (/^\d{1,2}$/.test(args)) {
		const numbered = (await reachable(context))[Number(args) - 1];
		if (numbered) return numbered.id;
	}
	const named = isSessionId(args) ? { id: args } : { title: cleanTitle(args) };
	const [found] = await reachable(context, named);
	if (found) return found.id;
	throw new KeryxError("store.not_found", `no session ${quoted(args, NAME)} was found`, {
		hint: "/sessions lists those you can go back to",
	});
}

function reachable(
	{ store, scope, conversationId: conversation, config }: CommandContext,
	named?: { readonly id: SessionId } | { readonly title: string },
): Promise<readonly Reachable[]> {
	const within = config.routing.resume_scope;
	return store.reachableSessions({ scope, conversation, within, limit: LISTED, ...(named && { named }) });
}
