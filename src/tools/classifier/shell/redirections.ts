// Converts redirections to opened files and the program's standard input.
import type { Redirection as RedirectionNode } from "unbash";
import { unknownField } from "../field.ts";
import { UNKNOWN } from "../text.ts";
import type { Redirection, Stdin } from "../types.ts";
import type { Value } from "./scope.ts";
import { partValues, type Reading, wordValues } from "./words.ts";

export function readRedirections(
	nodes: readonly RedirectionNode[],
	inherited: Stdin,
	reading: Reading,
): { redirections: Redirection[]; stdin: Stdin } {
	const redirections: Redirection[] = [];
	let stdin = inherited;
	for (const node of nodes) {
		const given = node.descriptor?.type === "FileDescriptor" ? node.descriptor.value : undefined;
		const isInput = node.descriptor === undefined || given === 0;
		if (node.type === "HereDoc" || node.type === "HereString") {
			if (isInput) stdin = textStdin(textsOf(node, reading));
			continue;
		}
		const usual = node.operator.startsWith("<") ? 0 : 1;
		const descriptor = node.descriptor ? (given ?? null) : usual;
		const values: Value[] = node.target ? wordValues(node.target, reading) : [unknownField([], false)];
		for (const { text, from } of values) {
			const glob = /[*?[]/.test(text);
			redirections.push({ operator: node.operator, descriptor, target: { text, from, splits: false, glob } });
		}
		const target = redirections.at(-1)?.target;
		if (!target || !isInput) continue;
		if (node.operator === "<" || node.operator === "<>") stdin = { kind: "file", path: target };
		// Another descriptor, opened somewhere else.
		if (node.operator === "<&" && target.text !== "-")
			stdin = { kind: "file", path: unknownField([], false) };
	}
	return { redirections, stdin };
}

function textsOf(
	node: Extract<RedirectionNode, { type: "HereDoc" | "HereString" }>,
	reading: Reading,
): Value[] {
	if (node.type === "HereString")
		return node.target ? wordValues(node.target, reading) : [unknownField([], false)];
	const { parts, text } = node.body;
	return parts ? partValues(parts, reading) : [{ text, from: [] }];
}

function textStdin(values: readonly Value[]): Stdin {
	const [only, more] = values;
	const from = values.flatMap((value) => value.from);
	return { kind: "text", text: only && !more ? only.text : UNKNOWN, from };
}
