// The agents that answer: Keryx's own and those of profiles. The own one follows the configuration while Keryx runs, from the next turn on.
// A model that was changed is asked once before it is taken; where it does not answer, the one before stays, and the operator is told.
import { isDeepStrictEqual } from "node:util";
import type { Agent, ModelAgent } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import { type AgentParts, type AgentSettings, createAgent } from "./agent.ts";
import { wordsOf } from "./report.ts";

/** How long a changed model has for its one answer. */
const TRIAL_MS = 60_000;
/** Keryx's own agent, beside those of profiles. */
const OWN = "";

export interface AgentsOptions extends AgentParts {
	readonly config: Config;
	/** Agents that a program brings: they stay, whatever the configuration says. */
	readonly given: { readonly agent: Agent | undefined; readonly profiles: Readonly<Record<string, Agent>> };
}

interface Held {
	readonly agent: Agent;
	readonly settings: Config["agent"];
}

export class Agents {
	readonly #options: AgentsOptions;
	/** In force, by profile. */
	readonly #held = new Map<string, Held>();
	/** All that were made, to be closed at the end: one that was replaced may have a turn to finish. */
	readonly #made: Agent[] = [];
	/** Counts the changes: a trial that a later one overtook says nothing. */
	#changes = 0;

	constructor(options: AgentsOptions) {
		this.#options = options;
		for (const [profile, settings] of settingsOf(options.config))
			this.#held.set(profile, { settings, agent: this.#make(profile, settings, options.config) });
	}

	get own(): Agent {
		return (this.#held.get(OWN) as Held).agent;
	}

	get profiles(): Readonly<Record<string, Agent>> {
		return Object.fromEntries([...this.#held].map(([profile, { agent }]) => [profile, agent]));
	}

	/** The configuration with the agents that are in force instead of those that it names. */
	inForce(values: Config): Config {
		const held = (profile: string, settings: Config["agent"]) => ({
			...settings,
			...partsOf(this.#held.get(profile)?.settings ?? settings),
		});
		return {
			...values,
			agent: held(OWN, values.agent),
			profiles: Object.fromEntries(
				Object.entries(values.profiles).map(([name, profile]) => [
					name,
					{ ...profile, agent: held(name, profile.agent) },
				]),
			),
		};
	}

	/** Takes what answers; tells what does not. Answers whether something was taken. Those of profiles wait for a restart. */
	async follow(values: Config, tell: (text: string) => void): Promise<boolean> {
		const change = ++this.#changes;
		const before = this.#held.get(OWN) as Held;
		const settings = values.agent;
		if (isDeepStrictEqual(partsOf(before.settings), partsOf(settings))) return false;
		const problem = await this.#tried(before.settings, values);
		if (change !== this.#changes) return false;
		if (typeof problem !== "string") {
			this.#held.set(OWN, { agent: problem, settings });
			return true;
		}
		tell(`config.yaml: the new agent was not accepted, so the previous one stays: ${problem}`);
		return false;
	}

	/** The new agent, or what is wrong with it. */
	async #tried(before: Config["agent"], values: Config): Promise<Agent | string> {
		try {
			const agent = this.#make(OWN, values.agent, values);
			return (changesModel(before, values.agent) && (await trial(agent))) || agent;
		} catch (error) {
			return wordsOf(error);
		}
	}

	/** Programs that were kept for the next turn. An agent that was given is its giver's to close. */
	async close(): Promise<void> {
		await Promise.all(this.#made.map(async (one) => one.kind === "loop" && one.close?.()));
	}

	#make(profile: string, agent: Config["agent"], values: Config): Agent {
		const { given } = this.#options;
		const brought = profile === OWN ? given.agent : given.profiles[profile];
		if (brought) return brought;
		const own = values.profiles[profile];
		const settings: AgentSettings = own
			? { agent, workspace: { ...own.workspace, root: values.workspace.root }, profile }
			: { agent, workspace: values.workspace };
		const made = createAgent(settings, this.#options);
		this.#made.push(made);
		return made;
	}
}

function settingsOf({ agent, profiles }: Config): ReadonlyMap<string, Config["agent"]> {
	return new Map([
		[OWN, agent],
		...Object.entries(profiles).map(([name, profile]) => [name, profile.agent] as const),
	]);
}

/** What an agent is made of. The rest is the gateway's, which reads it at each turn. */
function partsOf(
	settings: Config["agent"],
): Omit<Config["agent"], "context_window" | "instructions" | "max_steps"> {
	const { context_window: _window, instructions: _instructions, max_steps: _steps, ...parts } = settings;
	return parts;
}

function changesModel(before: Config["agent"], after: Config["agent"]): boolean {
	const model = ({ kind, provider, model: name, base_url, api_key_env, api_key_file }: Config["agent"]) => [
		kind,
		provider,
		name,
		base_url,
		api_key_env,
		api_key_file,
	];
	return !isDeepStrictEqual(model(before), model(after));
}

/** One tiny question; answers what is wrong. Only a model can be asked without side effects. */
async function trial(agent: Agent): Promise<string | null> {
	if (agent.name !== "ai-sdk") return null;
	const found = await (agent as ModelAgent).check(AbortSignal.timeout(TRIAL_MS));
	return found.ok ? null : `${found.provider} ${found.model} did not answer: ${found.failure.detail}`;
}
