// Process settings from the configuration.
import type { Config } from "../config/index.ts";
import type { ProcessSettings } from "./registry.ts";

const MEBIBYTE = 1024 * 1024;

export function processSettings({ processes }: Pick<Config, "processes">): ProcessSettings {
	return {
		maxRunning: processes.max_running,
		maxPerConversation: processes.max_per_conversation,
		maxLogBytes: processes.max_log_mb * MEBIBYTE,
		keepDays: processes.keep_days,
		onShutdown: processes.on_shutdown,
	};
}
