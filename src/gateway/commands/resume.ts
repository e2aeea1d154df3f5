// Going back to an earlier session: listing and resuming. An unreachable session is reported exactly like one that does not exist
// (scenario 12).

import { cleanTitle, describeDuration, isSessionId, type SessionId } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { OPERATOR, type Reachable } from "../../store/index.ts";
import { texts } from "../texts.ts";
import { stoppedFirst } from "./sessions.ts";
import type { Changing, CommandContext, Listing, Telling } from "./types.ts";
import { counted, literal, quoted, shortened } from "./words.ts";

const LISTED = 10;
const NAME = 60;
const SNIPPET = 80;
const LABEL = 30;
/** Hits read per search; several may be in one session. */
const HITS = 50;

export const sessions: Telling = {
	name: "sessions",
	usage: "/sessions [words]",
	about: texts.sessions.about,
	group: "Conversation",
	tell: (context) => (context.args === "" ? list(context) : search(context)),
};

export const resume: Changing<"switchSession"> = {
	name: "resume",
	usage: "/resume [n]",
	about: texts.resume.about,
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
		const back = ended === null ? "" : texts.resume.back(ended);
		return texts.resume.done(stoppedFirst(stopped), name, counted(messages, "message"), back);
	},
};

async function list(context: CommandContext): Promise<string | Listing> {
	const found = await reachable(context);
	if (found.length === 0) return texts.sessions.none;
	const text = [
		texts.sessions.heading,
		...found.map((session, index) => `${index + 1}. ${line(session, context.now)}`),
		"",
		texts.sessions.howTo,
	].join("\n");
	const choices = found.map(({ id, title, opening }, index) => ({
		label: `${index + 1}. ${label(title ?? opening) || id}`,
		command: `/resume ${id}`,
	}));
	return { text, choices };
}

/** For a button, which has no markup. */
function label(text: string): string {
	return shortened(cleanTitle(text), LABEL);
}

function line(session: Reachable, now: number): string {
	const { title, opening, lastActivityAt, messages, endReason, elsewhere } = session;
	const name = literal(title ?? opening, NAME) || session.id;
	const where = elsewhere === null ? "" : texts.sessions.elsewhere(literal(elsewhere, NAME));
	const ago = texts.ago(describeDuration(Math.max(0, now - lastActivityAt)));
	return `${name} (${ago}, ${counted(messages, "message")}, ${endReason === null ? texts.sessions.ended.open : ENDED[endReason]}${where})`;
}

const ENDED: Readonly<Record<NonNullable<Reachable["endReason"]>, string>> = {
	idle: texts.sessions.ended.idle,
	daily: texts.sessions.ended.daily,
	message_limit: texts.sessions.ended.messageLimit,
	user_new: texts.sessions.ended.userNew,
	user_switch: texts.sessions.ended.userSwitch,
	suspended: "suspended",
	resume_expired: texts.sessions.ended.resumeExpired,
	retention: "archived",
};

/** The best hit of each session, best first. A session with a number in the list is named by it. */
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
	if (shown.length === 0) return texts.sessions.nothingFound(quoted(args, NAME));
	const lines: string[] = [];
	const choices: Listing["choices"][number][] = [];
	for (const [id, snippet] of shown) {
		const { title, live } = await store.session({ scope, id });
		const name = title === null ? "" : `${literal(title, NAME)}: `;
		const isThis = id === live && id === conversation.liveSession;
		lines.push(
			`- ${name}${literal(snippet, SNIPPET)} (${isThis ? texts.sessions.thisSession : `/resume ${id}`})`,
		);
		if (!isThis) choices.push({ label: label(title ?? snippet) || id, command: `/resume ${id}` });
	}
	return {
		text: [texts.sessions.found(counted(shown.length, "session")), ...lines].join("\n"),
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
	throw new KeryxError("store.not_found", texts.resume.notFound(quoted(args, NAME)), {
		hint: texts.resume.notFoundHint,
	});
}

function reachable(
	{ store, scope, conversationId: conversation, config }: CommandContext,
	named?: { readonly id: SessionId } | { readonly title: string },
): Promise<readonly Reachable[]> {
	const within = config.routing.resume_scope;
	return store.reachableSessions({ scope, conversation, within, limit: LISTED, ...(named && { named }) });
}
