// What can be wrong with a configuration, as data and as text.
import { KeryxError } from "../errors.ts";
import type { Origin } from "./settings.ts";

export interface ConfigProblem {
	readonly code: "config.unreadable" | "config.syntax" | "config.invalid";
	/** Without the place; `describeProblem` puts it in front. */
	readonly message: string;
	/** Dotted; absent for a problem of the file as a whole. */
	readonly key?: string;
	readonly suggestion?: string;
	readonly file?: string;
	readonly line?: number;
	readonly column?: number;
	readonly variable?: string;
}

/** `config.yaml:3:5: message`, or the variable's name in place of the file. */
export function describeProblem({ file, line, column, variable, message }: ConfigProblem): string {
	const where = variable ?? [file, line, column].filter((part) => part !== undefined).join(":");
	return where === "" ? message : `${where}: ${message}`;
}

export function describeOrigin(origin: Origin): string {
	switch (origin.kind) {
		case "default":
			return "default";
		case "file":
			return `${origin.file}:${origin.line}`;
		case "environment":
			return origin.variable;
	}
}

/** One error for all of them; its code is the first one's. */
export function configError(problems: readonly ConfigProblem[]): KeryxError {
	const [first] = problems;
	const code = first?.code ?? "config.invalid";
	const lines = problems.map(describeProblem);
	const message =
		lines.length === 1
			? lines.join()
			: `${lines.length} problems in the configuration:\n  ${lines.join("\n  ")}`;
	return new KeryxError(code, message, first?.key ? { field: first.key } : {});
}
