// Names a chat of the page after its first exchange, with one short model step in the background. If it fails, nobody is told; it is
// tried again after the next exchange.
import type { Agent, Usage } from "../../agents/index.ts";
import { NO_USAGE } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import { contentText, isNamedByTopic, TITLE_SYSTEM, titleIn, titleQuestion } from "../../domain/index.ts";
import { type Conversation, OPERATOR, type Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import { modelStep } from "./model-step.ts";
import type { TurnStart } from "./start.ts";

/** After this many rows, the first words remain the name. */
const MOST_MESSAGES = 12;
/** Characters: enough for a name, and for a model that explains itself. */
const LONGEST_ANSWER = 2000;

export interface TitlesOptions {
	readonly store: Store;
	readonly clock: Clock;
	/** Read per call: it may change while Keryx runs. */
	readonly config: () => Config;
	readonly agentOf: (conversation: Conversation) => Agent;
	readonly stopping: () => AbortSignal;
	readonly log: (message: string, error: unknown) => void;
}

export class Titles {
	readonly #with: TitlesOptions;

	constructor(options: TitlesOptions) {
		this.#with = options;
	}

	/** After a completed turn. Never throws. */
	async after(start: TurnStart): Promise<void> {
		try {
			if (this.#mayName(start)) await this.#name(start);
		} catch (error) {
			this.#with.log(`could not name conversation ${start.conversation}`, error);
		}
	}

	#mayName({ conversationInfo: info, purpose, messages }: TurnStart): boolean {
		const config = this.#with.config();
		const own = info.profile === "" ? config : config.profiles[info.profile];
		return (
			config.titles.by_model &&
			own?.agent.kind === "ai-sdk" &&
			purpose === "answer" &&
			isNamedByTopic(info.platform) &&
			info.title === null &&
			messages <= MOST_MESSAGES
		);
	}

	async #name({ conversation, session, turn, conversationInfo: info }: TurnStart): Promise<void> {
		const { store, clock, agentOf, stopping } = this.#with;
		const config = this.#with.config();
		const agent = agentOf(info);
		if (agent.kind !== "step") return;
		const rows = (await store.transcript({ scope: OPERATOR, session })).filter(({ hidden }) => !hidden);
		const textOf = (role: "user" | "assistant") =>
			rows
				.map((row) => (row.role === role ? contentText(row.content).trim() : ""))
				.find((text) => text !== "");
		const said = textOf("user");
		const answered = textOf("assistant");
		if (said === undefined || answered === undefined) return;
		const { model } = config.titles;
		const { secrets } = store;
		const outcome = await modelStep(
			agent,
			{
				conversation,
				session,
				turn,
				system: TITLE_SYSTEM,
				history: [
					{ role: "user", kind: "person", content: secrets.forOthers.hide(titleQuestion(said, answered)) },
				],
				notes: [],
				tools: [],
				standing: "none",
				override: model === undefined ? info.modelOverride : { ...info.modelOverride, model },
				signal: stopping(),
				maxAnswer: LONGEST_ANSWER,
			},
			{
				clock,
				limits: {
					firstTokenMs: config.turn.first_token_seconds * 1000,
					totalMs: config.turn.model_seconds * 1000,
				},
				secrets,
				onText: () => {},
			},
		);
		if (outcome.kind === "aborted") return;
		const done = outcome.kind === "done";
		const usage: Usage = done ? outcome.usage : { ...NO_USAGE, provider: agent.name, model: "" };
		const title = done ? titleIn(contentText(outcome.message.content)) : "";
		await store.nameByModel({
			turn,
			title: title === "" ? null : title,
			call: { ...usage, status: done ? "ok" : "error" },
		});
	}
}
