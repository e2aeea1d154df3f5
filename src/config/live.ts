// The configuration in force, in one place for everything that runs in a process: two that follow the file by themselves would
// disagree on what waits for a restart. Parts that live as long as the gateway ask here each time; what has begun, such as a turn,
// goes on with what it began with.
import { compareConfig } from "./editing/change.ts";
import type { Config } from "./schema.ts";

export class LiveConfig {
	#values: Config;
	/** As last written, with what waits for a restart. */
	#wanted: Config;

	constructor(config: Config) {
		this.#values = config;
		this.#wanted = config;
	}

	get values(): Config {
		return this.#values;
	}

	/** Answers the keys that are other than they were last written, and those that wait for a restart. */
	change(config: Config): { readonly keys: readonly string[]; readonly restart: readonly string[] } {
		const { keys } = compareConfig(this.#wanted, config);
		const { restart, values } = compareConfig(this.#values, config);
		this.#wanted = config;
		this.#values = values;
		return { keys, restart };
	}
}
