// Commands that only tell: how things stand, what was spent, who one is, what became of a message, what there is to say.
import { describeDuration, latestDailyBoundary, limitInfo, localDays } from "../../domain/index.ts";
import { OPERATOR, readInsights, type Session, type Spent } from "../../store/index.ts";
import { wholeNumber, wrongArgument } from "./parse.ts";
import { type CommandContext, EVERYBODY, GROUPS, mayUse, type Telling } from "./types.ts";
import { tellStory } from "./why.ts";
import { answeringModel, counted, grouped, literal, quoted } from "./words.ts";

export const status: Telling = {
	name: "status",
	usage: "/status",
	about: "what goes on here, how full it is",
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
			`Conversation ${conversation.key}`,
			live ? sessionLine(live, now) : "No session is open; your next message opens one.",
			...(live ? [limitLine(live)] : []),
			...(model === null ? [] : [`Answered by ${model}.`]),
			lanes.running(conversationId) === null
				? "Nothing is being worked on."
				: "An answer is being worked on; /stop ends it.",
			...(waiting > 0 ? [`${waiting} waiting.`] : []),
			`Starts fresh: ${resetLine(policy)}.`,
			...(walls ? [await walls.describe({ profile, standing: role }, { program })] : []),
		].join("\n");
	},
};

function sessionLine(session: Session, now: number): string {
	const title = session.title === null ? "" : ` ${quoted(session.title, 100)}`;
	const base = session.base === null ? "" : `, going on from ${session.base.session}`;
	const suspended = session.suspendedAt === null ? "" : ", suspended";
	return `Session ${session.id}${title}${base}${suspended}, last active ${describeDuration(Math.max(0, now - session.lastActivityAt))} ago`;
}

function limitLine(session: Session): string {
	const { messageCount, maxMessages, remaining, nearLimit } = limitInfo(session.messages, session.cap);
	if (maxMessages === 0) return `${counted(messageCount, "message")}, no limit.`;
	return `${messageCount} of ${counted(maxMessages, "message")}, ${remaining} left${nearLimit ? "; near the limit: /extend gives it more" : ""}.`;
}

function resetLine({ mode, idleMinutes, atHour, timezone }: CommandContext["policy"]): string {
	const idle = `after ${describeDuration(idleMinutes * 60_000)} without a message`;
	const daily = `daily at ${String(atHour).padStart(2, "0")}:00 (${timezone})`;
	if (mode === "none") return "never by itself";
	return mode === "idle" ? idle : mode === "daily" ? daily : `${idle}, and ${daily}`;
}

export const usage: Telling = {
	name: "usage",
	usage: "/usage",
	about: "tokens and cost",
	group: "Information",
	roles: EVERYBODY,
	tell: async ({ store, scope, conversationId: conversation, policy: { timezone }, now }) => {
		const since = latestDailyBoundary(now, timezone, 0);
		const spent = await store.usage({ scope, conversation, since });
		return [
			spent.session ? `This session: ${spentLine(spent.session)}` : "No session is open.",
			`This conversation today (${timezone}): ${spentLine(spent.since)}`,
		].join("\n");
	},
};

function spentLine({ calls, inputTokens, outputTokens, cachedInputTokens, costs, unpriced }: Spent): string {
	if (calls === 0) return "no model was asked.";
	const cost = costs.map(({ currency, micros }) => `${(micros / 1e6).toFixed(4)} ${currency}`).join(" + ");
	const price = unpriced === calls ? "price not known" : `cost ${cost || "nothing"}`;
	const but = unpriced > 0 && unpriced < calls ? `, and ${unpriced} without a known price` : "";
	const cached = cachedInputTokens > 0 ? ` (${grouped(cachedInputTokens)} from the cache)` : "";
	return `${counted(calls, "model call")}, ${grouped(inputTokens)} tokens in${cached}, ${grouped(outputTokens)} out, ${price}${but}.`;
}

export const insights: Telling = {
	name: "insights",
	usage: "/insights [days]",
	about: "how it went, over all chats",
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
		const failed = results === 0 ? "" : `, ${Math.round((100 * errors) / results)} % of them failed`;
		const active = sum(period.platforms, (platform) => platform.conversations);
		return [
			`The last ${counted(days, "day")}, in ${counted(active, "conversation that was", "conversations that were")} active:`,
			`Messages: ${grouped(said)}`,
			`Turns: ${byName(period.turns)}`,
			`Tool calls: ${grouped(results)}${failed}`,
			`Sessions ended: ${byName(period.boundaries)}`,
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
	about: "who you are to Keryx",
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
				? "You may use every command."
				: `You may use ${usable.map(({ name }) => `/${name}`).join(", ")}.`;
		return [
			`You are ${userName === undefined ? "somebody without a name" : literal(userName, 100)} on ${platform}.`,
			ids.length === 0 ? "The platform does not say who you are." : `Your ids there: ${ids.join(", ")}`,
			...(principal === null ? [] : [`To Keryx you are principal ${principal}.`]),
			`Your role here is ${role}. ${may}`,
		].join("\n");
	},
};

/** Up to here a number counts messages back; beyond, it is a message's own. */
const COUNTED_BACK = 20;

export const why: Telling = {
	name: "why",
	usage: "/why [n]",
	about: "what became of your nth last message",
	group: "Information",
	roles: EVERYBODY,
	tell: async ({ store, scope, conversationId: conversation, inbox, args }) => {
		if (args !== "" && !/^[1-9]\d{0,14}$/.test(args))
			throw wrongArgument(
				"/why takes a message's number, or how many messages back",
				args,
				"/why 2, for the one before the last",
			);
		const n = args === "" ? 1 : Number(args);
		const id =
			n > COUNTED_BACK ? n : await store.lastInbound({ scope, conversation, back: n, before: inbox });
		if (id !== null) return tellStory(await store.story({ scope, id }));
		return n === 1
			? "No message of this conversation has been answered yet."
			: `This conversation does not have ${n} messages yet.`;
	},
};

export const help: Telling = {
	name: "help",
	usage: "/help",
	about: "this list",
	group: "Information",
	roles: EVERYBODY,
	tell: ({ commands, role }) =>
		GROUPS.map((group) => ({
			group,
			usable: commands.filter((command) => command.group === group && mayUse(command, role)),
		}))
			.filter(({ usable }) => usable.length > 0)
			.map(({ group, usable }) =>
				[`**${group}**`, ...usable.map((command) => `\`${command.usage}\` ${command.about}`)].join("\n"),
			)
			.join("\n\n"),
};
