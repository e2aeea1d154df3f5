// The current configuration, shared by everything in a process: two followers of the file would disagree on what waits for a restart.
// Long-lived parts read it each time; started work, such as a turn, keeps its values.
import { compareConfig } from "./editing/change.ts";
import type { Config } from "./schema.ts";

export class LiveConfig {
	#values: Config;
	/** As last written, including what needs a restart. */
	#wanted: Config;

	constructor(config: Config) {
		this.#values = config;
		this.#wanted = config;
	}

	get values(): Config {
		return this.#values;
	}

	/** Returns the keys that changed since the last write, and those that need a restart. */
	change(config: Config): { readonly keys: readonly string[]; readonly restart: readonly string[] } {
		const { keys } = compareConfig(this.#wanted, config);
		const { restart, values } = compareConfig(this.#values, config);
		this.#wanted = config;
		this.#values = values;
		return { keys, restart };
	}
}
