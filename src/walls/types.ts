// A wall as described by its caller, and the facts about its machine. Arguments follow from these two alone.

/**
 * view: everything is readable, only the workspace and `write` are writable. mask: the machine as it is, without Keryx. box: the system's
 * programs, the workspace, `read` and `write`, and nothing else.
 */
export type WallKind = "view" | "mask" | "box";

/**
 * host: the machine's network. none: an empty loopback. hosts: the same in a box, with a proxy that reaches only the wall's `hosts`. own:
 * in a box, a separate network that pasta connects to the machine's, without the machine's loopback.
 */
export type WallNetwork = "host" | "none" | "hosts" | "own";

/** All paths are absolute and real: without links. */
export interface Wall {
	readonly kind: WallKind;
	/** Keryx's home. Hidden by every path that leads to it; the folders above it cannot be renamed. */
	readonly home: string;
	readonly workspace: string;
	/** The workspace is read-only, for modes in which nothing may change. */
	readonly isWorkspaceReadonly?: boolean;
	/** Shown as /tmp: one folder per conversation. Null: an empty one that ends with the program. */
	readonly tmp: string | null;
	/** More readable folders or files; matters in a box. */
	readonly read: readonly string[];
	/** More writable folders or files. */
	readonly write: readonly string[];
	/** Hidden like the home; missing ones are skipped. */
	readonly hide: readonly string[];
	/** Read-only everywhere, and their parents cannot be renamed: what the gateway itself runs. */
	readonly protect: readonly string[];
	/** Cannot be moved, nor the folders above them, even if writable: another wall shows these paths. */
	readonly keep?: readonly string[];
	/** Names below /dev that are passed on if they exist, such as kvm or dri. */
	readonly devices: readonly string[];
	readonly network: WallNetwork;
	/** Hosts the proxy reaches: `example.org`, `*.example.org`, with `:port` for ports other than 80 and 443. */
	readonly hosts?: readonly string[];
	/** Allows Unix sockets: docker, tmux and agents then work, and each is a way around the wall. */
	readonly hasUnixSockets: boolean;
	/** admin: only for root, eight capabilities in view and mask, so that chown, `apt install` and `su` work. */
	readonly privileges: "none" | "admin";
	/** The program continues when its starter dies; otherwise it ends with it. */
	readonly outlivesStarter: boolean;
	readonly limits: WallLimits;
}

export interface WallLimits {
	/** Open files per process. */
	readonly openFiles: number | null;
	/** Bytes of data per process; does not limit several together. */
	readonly memoryBytes: number | null;
	/** Processes and threads of the program and everything it starts. Needs a cgroup; without one there is no limit. */
	readonly processes: number | null;
	/** Bytes of the program and everything it starts, including swap. Needs a cgroup, too. */
	readonly totalMemoryBytes: number | null;
}

/** Where cgroups can be made; see `lookForCgroups`. */
export interface Cgroups {
	/** Null: this machine has none. */
	readonly version: 1 | 2 | null;
	/** The folders that hold them, by what they can limit. */
	readonly memory: string | null;
	readonly pids: string | null;
	/**
	 * none: this machine has none. not_delegated: Keryx shares its cgroup with others, or has no group below it. refused: Keryx may not
	 * create any.
	 */
	readonly problem: "none" | "not_delegated" | "refused" | null;
}

/** A covered path: a folder by an empty read-only one, a file by nothing. */
export interface HiddenPath {
	readonly path: string;
	readonly kind: "folder" | "file";
}

/** Facts about the machine, read once; see `readMachine`. */
export interface Machine {
	/** Absolute, only from system folders: one found by PATH could be the agent's. */
	readonly bwrap: string;
	/** bubblewrap 0.8 and newer. Without it only the seccomp program refuses nested user namespaces. */
	readonly canDisableUserns: boolean;
	/** Binds an open folder, so that it cannot be replaced after the check. */
	readonly canBindDescriptors: boolean;
	/** GNU env: it can ignore signals for the launcher and restore them for the program. */
	readonly env: string;
	readonly shell: string;
	/** /bin, /lib and so on: where each links to, or null for a folder. */
	readonly systemFolders: readonly { readonly path: string; readonly link: string | null }[];
	/** What a box shows of /etc: only world-readable files. */
	readonly etc: { readonly files: readonly string[]; readonly folders: readonly string[] };
	readonly cgroups: Cgroups;
	/** Gives a box its own network; null if it is not installed. */
	readonly pasta: Pasta | null;
}

/** Absolute paths, like those of the machine. */
export interface Pasta {
	readonly program: string;
	readonly unshare: string;
	readonly nsenter: string;
}
