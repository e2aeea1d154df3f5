// Never saved, whatever a project's .gitignore says: by name, in every folder.
import { FACTS } from "./facts.ts";
import { isGit } from "./names.ts";

/** Why something in the workspace is not in a snapshot. */
export type ExcludeReason = "built_in" | "gitignore" | "too_large" | "special" | "unreadable";

export const REASONS: readonly ExcludeReason[] = [
	"built_in",
	"gitignore",
	"too_large",
	"special",
	"unreadable",
];

/** Reproducible files, and files with secrets. */
export const EXCLUDED_FOLDERS: readonly string[] = [
	"node_modules",
	"dist",
	"build",
	".cache",
	".turbo",
	".parcel-cache",
	".gradle",
	".next",
	".nuxt",
	"__pycache__",
	".pytest_cache",
	".mypy_cache",
	".ruff_cache",
	".tox",
	".nox",
	"venv",
	".venv",
	"virtualenv",
];

/** A restore's drafts; an interrupted one leaves them behind. */
export const DRAFT_PREFIX = ".keryx-restore-";

const FOLDERS = new Set(EXCLUDED_FOLDERS);

/** By name alone; `folder`: the name is a folder's. */
export function isExcluded(name: string, folder: boolean): boolean {
	if (name.startsWith(".")) {
		if (isGit(name) || name.startsWith(".env") || name.startsWith(DRAFT_PREFIX) || name === FACTS)
			return true;
	}
	return folder ? FOLDERS.has(name) : name.endsWith(".log");
}
