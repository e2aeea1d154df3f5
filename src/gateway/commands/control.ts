// Commands about the answer that is being worked on: end it, what a new message does meanwhile, what is shown of it, which model.
import { KeryxError } from "../../errors.ts";
import type { BusyMode, ToolProgress } from "../../store/index.ts";
import { planStop } from "../lanes/stopping.ts";
import { wrongArgument } from "./parse.ts";
import { killedSentences } from "./processes.ts";
import type { Changing, CommandContext, Listing } from "./types.ts";
import { answeringModel, asCode, counted, modelName, shortened } from "./words.ts";

export const stop: Changing<"stopTurn"> = {
	name: "stop",
	usage: "/stop [all]",
	about: "end this; all: all that waits or runs",
	group: "Answers",
	change: "stopTurn",
	plan: async ({ store, lanes, inbox, conversationId, args }) => {
		if (args !== "" && args !== "all")
			throw new KeryxError("argument.invalid", `/stop takes nothing or all, not ${JSON.stringify(args)}`, {
				hint: "/stop, or /stop all",
			});
		return {
			args: await planStop(conversationId, { all: args === "all", before: inbox }, { store, lanes }),
		};
	},
	answer: async ({ stopped, dropped, cancelled }, { args, processes, conversationId, role }) => {
		const killed =
			args === "all"
				? ((await processes?.killAll(
						{ kind: "conversation", conversation: conversationId, standing: role },
						conversationId,
					)) ?? [])
				: [];
		const said = [
			stopped === null ? "Nothing was running." : "Stopped. What was written so far is kept.",
			...(args === "all"
				? [`${counted(dropped.length, "waiting message was", "waiting messages were")} dropped.`]
				: []),
			...killedSentences(killed),
			...(cancelled.length > 0
				? [`${counted(cancelled.length, "open confirmation was", "open confirmations were")} cancelled.`]
				: []),
		];
		return said.join(" ");
	},
};

export const busy: Changing<"setBusyMode"> = {
	name: "busy",
	usage: "/busy [mode]",
	about: "what a message does meanwhile",
	group: "Answers",
	asksForProof: true,
	setting: true,
	change: "setBusyMode",
	plan: ({ conversation, conversationId, config, args }) => {
		const now = conversation.busy ?? config.gateway.busy;
		if (args === "")
			return `While an answer is being worked on, a new message: ${MEANING[now]} (${now}). /busy queue, /busy interrupt or /busy steer changes that.`;
		if (!isOneOf(MEANING, args))
			throw wrongArgument("/busy takes queue, interrupt or steer", args, "/busy steer");
		return { args: { conversation: conversationId, busy: args } };
	},
	answer: ({ before }, { args, config }) =>
		`From now on a new message ${MEANING[args as BusyMode]}. /busy ${before ?? config.gateway.busy} undoes that.`,
};

const MEANING: Readonly<Record<BusyMode, string>> = {
	queue: "waits for its turn",
	interrupt: "ends the running answer and is answered instead",
	steer: "joins the running answer at its next step",
};

export const verbose: Changing<"setToolProgress"> = {
	name: "verbose",
	usage: "/verbose [mode]",
	about: "what you see of tools at work",
	group: "Answers",
	asksForProof: true,
	setting: true,
	change: "setToolProgress",
	plan: ({ conversation, conversationId, config, args }) => {
		const now = conversation.toolProgress ?? config.display.tool_progress;
		if (args === "")
			return `Of tools at work you see: ${SHOWN[now]} (${now}). /verbose all, /verbose new or /verbose off changes that, /verbose default goes back to the setting.${unseen(config)}`;
		if (args !== "default" && !isOneOf(SHOWN, args))
			throw wrongArgument("/verbose takes all, new, off or default", args, "/verbose all");
		return { args: { conversation: conversationId, show: args === "default" ? null : args } };
	},
	answer: ({ show, before }, { config }) =>
		`From now on you see ${SHOWN[show ?? config.display.tool_progress]} of tools at work. /verbose ${before ?? "default"} undoes that.${unseen(config)}`,
};

const SHOWN: Readonly<Record<ToolProgress, string>> = {
	all: "each call with its arguments",
	new: "the call that runs",
	off: "nothing",
};

function unseen(config: CommandContext["config"]): string {
	return config.display.streaming
		? ""
		: " Answers are not streamed here (setting: display.streaming), so nothing of it is seen.";
}

export const model: Changing<"setModelOverride"> = {
	name: "model",
	usage: "/model [name]",
	about: "which model answers here",
	group: "Answers",
	asksForProof: true,
	setting: true,
	change: "setModelOverride",
	plan: async (context) => {
		const { conversationId, args } = context;
		if (args === "") return modelList(context);
		if (args === "default") return { args: { conversation: conversationId, override: null } };
		const [, provider, name] = NAME.exec(args) ?? [];
		if (name === undefined)
			throw wrongArgument("/model takes provider:model or default", args, "/model anthropic:claude-sonnet");
		return {
			args: { conversation: conversationId, override: { model: name, ...(provider && { provider }) } },
		};
	},
	answer: ({ override, before }, { config }) =>
		`From now on ${modelInWords(override)} answers here, until /new. /model ${before === null ? "default" : modelName(before)} undoes that.${ignored(config)}`,
};

/** So many are named; a provider may have hundreds. */
const MODELS_NAMED = 20;
/** And so many are buttons, where a chat has any. */
const MODEL_BUTTONS = 8;
const MODEL_LABEL = 40;

async function modelList({
	config,
	conversation,
	modelChoices,
}: Pick<CommandContext, "config" | "conversation" | "modelChoices">): Promise<string | Listing> {
	const said = `This conversation is answered by ${answererInWords(config, conversation)}. /model provider:model chooses another, /model default goes back.${ignored(config)}`;
	// A provider may call its models whatever it likes; what cannot be chosen is not offered.
	const names = (await modelChoices()).map(modelName).filter((name) => NAME.test(name));
	if (names.length === 0) return said;
	const more = names.length - MODELS_NAMED;
	const text = [
		said,
		"",
		"You can choose:",
		...names.slice(0, MODELS_NAMED).map((name) => `- ${asCode(name)}`),
		...(more > 0 ? [`and ${counted(more, "other model")}.`] : []),
	].join("\n");
	const choices = names
		.slice(0, MODEL_BUTTONS)
		.map((name) => ({ label: shortened(name, MODEL_LABEL), command: `/model ${name}` }));
	return { text, choices };
}

/** What stands behind the first colon is the model's own name, colons and slashes included. */
const NAME = /^(?:([a-z0-9][\w.-]{0,63}):)?(\w(?:[\w.:/@-]{0,198}\w)?)$/i;

/** Agents without a model. */
const WITHOUT_MODEL: ReadonlySet<string> = new Set(["offline", "scripted"]);

function ignored({ agent }: CommandContext["config"]): string {
	return WITHOUT_MODEL.has(agent.kind)
		? ` The ${agent.kind} agent, which answers now, asks no model: the choice waits for one that does (setting: agent.kind).`
		: "";
}

type Override = CommandContext["conversation"]["modelOverride"];

/** By its name, where the agent names one. */
function answererInWords(
	config: CommandContext["config"],
	conversation: CommandContext["conversation"],
): string {
	const { profile, modelOverride } = conversation;
	const agent = config.profiles[profile]?.agent ?? config.agent;
	return answeringModel(agent, modelOverride) ?? modelInWords(modelOverride);
}

function modelInWords(override: Override): string {
	return override === null ? "the configured model" : asCode(modelName(override));
}

/** The configuration is a file that people write: what is set here stands in the store, and wins over it. */
export const setHome: Changing<"setHome"> = {
	name: "sethome",
	usage: "/sethome [off]",
	about: "make this chat the home channel",
	group: "Information",
	roles: ["owner"],
	asksForProof: true,
	change: "setHome",
	plan: ({ source, args, conversationId, principal }) => {
		if (args !== "" && args !== "off") throw wrongArgument("/sethome takes nothing or off", args, "/sethome");
		const { platform, account, chatId, threadId, chatName, userName } = source;
		const name = chatName ?? userName ?? platform;
		const home = { account, chatId, name, ...(threadId !== undefined && { threadId }) };
		return {
			args: { conversation: conversationId, platform, home: args === "off" ? null : home, by: principal },
		};
	},
	answer: ({ isSet, changed }, { source: { platform }, config }) => {
		const configured = Object.hasOwn(config.home_channels, platform);
		if (isSet)
			return `This is the home channel of ${platform} now. /sethome off ${configured ? "goes back to the one in config.yaml" : "undoes that"}.`;
		if (!changed) return `No home channel of ${platform} was set in a chat, so nothing was changed.`;
		return configured
			? `The home channel of ${platform} is the one in config.yaml again. /sethome makes it this chat.`
			: `${platform} has no home channel any more. /sethome makes it this chat.`;
	},
};

function isOneOf<Key extends string>(table: Readonly<Record<Key, unknown>>, value: string): value is Key {
	return Object.hasOwn(table, value);
}
