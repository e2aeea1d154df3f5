// The classifier's types: input, output, and what rules look at.

/** Where the command would run. Absolute paths. */
export interface CommandFacts {
	readonly keryxHome: string;
	/** The folder that Keryx's own program is installed in. */
	readonly keryxProgram: string;
	readonly home: string;
	readonly cwd: string;
}

export type CommandAction =
	| "delete_data"
	| "deploy_production"
	| "exec_remote"
	| "migrate_database"
	| "modify_permissions"
	| "publish_package"
	| "run_command"
	| "shutdown_service"
	| "wipe_database";

export type CommandClass =
	| "bomb"
	| "code"
	| "credentials"
	| "database"
	| "delete"
	| "disk"
	| "download"
	| "environment"
	| "history"
	| "infrastructure"
	| "keryx"
	| "limit"
	| "network"
	| "packages"
	| "permissions"
	| "persistence"
	| "privilege"
	| "publish"
	| "remote"
	| "stop"
	| "syntax"
	| "system"
	| "traces"
	| "unseen"
	| "upload";

/** Approval of these is valid for one command: no grant covers the next. */
export const ONCE_ONLY: ReadonlySet<CommandClass> = new Set([
	"keryx",
	"credentials",
	"privilege",
	"download",
	"unseen",
	"persistence",
]);

export interface DangerReason {
	readonly class: CommandClass;
	readonly action: CommandAction;
	/** The part of the command it is about, on one line, at most 200 characters. */
	readonly segment: string;
	/** A short sentence for a human. */
	readonly why: string;
}

export type CommandVerdict =
	/** It only reads. */
	| { readonly kind: "harmless" }
	/** It changes things, as normal work does. */
	| { readonly kind: "ordinary" }
	/** A human is asked; there is at least one reason. */
	| { readonly kind: "dangerous"; readonly reasons: readonly DangerReason[] };

/** One word as the program would get it. UNKNOWN, SOME and BELOW replace pieces that cannot be seen. */
export interface Field {
	readonly text: string;
	/** It may become several words: an unquoted unseen piece. */
	readonly splits: boolean;
	/** It holds a pattern that the shell replaces by file names. */
	readonly glob: boolean;
	/** The commands whose output is in it. */
	readonly from: readonly string[];
}

export interface Redirection {
	readonly operator: string;
	/** Which descriptor of the program it is about; null when it is given by a variable. */
	readonly descriptor: number | null;
	readonly target: Field;
}

export interface EnvironmentChange {
	readonly name: string;
	readonly value: Field;
}

/** A program's standard input. */
export type Stdin =
	| { readonly kind: "inherited" }
	| { readonly kind: "text"; readonly text: string; readonly from: readonly string[] }
	| { readonly kind: "file"; readonly path: Field }
	/** Each of its lines looks like `each`; null when nothing is known of them. */
	| { readonly kind: "pipe"; readonly from: readonly string[]; readonly each: string | null };

/** One program or builtin with its words; a bare assignment or redirection has the empty name. */
export interface Invocation {
	/** Without its folder, in lower case: some file systems take any case. */
	readonly name: string;
	/** After quotes and variables. */
	readonly path: string;
	readonly args: readonly Field[];
	readonly sets: readonly EnvironmentChange[];
	readonly redirections: readonly Redirection[];
	readonly stdin: Stdin;
	/** Null when it cannot be known. */
	readonly cwd: string | null;
	/** It runs once for each of many inputs (xargs, find -exec). */
	readonly many: boolean;
	readonly segment: string;
}

export interface Finding {
	readonly why: string;
	/** When it is another one than the rule's. */
	readonly action?: CommandAction;
	readonly class?: CommandClass;
}

export interface Rule {
	readonly class: CommandClass;
	readonly action: CommandAction;
	look(invocation: Invocation, facts: CommandFacts): Finding | null;
}
