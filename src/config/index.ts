// Configuration: config.yaml in Keryx's home, environment variables over it, defaults below.

export { listKeys } from "./keys.ts";
export {
	type ConfigCheck,
	type ConfigEntry,
	checkConfig,
	type Environment,
	keryxHome,
	type LoadedConfig,
	type LoadOptions,
	loadConfig,
} from "./load.ts";
export { nearest } from "./nearest.ts";
export { type ConfigProblem, describeOrigin, describeProblem } from "./problems.ts";
export { CONFIG_KEYS, type Config } from "./schema.ts";
export { hideSecretLike } from "./secrets.ts";
export type { Origin } from "./settings.ts";
