// Commands that only inform: status, usage, identity, what happened to a message, help.

import { describeDuration, latestDailyBoundary, limitInfo, localDays } from "../../domain/index.ts";
import { OPERATOR, readInsights, type Session, type Spent } from "../../store/index.ts";
import { texts } from "../texts.ts";
import { wholeNumber, wrongArgument } from "./parse.ts";
import { type Command, type CommandContext, EVERYBODY, GROUPS, mayUse, type Telling } from "./types.ts";
import { tellStory } from "./why.ts";
import { answeringModel, counted, grouped, literal, quoted } from "./words.ts";

export const status: Telling = {
	name: "status",
	usage: "/status",
	about: texts.status.about,
	group: "Information",
	roles: EVERYBODY,
	tell: async ({ store, lanes, conversation, conversationId, policy, now, walls, role, agent, config }) => {
		const id = conversation.liveSession;
		const live = id === null ? null : await store.session({ scope: OPERATOR, id });
		const waiting = lanes.waiting(conversationId);
		const { profile } = conversation;
		const own = config.profiles[profile]?.agent ?? config.agent;
		const program = agent.kind === "loop" ? own.wall : undefined;
		const model = answeringModel(own, conversation.modelOverride);
		return [
			texts.status.conversation(conversation.key),
			live ? sessionLine(live, now) : texts.status.noSession,
			...(live ? [limitLine(live)] : []),
			...(model === null ? [] : [texts.status.answeredBy(model)]),
			lanes.running(conversationId) === null ? texts.status.idle : texts.status.working,
			...(waiting > 0 ? [texts.status.waiting(waiting)] : []),
			texts.status.reset(resetLine(policy)),
			...(walls ? [await walls.describe({ profile, standing: role }, { program })] : []),
		].join("\n");
	},
};

function sessionLine(session: Session, now: number): string {
	const title = session.title === null ? "" : ` ${quoted(session.title, 100)}`;
	const base = session.base === null ? "" : texts.status.continues(session.base.session);
	const suspended = session.suspendedAt === null ? "" : ", suspended";
	return texts.status.session(
		session.id,
		title,
		base,
		suspended,
		describeDuration(Math.max(0, now - session.lastActivityAt)),
	);
}

function limitLine(session: Session): string {
	const { messageCount, maxMessages, remaining, nearLimit } = limitInfo(session.messages, session.cap);
	if (maxMessages === 0) return texts.status.noLimit(counted(messageCount, "message"));
	return texts.status.limit(
		messageCount,
		counted(maxMessages, "message"),
		remaining,
		nearLimit ? texts.status.nearLimit : "",
	);
}

function resetLine({ mode, idleMinutes, atHour, timezone }: CommandContext["policy"]): string {
	const idle = texts.status.resetIdle(describeDuration(idleMinutes * 60_000));
	const daily = texts.status.resetDaily(String(atHour).padStart(2, "0"), timezone);
	if (mode === "none") return texts.status.resetNever;
	return mode === "idle" ? idle : mode === "daily" ? daily : texts.status.resetBoth(idle, daily);
}

export const usage: Telling = {
	name: "usage",
	usage: "/usage",
	about: texts.usage.about,
	group: "Information",
	roles: EVERYBODY,
	tell: async ({ store, scope, conversationId: conversation, policy: { timezone }, now }) => {
		const since = latestDailyBoundary(now, timezone, 0);
		const spent = await store.usage({ scope, conversation, since });
		return [
			spent.session ? texts.usage.session(spentLine(spent.session)) : texts.usage.noSession,
			texts.usage.today(timezone, spentLine(spent.since)),
		].join("\n");
	},
};

function spentLine({ calls, inputTokens, outputTokens, cachedInputTokens, costs, unpriced }: Spent): string {
	if (calls === 0) return texts.usage.none;
	const cost = costs.map(({ currency, micros }) => `${(micros / 1e6).toFixed(4)} ${currency}`).join(" + ");
	const price = unpriced === calls ? texts.usage.noPrice : texts.usage.cost(cost || "nothing");
	const but = unpriced > 0 && unpriced < calls ? texts.usage.unpriced(unpriced) : "";
	const cached = cachedInputTokens > 0 ? texts.usage.cached(grouped(cachedInputTokens)) : "";
	return texts.usage.line(
		counted(calls, "model call"),
		grouped(inputTokens),
		cached,
		grouped(outputTokens),
		price,
		but,
	);
}

export const insights: Telling = {
	name: "insights",
	usage: "/insights [days]",
	about: texts.insights.about,
	group: "Information",
	roles: ["owner"],
	tell: async ({ store, args, now, policy: { timezone } }) => {
		const days = wholeNumber(args, { command: "/insights", of: "days", least: 1, most: 3650, otherwise: 7 });
		const period = await readInsights(store, localDays(now, timezone, days));
		const sum = <Item>(items: readonly Item[], of: (item: Item) => number): number =>
			items.reduce((all, item) => all + of(item), 0);
		const said = sum(period.days, ({ messages }) => messages.in + messages.out + messages.toolResults);
		const results = sum(period.positions, (position) => position.results);
		const errors = sum(period.positions, (position) => position.errors);
		const failed = results === 0 ? "" : texts.insights.failed(Math.round((100 * errors) / results));
		const active = sum(period.platforms, (platform) => platform.conversations);
		return [
			texts.insights.heading(counted(days, "day"), counted(active, "active conversation")),
			texts.insights.messages(grouped(said)),
			texts.insights.turns(byName(period.turns)),
			texts.insights.toolCalls(grouped(results), failed),
			texts.insights.ended(byName(period.boundaries)),
		].join("\n");
	},
};

/** "12 (completed 10, failed 2)", the most frequent first. */
function byName(table: Readonly<Record<string, number>>): string {
	const all = Object.entries(table).sort(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
	const whole = all.reduce((sum, [, n]) => sum + n, 0);
	if (whole === 0) return "0";
	return `${grouped(whole)} (${all.map(([name, n]) => `${name.replaceAll("_", " ")} ${grouped(n)}`).join(", ")})`;
}

export const whoami: Telling = {
	name: "whoami",
	usage: "/whoami",
	about: texts.whoami.about,
	group: "Information",
	roles: EVERYBODY,
	tell: async ({ store, source, role, principal, commands }) => {
		const { platform, userId, userIdAlt, userName } = source;
		const own = [userId, userIdAlt].filter((id) => id !== undefined);
		const known = await store.knownIds({ scope: OPERATOR, platform, ids: own });
		const ids = [...new Set([...own, ...known])].map((id) => literal(id, 100));
		const usable = commands.filter((command) => mayUse(command, role));
		const may =
			usable.length === commands.length
				? texts.whoami.every
				: texts.whoami.some(usable.map(({ name }) => `/${name}`).join(", "));
		return [
			texts.whoami.name(userName === undefined ? texts.whoami.noName : literal(userName, 100), platform),
			ids.length === 0 ? texts.whoami.noId : texts.whoami.ids(ids.join(", ")),
			...(principal === null ? [] : [texts.whoami.principal(principal)]),
			texts.whoami.role(role, may),
		].join("\n");
	},
};

/** A number up to this counts messages back; a larger one is a message's own number. */
const COUNTED_BACK = 20;

export const why: Telling = {
	name: "why",
	usage: "/why [n]",
	about: texts.why.about,
	group: "Information",
	roles: EVERYBODY,
	tell: async ({ store, scope, conversationId: conversation, inbox, args }) => {
		if (args !== "" && !/^[1-9]\d{0,14}$/.test(args))
			throw wrongArgument(texts.why.takes, args, texts.why.example);
		const n = args === "" ? 1 : Number(args);
		const id =
			n > COUNTED_BACK ? n : await store.lastInbound({ scope, conversation, back: n, before: inbox });
		if (id !== null) return tellStory(await store.story({ scope, id }));
		return n === 1 ? texts.why.none : texts.why.tooFew(n);
	},
};

export const help: Telling = {
	name: "help",
	usage: "/help",
	about: texts.help.about,
	group: "Information",
	roles: EVERYBODY,
	tell: ({ commands, role }) =>
		GROUPS.map((group) => ({
			group,
			usable: commands.filter((command) => command.group === group && mayUse(command, role)),
		}))
			.filter(({ usable }) => usable.length > 0)
			.map(({ group, usable }) => [`**${group}**`, "```", ...aligned(usable), "```"].join("\n"))
			.join("\n\n"),
};

/** Two columns, in a code block: elsewhere letters differ in width and spaces may be dropped. */
function aligned(commands: readonly Command[]): string[] {
	const width = Math.max(...commands.map(({ usage }) => usage.length));
	return commands.map(({ usage, about }) => `${usage.padEnd(width)}  ${about}`);
}
