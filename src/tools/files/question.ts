// Whether a file call needs approval: the classifier judges the equivalent command. So a path with keys, with programs that run later, or
// of Keryx asks however it is used, and readonly mode refuses writes.
import { KeryxError } from "../../errors.ts";
import { turnOf, unwalledReason } from "../call-wall.ts";
import { commandQuestion } from "../command-question.ts";
import type { ConfirmationQuestion, ToolCaller } from "../types.ts";
import type { FileToolsOptions } from "./helper.ts";

/** `cat` represents reading, `grep` searching, `ls` listing, `tee` writing. */
export type LikeCommand = "cat" | "grep -r x" | "ls" | "tee";

const ACTIONS: Readonly<Record<LikeCommand, string>> = {
	cat: "read_file",
	"grep -r x": "find_in_files",
	ls: "list_files",
	tee: "write_file",
};

/** Also null for a call that fails anyway. */
export async function fileQuestion(
	options: FileToolsOptions,
	{ like, path }: { readonly like: LikeCommand; readonly path: string },
	caller: ToolCaller,
): Promise<ConfirmationQuestion | null> {
	try {
		const cwd = options.workspaceOf(turnOf(caller));
		const wall = await options.wallOf(turnOf(caller));
		if (wall.run === "refused") return null;
		const asked = commandQuestion(
			`${like} ${quoted(plainPath(path))}`,
			{ ...options.facts, cwd },
			{ mode: options.mode(), unwalled: unwalledReason(wall), subject: "This call" },
		);
		return asked?.action === "run_command" ? { ...asked, action: ACTIONS[like] } : asked;
	} catch (error) {
		if (error instanceof KeryxError) return null;
		throw error;
	}
}

/** Never an option, whatever it starts with. */
export function plainPath(path: string): string {
	return path.startsWith("/") ? path : `./${path}`;
}

function quoted(word: string): string {
	return `'${word.replaceAll("'", "'\\''")}'`;
}
