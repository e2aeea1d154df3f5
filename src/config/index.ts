// Configuration: config.yaml in Keryx's home, environment variables over it, defaults below.
// It is checked as a whole, and each problem names its file, line and remedy.
// Never here: acting on a setting.

export {
	APP_TOKEN_PLATFORMS,
	CHANNEL_PLATFORMS,
	type ChannelSettings,
	NOTICE_CLASSES,
} from "./channels/channels.ts";
export type { Network, NetworkField, NetworkSecret } from "./channels/network.ts";
export { isNetwork, NETWORK_PLATFORMS, NETWORKS, type NetworkPlatform } from "./channels/networks.ts";
export { type ConfigChange, compareConfig } from "./editing/change.ts";
export { editConfig, writeConfig, writtenValue } from "./editing/edit.ts";
export { EDITABLE_SETTINGS, type EditableSetting } from "./editing/editable.ts";
export { setInConfig } from "./editing/set.ts";
export { configFrom, givenView } from "./given.ts";
export { keryxHome } from "./home.ts";
export { listKeys } from "./keys.ts";
export { LiveConfig } from "./live.ts";
export {
	type ConfigCheck,
	type ConfigEntry,
	checkConfig,
	type Environment,
	type LoadedConfig,
	type LoadOptions,
	loadConfig,
} from "./load.ts";
export {
	type CommandMachine,
	type ContainerSettings,
	commandMachine,
	machineInWords,
	otherMachines,
	type SshSettings,
} from "./machines.ts";
export { type McpServerSettings, mcpServerNameSchema, mcpVariables } from "./mcp.ts";
export { baseUrlSchema, MODEL_PROVIDERS, type ModelProvider, USUAL_KEY_VARIABLES } from "./models.ts";
export { nearest } from "./nearest.ts";
export { type ConfigProblem, describeOrigin, describeProblem } from "./problems.ts";
export { type Connection, connections, ownPlatforms, unreached } from "./reach.ts";
export { authRules, CONFIG_KEYS, type Config, type ConfigInput } from "./schema.ts";
export { readSecretFile, writeSecretFile } from "./secret-file.ts";
export { hideSecretLike, hideVariablesIn } from "./secrets.ts";
export { resolvePolicy, type SessionReset, sessionResetSchema } from "./session-reset.ts";
export type { Origin } from "./settings.ts";
export { type ConfigView, createConfigView, type ShownEntry, shownEntries } from "./view.ts";
export { type ConfigWatch, type WatchClock, type WatchOptions, watchConfig } from "./watch.ts";
