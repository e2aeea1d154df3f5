// The file tools, which work where the terminal works.
// Helpers that run behind the turn's wall read and write for them.
// Never here: reading a workspace in this process.

import type { Tool } from "../types.ts";
import type { FileToolsOptions } from "./helper.ts";
import { createFindTool, createListTool, createReadTool } from "./reading.ts";
import { createEditTool, createWriteTool } from "./writing.ts";

export type { FileToolsOptions };

export function createFileTools(options: FileToolsOptions): readonly Tool[] {
	return [createReadTool, createWriteTool, createEditTool, createListTool, createFindTool].map((create) =>
		create(options),
	);
}
