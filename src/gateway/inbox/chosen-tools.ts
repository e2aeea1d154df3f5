// The tools that turns may use. Chosen once for all turns with the same facts, until the tools or the configuration change: a choice costs
// more than the rest of a short turn's prompt.
import type { ToolSpec } from "../../agents/index.ts";
import type { Config } from "../../config/index.ts";
import type { Standing } from "../../domain/index.ts";
import type { ToolRegistry } from "../../tools/index.ts";
import { toolsFor } from "./profiles.ts";

/** Every job may have a list of its own. */
const MOST_CHOICES = 100;

export interface ToolFacts {
	readonly profile: string;
	readonly platform: string;
	readonly role: Standing;
	/** A job's own list; null: all that the others allow. */
	readonly only: readonly string[] | null;
}

interface Choice {
	readonly names: ReadonlySet<string>;
	readonly list: readonly string[];
	readonly specs: readonly ToolSpec[];
}

export class ChosenTools {
	readonly #tools: ToolRegistry;
	readonly #config: () => Config;
	readonly #choices = new Map<string, Choice>();
	/** What the choices were made from. */
	#names: readonly string[] = [];
	#of: Config | null = null;

	/** `config` is read per call: it may change. */
	constructor(tools: ToolRegistry, config: () => Config) {
		this.#tools = tools;
		this.#config = config;
	}

	/** What it has is decided at each use: messages that join a turn later must be allowed by the current configuration, too. */
	for(facts: ToolFacts): ToolRegistry {
		const { profile, platform, role, only } = facts;
		const key = JSON.stringify([profile, platform, role, only]);
		const choice = () => this.#choice(key, facts);
		return {
			get names() {
				return choice().list;
			},
			get specs() {
				return choice().specs;
			},
			find: (name) => (choice().names.has(name) ? this.#tools.find(name) : undefined),
		};
	}

	#choice(key: string, { only, ...facts }: ToolFacts): Choice {
		const config = this.#config();
		const { names, specs } = this.#tools;
		if (names !== this.#names || config !== this.#of || this.#choices.size > MOST_CHOICES)
			this.#choices.clear();
		this.#names = names;
		this.#of = config;
		const known = this.#choices.get(key);
		if (known) return known;
		const list = toolsFor(names, config, facts).filter((name) => only?.includes(name) ?? true);
		const chosen = new Set(list);
		const choice = { names: chosen, list, specs: specs.filter(({ name }) => chosen.has(name)) };
		this.#choices.set(key, choice);
		return choice;
	}
}
