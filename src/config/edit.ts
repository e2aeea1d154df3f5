// Changing config.yaml as a person would: only the keys that change are touched, comments and order stay.

import { renameSync, writeFileSync } from "node:fs";
import { type Document, isMap, parseDocument } from "yaml";
import { KERYX } from "../called.ts";
import { KeryxError } from "../errors.ts";

/** Dotted keys and their new values; undefined takes a key out. The text must be right YAML, or empty. */
export function editConfig(text: string, changes: Readonly<Record<string, unknown>>): string {
	const document: Document = parseDocument(text);
	document.contents ??= document.createNode({});
	if (document.errors.length > 0 || !isMap(document.contents))
		throw new KeryxError("config.syntax", "config.yaml is not valid YAML, so it was not changed", {
			hint: `run \`${KERYX} config check\`, correct it, then try again`,
		});
	for (const [key, value] of Object.entries(changes)) {
		const path = key.split(".");
		if (value !== undefined) document.setIn(path, value);
		else if (document.hasIn(path)) document.deleteIn(path);
	}
	return document.toString({ lineWidth: 0 });
}

/** Beside and renamed: a crash leaves the old one or the new one, and a Keryx that runs takes it at once. */
export function writeConfig(file: string, text: string): void {
	const replacement = `${file}.new`;
	writeFileSync(replacement, text, { mode: 0o600 });
	renameSync(replacement, file);
}
