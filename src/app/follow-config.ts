// Tells a gateway that runs of each change of config.yaml, and its operator of what came of it.
import { KERYX } from "../called.ts";
import {
	type Config,
	type ConfigWatch,
	type Connection,
	describeProblem,
	type Environment,
	type LoadedConfig,
	unreached,
	type WatchClock,
	watchConfig,
} from "../config/index.ts";
import type { Gateway } from "../gateway/index.ts";
import type { Secrets } from "../secrets/index.ts";
import type { Report } from "./report/report.ts";

export interface FollowOptions {
	readonly home: string;
	readonly env: Environment;
	readonly atStart?: LoadedConfig;
	readonly gateway: Pick<Gateway, "reconfigure" | "refuseConfig" | "holdConfig">;
	/** Learns what the file names, however the rest of it is. */
	readonly secrets: Pick<Secrets, "learn">;
	readonly output: Pick<Report, "warn">;
	readonly clock?: WatchClock;
	/** Platforms that the program brings channels for. */
	readonly given?: readonly Connection[];
	/** Called once a change is in effect, with the changed keys. */
	changed?(values: Config, keys: readonly string[]): Promise<void>;
}

export function followConfig({
	gateway,
	secrets,
	output,
	changed,
	given,
	...watched
}: FollowOptions): ConfigWatch {
	const notRecorded = (error: unknown) =>
		output.warn(`a change to config.yaml could not be recorded: ${(error as Error).message}`);
	return watchConfig({
		...watched,
		onSecrets: (values) => secrets.learn(values),
		onChange: ({ values, warnings }) => {
			for (const warning of [...warnings, ...unreached(values, given)]) output.warn(warning);
			const applied = gateway.reconfigure(values).then(async ({ keys, restart }) => {
				const waiting = keys.filter((key) => restart.includes(key));
				if (waiting.length > 0)
					output.warn(`config.yaml: ${waiting.join(", ")} takes effect after a restart`);
				await changed?.(values, keys);
			});
			applied.catch(notRecorded);
		},
		onProblem: (problems) => {
			const [first] = problems;
			if (!first) return;
			const { key, line } = first;
			const more = problems.length - 1;
			const others = more === 0 ? "" : ` (and ${more} more: \`${KERYX} config check\`)`;
			output.warn(
				`config.yaml was not accepted, so the last good version stays in use: ${describeProblem(first)}${others}`,
			);
			gateway.refuseConfig({ ...(key && { key }), ...(line && { line }) }).catch(notRecorded);
		},
		onHold: (sections) => {
			output.warn(
				`config.yaml no longer has ${sections.join(" and ")}: this takes effect in 5 seconds unless the file changes before then`,
			);
			gateway.holdConfig(sections).catch(notRecorded);
		},
	});
}
