// What a wall is, described by its caller, and what is known of the machine it stands on. Argument lists follow from these two alone.

/**
 * view: everything is readable, only the workspace and `write` are writable. mask: the machine as it is, without Keryx. box: the
 * system's programs, the workspace, and nothing else save `read` and `write`.
 */
export type WallKind = "view" | "mask" | "box";

/**
 * host: the machine's own network. none: a loopback of its own, with nobody on it. hosts: the same in a box, with a proxy there that
 * reaches the wall's `hosts` and nothing else.
 */
export type WallNetwork = "host" | "none" | "hosts";

/** All paths are absolute and real: no link in them, and none at their end. */
export interface Wall {
	readonly kind: WallKind;
	/** Keryx's home. It is hidden by every path that leads to it, and the folders above it cannot be renamed. */
	readonly home: string;
	readonly workspace: string;
	/** The workspace can be read and not written, for modes in which nothing may change. */
	readonly isWorkspaceReadonly?: boolean;
	/** Shown as /tmp: one folder per conversation. Null: an empty one that ends with the program. */
	readonly tmp: string | null;
	/** Further folders or files that can be read; matters in a box. */
	readonly read: readonly string[];
	/** Further folders or files that can be written. */
	readonly write: readonly string[];
	/** Hidden like the home; those that do not exist are passed over. */
	readonly hide: readonly string[];
	/** Read-only wherever they can be seen, and their parents cannot be renamed: what the gateway itself runs. */
	readonly protect: readonly string[];
	/** Stay where they are, with the folders above them, wherever they could be written: what another wall shows by these paths. */
	readonly keep?: readonly string[];
	/** Names below /dev that are passed on where they exist, as kvm or dri. */
	readonly devices: readonly string[];
	readonly network: WallNetwork;
	/** What the proxy reaches: `example.org`, `*.example.org`, with `:port` for another port than 80 and 443. */
	readonly hosts?: readonly string[];
	/** Allows Unix sockets: docker, tmux and agents then work, and each of them is a way around the wall. */
	readonly hasUnixSockets: boolean;
	/** admin: for root alone, eight capabilities in view and mask, so that chown, `apt install` and `su` work. */
	readonly privileges: "none" | "admin";
	/** The program goes on when its starter dies; otherwise it ends with it. */
	readonly outlivesStarter: boolean;
	readonly limits: WallLimits;
}

export interface WallLimits {
	/** Open files of each process. */
	readonly openFiles: number | null;
	/** Bytes of data of each process; what several use together is not bounded by it. */
	readonly memoryBytes: number | null;
}

/** A path that is covered: a folder by an empty one that cannot be written, a file by nothing. */
export interface HiddenPath {
	readonly path: string;
	readonly kind: "folder" | "file";
}

/** What is read of the machine once; see `readMachine`. */
export interface Machine {
	/** Absolute, from folders of the system alone: one found by PATH could be the agent's own. */
	readonly bwrap: string;
	/** bubblewrap 0.8 and newer. Without it the seccomp program alone refuses nested user namespaces. */
	readonly canDisableUserns: boolean;
	/** Binds an open folder, so that nobody can exchange it after it was checked. */
	readonly canBindDescriptors: boolean;
	/** GNU env: it can ignore signals for the launcher and restore them for the program. */
	readonly env: string;
	readonly shell: string;
	/** /bin, /lib and so on: where each links to, or null for a folder. */
	readonly systemFolders: readonly { readonly path: string; readonly link: string | null }[];
	/** What a box shows of /etc: only what everybody may read. */
	readonly etc: { readonly files: readonly string[]; readonly folders: readonly string[] };
}
