// write_file and edit_file. A file is replaced completely or not at all; an edit is applied to what the helper has just read, and refused
// if the file changed in between.
import { z } from "zod";
import { bytesInWords, counted } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import { turnOf } from "../call-wall.ts";
import { defineTool, type Tool, type ToolCaller } from "../types.ts";
import { applyEdits, type Edited } from "./edits.ts";
import { type FileToolsOptions, problemOf, runHelper } from "./helper.ts";
import { fileQuestion, plainPath } from "./question.ts";
import { pathSchema } from "./reading.ts";
import { PUT } from "./scripts.ts";
import { decodeFile, type Encoding, encodeFile } from "./text.ts";

const MOST_TEXT = 1_000_000;
const MOST_EDITED = 4 * 1024 * 1024;

const writeInput = z.object({
	path: pathSchema.describe("in your workspace; folders are made as needed"),
	content: z.string().max(MOST_TEXT).describe("all of the file, as UTF-8"),
});

export function createWriteTool(options: FileToolsOptions): Tool {
	return defineTool({
		name: "write_file",
		description:
			"Write a whole text file: a new one, or in place of what is there. To change parts of a file use edit_file.",
		input: writeInput,
		repeatable: false,
		confirmation: ({ path }, caller) => fileQuestion(options, { like: "tee", path }, caller),
		changesFiles: (_, caller) => hasCheckpoints(options, caller),
		async run({ path, content }, context) {
			const text = Buffer.from(content);
			const { answer, stored } = await runHelper(
				options,
				{
					shown: `write_file ${path}`,
					script: PUT,
					args: [plainPath(path), "write", "0"],
					reply: () => framed(text),
				},
				context,
			);
			if ("problem" in answer) return problemOf(path, answer.problem, stored);
			const how = answer.facts[0] === "created" ? "Created" : "Replaced";
			return { content: `${how} ${path} (${bytesInWords(text.length)}).`, stored };
		},
	});
}

const editInput = z.object({
	path: pathSchema,
	edits: z
		.array(
			z.object({
				old: z.string().min(1).max(MOST_TEXT).describe("exact text, without line numbers; must occur once"),
				new: z.string().max(MOST_TEXT),
				all: z.boolean().default(false).describe("replace every occurrence"),
			}),
		)
		.min(1)
		.max(200)
		.describe("made in this order, each on the result of the one before; if one fails, none is made"),
});

export function createEditTool(options: FileToolsOptions): Tool {
	return defineTool({
		name: "edit_file",
		description:
			"Replace exact pieces of text in a file, several at once. All edits are made, or none. Keeps the file's encoding and line endings.",
		input: editInput,
		repeatable: false,
		confirmation: ({ path }, caller) => fileQuestion(options, { like: "tee", path }, caller),
		changesFiles: (_, caller) => hasCheckpoints(options, caller),
		async run({ path, edits }, context) {
			let made: (Edited & { readonly encoding: Encoding }) | { readonly problem: string } | null = null;
			const { answer, stored } = await runHelper(
				options,
				{
					shown: `edit_file ${path}`,
					script: PUT,
					args: [plainPath(path), "edit", String(MOST_EDITED)],
					reply: ({ data }) => {
						const before = decodeFile(data);
						if (before === null) {
							made = { problem: "it is not a text file in one known encoding. Use the terminal." };
							return null;
						}
						const { encoding } = before;
						const edited = applyEdits(before.text, edits);
						made = "problem" in edited ? edited : { ...edited, encoding };
						if ("problem" in edited) return null;
						const bytes = encodeFile({ text: edited.text, encoding });
						if (bytes === null)
							made = { problem: `the file is ${encoding}, which cannot hold a character of the new text.` };
						return bytes && framed(bytes);
					},
				},
				context,
			);
			const edited = made as (Edited & { readonly encoding: Encoding }) | { readonly problem: string } | null;
			if (edited && "problem" in edited)
				return problemOf(path, `${edited.problem} Nothing was changed.`, stored);
			if ("problem" in answer) return problemOf(path, answer.problem, stored);
			if (edited === null) return problemOf(path, "the file could not be read. Nothing was changed.", stored);
			const at = edited.lines.length === 0 ? "" : ` Line ${edited.lines.join(", ")}.`;
			const note = edited.encoding === "utf-8" ? "" : ` The file is still ${edited.encoding}.`;
			return { content: `Changed ${path}: ${counted(edited.replaced, "replacement")}.${at}${note}`, stored };
		},
	});
}

function framed(bytes: Buffer): Buffer {
	return Buffer.concat([Buffer.from(`${bytes.length}\n`), bytes]);
}

/** An unusable workspace fails the call, and one elsewhere has no checkpoints. */
function hasCheckpoints(options: FileToolsOptions, caller: ToolCaller): boolean {
	try {
		options.workspaceOf(turnOf(caller));
		return options.isCovered?.(turnOf(caller)) ?? true;
	} catch (error) {
		if (error instanceof KeryxError) return false;
		throw error;
	}
}
