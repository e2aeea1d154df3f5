// The agents that answer: Keryx's own and those of profiles. They follow the configuration while Keryx runs, from the next turn on. A changed
// model must answer once before it is used; otherwise the previous one stays, and the operator is warned. A removed profile
// keeps its agent until a restart, for messages that still wait for it.
import { isDeepStrictEqual } from "node:util";
import type { Agent, ModelAgent } from "../agents/index.ts";
import type { Config } from "../config/index.ts";
import { type AgentParts, type AgentSettings, createAgent } from "./agent.ts";
import { wordsOf } from "./report/report.ts";

/** How long a changed model has for its one answer. */
const TRIAL_MS = 60_000;
/** Keryx's own agent, in addition to those of profiles. */
const OWN = "";

export interface AgentsOptions extends AgentParts {
	readonly config: Config;
	/** Agents brought by a program: they stay, whatever the configuration says. */
	readonly given: { readonly agent: Agent | undefined; readonly profiles: Readonly<Record<string, Agent>> };
}

export interface Answering {
	/** "": Keryx's own. */
	readonly profile: string;
	/** By its name: offline, ai-sdk, acp, scripted, or what a program brought. */
	readonly agent: string;
	/** Its settings; null for one provided by a program. */
	readonly settings: Config["agent"] | null;
}

interface Held {
	readonly agent: Agent;
	readonly settings: Config["agent"];
}

export class Agents {
	readonly #options: AgentsOptions;
	/** In force, by profile. */
	readonly #held = new Map<string, Held>();
	/** All created agents, to close at the end: a replaced one may have a turn to finish. */
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

	/** The agent of a profile; null if there is no such profile. */
	answering(profile: string): Answering | null {
		const held = this.#held.get(profile);
		if (!held) return null;
		const { agent, settings } = held;
		return { profile, agent: agent.name, settings: agent.name === settings.kind ? settings : null };
	}

	/** Keryx's own first. */
	allAnswering(): readonly Answering[] {
		return [...this.#held.keys()].flatMap((profile) => this.answering(profile) ?? []);
	}

	/** The configuration with the agents in use instead of those it names. A profile without an agent is left out. */
	inForce(values: Config): Config {
		const held = (settings: Config["agent"], { settings: inForce }: Held) => ({
			...settings,
			...partsOf(inForce),
		});
		return {
			...values,
			agent: held(values.agent, this.#held.get(OWN) as Held),
			profiles: Object.fromEntries(
				Object.entries(values.profiles).flatMap(([name, profile]) => {
					const has = this.#held.get(name);
					return has ? [[name, { ...profile, agent: held(profile.agent, has) }]] : [];
				}),
			),
		};
	}

	/** Takes what answers, each as soon as it has, and calls `taken` then; tells what does not. */
	async follow(
		values: Config,
		{ tell, taken }: { readonly tell: (text: string) => void; readonly taken: () => Promise<void> },
	): Promise<void> {
		const change = ++this.#changes;
		const changed = [...settingsOf(values)].filter(
			([profile, settings]) =>
				!isDeepStrictEqual(partsOf(this.#held.get(profile)?.settings), partsOf(settings)),
		);
		await Promise.all(
			changed.map(async ([profile, settings]) => {
				const { agent, problem } = await this.#tried(profile, settings, values);
				if (change !== this.#changes) return;
				if (problem !== null) tell(`config.yaml: ${this.#notTaken(profile, agent !== null)}: ${problem}`);
				if (agent === null) return;
				this.#held.set(profile, { agent, settings });
				await taken();
			}),
		);
	}

	#notTaken(profile: string, isTaken: boolean): string {
		const name = profile === OWN ? "agent" : `profiles.${profile}.agent`;
		if (isTaken) return `${name} is new and does not answer yet`;
		return this.#held.has(profile)
			? `${name} was not accepted, so the previous one stays`
			: `${name} was not accepted, so there is no profile ${profile} yet`;
	}

	/** Without an agent it is not used. A new profile has no previous agent to keep: its agent is used as it is. */
	async #tried(
		profile: string,
		settings: Config["agent"],
		values: Config,
	): Promise<{ readonly agent: Agent | null; readonly problem: string | null }> {
		const before = this.#held.get(profile)?.settings;
		try {
			const agent = this.#make(profile, settings, values);
			const fresh = modelsOf(settings).filter(
				(one) => !modelsOf(before).some((old) => isDeepStrictEqual(old, one)),
			);
			const problems = await Promise.all(
				fresh.map((model) => trial(this.#make(profile, { ...settings, ...model, failover: [] }, values))),
			);
			const problem = problems.find((one) => one !== null) ?? null;
			return { agent: problem !== null && before ? null : agent, problem };
		} catch (error) {
			return { agent: null, problem: wordsOf(error) };
		}
	}

	/** Programs kept for the next turn. An injected agent is closed by its owner. */
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

/** The settings that create an agent. The gateway reads the rest at each turn. */
function partsOf(settings: Config["agent"] | undefined): Partial<Config["agent"]> {
	const {
		context_window: _window,
		instructions: _instructions,
		max_steps: _steps,
		...parts
	} = settings ?? {};
	return parts;
}

/** The models to test: the model itself and its fallbacks, each with all of its keys. */
function modelsOf(settings: Config["agent"] | undefined) {
	if (settings?.kind !== "ai-sdk") return [];
	return [settings, ...settings.failover].map(({ provider, model, base_url, api_key_env, api_key_file }) => ({
		provider,
		model,
		base_url,
		api_key_env,
		api_key_file,
	}));
}

/** One tiny question; answers what is wrong. Only a model can be asked without side effects. */
async function trial(agent: Agent): Promise<string | null> {
	if (agent.name !== "ai-sdk") return null;
	const found = await (agent as ModelAgent).check(AbortSignal.timeout(TRIAL_MS));
	return found.ok ? null : `${found.provider} ${found.model} did not answer: ${found.failure.detail}`;
}
