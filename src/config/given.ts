// A configuration that a program passes as an object, instead of config.yaml.
import { checkConfig, type Environment, type LoadedConfig } from "./load.ts";
import { configError } from "./problems.ts";
import type { ConfigInput } from "./schema.ts";
import { hidingNames } from "./secrets.ts";
import { type ConfigView, shownEntries, shownTo } from "./view.ts";

/** Replaces the file name in a value's origin. */
const SOURCE = "createKeryx";

/**
 * Checked like a file, with defaults for the rest. `env` holds the variables it names; KERYX_ variables are ignored, because the program
 * decides. Relative names of key files are looked for in the home.
 */
export function configFrom(values: ConfigInput, env: Environment, home: string): LoadedConfig {
	const named = Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith("KERYX_")));
	const { config, problems } = checkConfig({
		home,
		env: named,
		// JSON is YAML.
		text: JSON.stringify(values),
		file: SOURCE,
	});
	if (!config) throw configError(problems.map(({ line: _line, column: _column, ...problem }) => problem));
	return config;
}

/** For display: the program's values stay in force. */
export function givenView(config: LoadedConfig, env: Environment): ConfigView {
	return {
		look: (reader) => {
			const { warnings, secretNames } = config;
			const shown = { file: undefined, problems: [], warnings, entries: shownEntries(config) };
			return shownTo(reader, shown, secretNames);
		},
		hideNames: hidingNames(config.secretNames),
		check: (text) => {
			const { problems, warnings } = checkConfig({ home: "", env, text });
			return { problems, warnings };
		},
	};
}
