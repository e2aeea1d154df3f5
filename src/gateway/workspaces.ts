// Where an agent program and its tools work. Guards I10: only an id that Keryx made becomes the name of a directory.
import { accessSync, constants, mkdirSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Config } from "../config/index.ts";
import { KeryxError } from "../errors.ts";

export interface Workspaces {
	/** The conversation's directory; made if it is not there. Throws workspace.unusable. */
	of(conversation: string): string;
}

/** A conversation's, in the words of its profile. */
export interface Workspace {
	readonly folder: string;
	/** Of a directory that was there before Keryx, and that people use, too. */
	readonly fixed: boolean;
}

export interface ConversationPlace {
	readonly conversation: string;
	readonly profile: string;
}

/** Each is made when first used: a fixed one that cannot be used fails what needs it, not the start. */
export function workspaceFinder(
	config: Pick<Config, "workspace" | "profiles">,
	home: string,
): (place: ConversationPlace) => Workspace {
	const known = new Map<string, Workspaces>();
	return ({ conversation, profile }) => {
		const settings = (profile === "" ? undefined : config.profiles[profile]?.workspace) ?? config.workspace;
		const workspaces = known.get(profile) ?? createWorkspaces(settings, home);
		known.set(profile, workspaces);
		return { folder: workspaces.of(conversation), fixed: settings.mode === "fixed" };
	};
}

/** Paths are relative to Keryx's home. Throws for a fixed directory that cannot be used. */
export function createWorkspaces({ mode, path }: Config["workspace"], home: string): Workspaces {
	switch (mode) {
		case "per_conversation":
			if (path !== undefined) throw invalid("must be left out where workspace.mode is per_conversation");
			return { of: (conversation) => made(join(home, "workspaces", checkedId(conversation))) };
		case "shared": {
			const shared = resolve(home, path ?? "workspace");
			return { of: () => made(shared) };
		}
		case "fixed": {
			if (path === undefined) throw invalid("must name a directory where workspace.mode is fixed");
			const fixed = checked(resolve(home, path));
			return { of: () => checked(fixed) };
		}
	}
}

/** An id of ours is 32 hex digits; an imported one may be anything. */
function checkedId(conversation: string): string {
	if (/^[0-9a-f]{32}$/.test(conversation)) return conversation;
	throw new KeryxError("workspace.unusable", "this conversation's id is not one that Keryx made", {
		hint: "set workspace.mode to shared or fixed, or begin a new conversation",
	});
}

function made(folder: string): string {
	try {
		mkdirSync(folder, { recursive: true, mode: 0o700 });
	} catch (cause) {
		throw unusable(folder, cause);
	}
	return checked(folder);
}

function checked(folder: string): string {
	try {
		if (!statSync(folder).isDirectory()) throw new Error("it is not a directory");
		accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
		return folder;
	} catch (cause) {
		throw unusable(folder, cause);
	}
}

function unusable(folder: string, cause: unknown): KeryxError {
	const message = `the workspace ${folder} cannot be used: ${(cause as Error).message}`;
	return new KeryxError("workspace.unusable", message, { field: "workspace.path", cause });
}

function invalid(rule: string): KeryxError {
	return new KeryxError("config.invalid", `workspace.path ${rule}`, { field: "workspace.path" });
}
