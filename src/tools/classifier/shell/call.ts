// One command with its words, on the way to an invocation that rules can look at.
import { baseName, isKnown } from "../field.ts";
import { isDownload } from "../launch/index.ts";
import type { EnvironmentChange, Field, Invocation, Redirection, Stdin } from "../types.ts";
import { assignedVariables } from "./builtins.ts";

export interface Call {
	readonly words: readonly Field[];
	readonly sets: readonly EnvironmentChange[];
	readonly redirections: readonly Redirection[];
	readonly stdin: Stdin;
	readonly many: boolean;
	readonly segment: string;
}

type Made =
	| { readonly kind: "invocation"; readonly invocation: Invocation }
	/** The name of the program is empty. */
	| { readonly kind: "nothing" }
	| { readonly kind: "unseen"; readonly class: "unseen" | "download" };

export function invocationOf(call: Call, cwd: string | null): Made {
	const { words, ...rest } = call;
	const [first, ...args] = words;
	const path = first?.text ?? "";
	// zsh replaces =name with the program's path.
	if (first && (!isKnown(path) || first.splits || first.glob || path.startsWith("=")))
		return { kind: "unseen", class: isDownload(first.from) ? "download" : "unseen" };
	if (first && path === "") return { kind: "nothing" };
	const name = baseName(path).toLowerCase();
	const sets = [...call.sets, ...assignedVariables(name, args, call.stdin, call.sets)];
	return { kind: "invocation", invocation: { ...rest, name, path, args, sets, cwd } };
}
