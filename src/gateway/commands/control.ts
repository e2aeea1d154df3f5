// Commands about the current answer: stop it, what new messages do, what is shown of tools, which model.

import { parseModelName } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import type { BusyMode, ToolProgress } from "../../store/index.ts";
import { planStop } from "../lanes/stopping.ts";
import { texts } from "../texts.ts";
import { wrongArgument } from "./parse.ts";
import { killedSentences } from "./processes.ts";
import type { Changing, CommandContext, Listing } from "./types.ts";
import { answeringModel, asCode, cancelledSentences, counted, modelName, shortened } from "./words.ts";

export const stop: Changing<"stopTurn"> = {
	name: "stop",
	usage: "/stop [all]",
	about: texts.stop.about,
	group: "Answers",
	change: "stopTurn",
	plan: async ({ store, lanes, inbox, conversationId, args }) => {
		if (args !== "" && args !== "all")
			throw new KeryxError("argument.invalid", texts.stop.takes(JSON.stringify(args)), {
				hint: texts.stop.example,
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
			stopped === null ? texts.stop.nothing : texts.stop.done,
			...(args === "all" ? [texts.stop.dropped(counted(dropped.length, "waiting message"))] : []),
			...killedSentences(killed),
			...cancelledSentences(cancelled.length),
		];
		return said.join(" ");
	},
};

export const busy: Changing<"setBusyMode"> = {
	name: "busy",
	usage: "/busy [mode]",
	about: texts.busy.about,
	group: "Answers",
	asksForProof: true,
	setting: true,
	change: "setBusyMode",
	plan: ({ conversation, conversationId, config, args }) => {
		const now = conversation.busy ?? config.gateway.busy;
		if (args === "") return texts.busy.now(MEANING[now], now);
		if (!isOneOf(MEANING, args)) throw wrongArgument(texts.busy.takes, args, texts.busy.example);
		return { args: { conversation: conversationId, busy: args } };
	},
	answer: ({ before }, { args, config }) =>
		texts.busy.changed(MEANING[args as BusyMode], before ?? config.gateway.busy),
};

const MEANING: Readonly<Record<BusyMode, string>> = {
	queue: texts.busy.queue,
	interrupt: texts.busy.interrupt,
	steer: texts.busy.steer,
};

export const verbose: Changing<"setToolProgress"> = {
	name: "verbose",
	usage: "/verbose [mode]",
	about: texts.verbose.about,
	group: "Answers",
	asksForProof: true,
	setting: true,
	change: "setToolProgress",
	plan: ({ conversation, conversationId, config, args }) => {
		const now = conversation.toolProgress ?? config.display.tool_progress;
		if (args === "") return texts.verbose.now(SHOWN[now], now, unseen(config));
		if (args !== "default" && !isOneOf(SHOWN, args))
			throw wrongArgument(texts.verbose.takes, args, texts.verbose.example);
		return { args: { conversation: conversationId, show: args === "default" ? null : args } };
	},
	answer: ({ show, before }, { config }) =>
		texts.verbose.changed(SHOWN[show ?? config.display.tool_progress], before ?? "default", unseen(config)),
};

const SHOWN: Readonly<Record<ToolProgress, string>> = {
	all: texts.verbose.all,
	new: texts.verbose.new,
	off: texts.verbose.off,
};

function unseen(config: CommandContext["config"]): string {
	return config.display.streaming ? "" : texts.verbose.unseen;
}

export const model: Changing<"setModelOverride"> = {
	name: "model",
	usage: "/model [name]",
	about: texts.model.about,
	group: "Answers",
	asksForProof: true,
	setting: true,
	change: "setModelOverride",
	plan: async (context) => {
		const { conversationId, args } = context;
		if (args === "") return modelList(context);
		if (args === "default") return { args: { conversation: conversationId, override: null } };
		const override = parseModelName(args);
		if (!override) throw wrongArgument(texts.model.takes, args, texts.model.example);
		return { args: { conversation: conversationId, override } };
	},
	answer: ({ override, before }, { config }) =>
		texts.model.changed(
			modelInWords(override),
			before === null ? "default" : modelName(before),
			ignored(config),
		),
};

/** How many models are listed; a provider may have hundreds. */
const MODELS_NAMED = 20;
/** How many of them get a button, if the chat has buttons. */
const MODEL_BUTTONS = 8;
const MODEL_LABEL = 40;

async function modelList({
	config,
	conversation,
	modelChoices,
}: Pick<CommandContext, "config" | "conversation" | "modelChoices">): Promise<string | Listing> {
	const said = texts.model.now(answererInWords(config, conversation), ignored(config));
	// Provider names may contain anything; offer only those that can be chosen.
	const names = (await modelChoices()).map(modelName).filter((name) => parseModelName(name) !== null);
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

/** Agents without a model. */
const WITHOUT_MODEL: ReadonlySet<string> = new Set(["offline", "scripted"]);

function ignored({ agent }: CommandContext["config"]): string {
	return WITHOUT_MODEL.has(agent.kind) ? texts.model.ignored(agent.kind) : "";
}

type Override = CommandContext["conversation"]["modelOverride"];

/** By its name, if the agent has one. */
function answererInWords(
	config: CommandContext["config"],
	conversation: CommandContext["conversation"],
): string {
	const { profile, modelOverride } = conversation;
	const agent = config.profiles[profile]?.agent ?? config.agent;
	return answeringModel(agent, modelOverride) ?? modelInWords(modelOverride);
}

function modelInWords(override: Override): string {
	return override === null ? texts.model.configured : asCode(modelName(override));
}

/** The configuration file belongs to people: this choice is stored in the database and overrides it. */
export const setHome: Changing<"setHome"> = {
	name: "sethome",
	usage: "/sethome [off]",
	about: texts.setHome.about,
	group: "Information",
	roles: ["owner"],
	asksForProof: true,
	change: "setHome",
	plan: ({ source, args, conversationId, principal }) => {
		if (args !== "" && args !== "off") throw wrongArgument(texts.setHome.takes, args, "/sethome");
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
			return texts.setHome.done(platform, configured ? texts.setHome.undoToConfig : texts.setHome.undo);
		if (!changed) return texts.setHome.none(platform);
		return configured ? texts.setHome.backToConfig(platform) : texts.setHome.gone(platform);
	},
};

function isOneOf<Key extends string>(table: Readonly<Record<Key, unknown>>, value: string): value is Key {
	return Object.hasOwn(table, value);
}
