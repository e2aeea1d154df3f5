// Decides which wall a turn's programs run behind (I17): from the configuration, the rights of the turn, and what this machine can do.
// Folders are checked again at every start: a command may have put a link in their place.
import { createHash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readlinkSync, realpathSync, statSync, utimesSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join, relative, resolve } from "node:path";
import { type Config, commandMachine, type Environment } from "../../config/index.ts";
import { isAtLeast, type Standing } from "../../domain/index.ts";
import { KeryxError } from "../../errors.ts";
import {
	type CommandWall,
	decideWall,
	limitsInWords,
	lookForCgroups,
	type NetworkResult,
	probeBoxNetwork,
	probeWalls,
	protectedPrograms,
	pruneCgroups,
	pruneStatus,
	pruneTmp,
	type Wall,
	type WallKind,
	type WallLimits,
	type WallProbe,
	wallEnvironment,
	wallInWords,
	wallsInWords,
} from "../../walls/index.ts";
import type { Workspace, WorkspaceOwner } from "../files/workspaces.ts";

/** Whose program it is: the conversation, and the lowest role of its people. */
export interface ProgramTurn extends WorkspaceOwner {
	readonly standing: Standing;
}

export interface WallsOptions {
	readonly home: string;
	/** Keryx's own program, which nothing behind a wall may write. */
	readonly program: string;
	/** Keryx's own environment. */
	readonly env: Environment;
	readonly workspaceOf: (owner: WorkspaceOwner) => Workspace;
	/** The folder of the workspaces: behind a mask none can be replaced by another. */
	readonly root: string;
	/** The environment of a program without a wall; `pass` are withheld variables that it may see anyway. */
	openEnvironment(pass: readonly string[]): Readonly<Record<string, string>>;
	/** Read per call: it may change. */
	config(): Config;
	/** What this machine can do; probed once, on first use. */
	readonly probe?: () => Promise<WallProbe>;
}

export interface Walls {
	/** For a command line from a model; `wider`: the next wider wall, approved by a human. Throws wall.path. */
	forCommand(turn: ProgramTurn, options?: { readonly wider?: boolean }): Promise<CommandWall>;
	/**
	 * For a program the operator chose; `pass` are variables only for it, `folder` its working folder if it is not a conversation's
	 * workspace. Throws wall.path.
	 */
	forProgram(
		turn: ProgramTurn,
		options: { readonly kind: WallKind; readonly pass: readonly string[]; readonly folder?: string },
	): Promise<CommandWall>;
	/**
	 * The wall of such a turn's commands, or why there is none; for its people and its model. `program`: the operator's wall for an agent
	 * program.
	 */
	describe(
		turn: Pick<ProgramTurn, "profile" | "standing">,
		options?: { readonly program?: WallKind | undefined },
	): Promise<string>;
	/** In a few sentences: which walls there are, the network of a box, and the limits that need a cgroup. */
	inWords(): Promise<string>;
	/** Whether all that the configuration asks for is there, but for limits. */
	isWhole(): Promise<boolean>;
}

export function createWalls(options: WallsOptions): Walls {
	let probing: Promise<WallProbe> | null = null;
	const probe = () => {
		probing ??= (options.probe ?? (() => probeWalls(options.home)))();
		return probing;
	};
	let probingNetwork: Promise<NetworkResult> | null = null;
	/** Null: the configuration wants none. */
	const boxNetwork = async (): Promise<NetworkResult | null> => {
		const { walls } = options.config();
		if (walls.mode === "off" || walls.box_network !== "on") return null;
		probingNetwork ??= probe().then((found) => probeBoxNetwork(options.home, found));
		return probingNetwork;
	};
	/** Where pasta cannot make a box's own network, it has none. */
	const possible = async (choice: WallChoice): Promise<WallChoice> =>
		choice.network === "own" && !(await boxNetwork())?.isPossible ? { ...choice, network: "none" } : choice;
	/** On another machine or in a container, that is the wall, and the owner's alone unless the configuration says otherwise. */
	const elsewhere = (
		turn: Pick<ProgramTurn, "profile" | "standing">,
		folderHere: () => string,
	): Exclude<CommandWall, { run: "walled" | "open" }> | null => {
		const config = options.config();
		const { name: machine, ssh, container } = commandMachine(config, turn.profile);
		if (ssh === null && container === null) return null;
		const role = turn.standing === "none" ? "guest" : turn.standing;
		const given = Object.hasOwn(config.walls.by_profile, turn.profile)
			? config.walls.by_profile[turn.profile]?.[role]
			: undefined;
		const where = ssh
			? `on ${accountAt(ssh)} over ssh`
			: `in a ${container?.engine} container of ${container?.image}`;
		if (config.approvals.mode === "readonly")
			return {
				run: "refused",
				reason: `approvals.mode is readonly, and nothing keeps a command ${where} from writing`,
				remedy: "set approvals.mode to manual, or terminal.backend to local",
			};
		if (turn.standing !== "owner" && given === undefined)
			return {
				run: "refused",
				reason: `commands run ${where}, which only the owner may use`,
				remedy: "name the role in walls.by_profile of this profile",
			};
		const common = { run: "elsewhere", machine, env: REMOTE_ENVIRONMENT, where } as const;
		if (ssh) return { ...common, folder: ssh.folder, check: `ssh ${accountAt(ssh)}`, covered: false };
		const check = `${container?.engine} image inspect ${container?.image}`;
		return { ...common, folder: folderHere(), check, covered: true };
	};
	const decide = async (
		turn: ProgramTurn,
		chosen: WallChoice,
		{
			pass,
			outlivesStarter,
			folder,
		}: { readonly pass: readonly string[]; readonly outlivesStarter: boolean; readonly folder?: string },
	) => {
		const { walls } = options.config();
		const found = await probe();
		const choice = await possible(chosen);
		const isOwner = turn.standing === "owner";
		const decision = decideWall({ mode: walls.mode, kind: choice.kind, isOwner, probe: found });
		if (decision.run === "refused") return decision;
		if (decision.run === "open") {
			const { asks, reason, remedy } = decision;
			return { run: "open", env: options.openEnvironment(pass), asks, reason, remedy } as const;
		}
		const workspace = folder ?? options.workspaceOf(turn).folder;
		const wall = { ...wallOf(turn, choice, { ...options, workspace }), outlivesStarter };
		const env = wallEnvironment({ wall, own: options.env, pass: [...walls.env_pass, ...pass], asked: {} });
		if (found.machine === null)
			throw new KeryxError("internal", "a wall is required, but nothing here can make one");
		return { run: "walled", request: { wall, machine: found.machine }, env } as const;
	};
	return {
		forCommand: async (turn, { wider = false } = {}) =>
			elsewhere(turn, () => realpathSync(options.workspaceOf(turn).folder)) ??
			decide(turn, chooseWall(options.config(), turn, wider), { pass: [], outlivesStarter: true }),
		forProgram: (turn, { kind, ...given }) =>
			decide(turn, programChoice(options.config(), kind, turn.standing), {
				...given,
				outlivesStarter: false,
			}),
		describe: async (turn, { program } = {}) => {
			const config = options.config();
			const there = program ? null : elsewhere(turn, () => "");
			if (there?.run === "refused") return `Commands cannot run: ${there.reason}.${remedyIn(there)}`;
			if (there?.run === "elsewhere")
				return there.covered
					? `Commands and file tools run ${there.where}, which sees the workspace and nothing else of this machine.`
					: `Commands and file tools run ${there.where}, in ${there.folder}. Checkpoints do not cover files there.`;
			const choice = await possible(
				program ? programChoice(config, program, turn.standing) : chooseWall(config, turn),
			);
			const isOwner = turn.standing === "owner";
			const decision = decideWall({
				mode: config.walls.mode,
				kind: choice.kind,
				isOwner,
				probe: await probe(),
			});
			switch (decision.run) {
				case "walled":
					return wallInWords(choice);
				case "open":
					return `Commands run without a wall: ${decision.reason}.${decision.asks ? " You are asked about each command that may change something." : ""}${remedyIn(decision)}`;
				case "refused":
					return `Commands cannot run: ${decision.reason}.${remedyIn(decision)}`;
			}
		},
		inWords: async () => {
			const { walls } = options.config();
			const found = await probe();
			const words = wallsInWords(walls.mode, found);
			if (walls.mode === "off" || found.machine === null) return words;
			const { inForce, missing } = limitsInWords(limitsOf(walls), found.machine.cgroups);
			const parts = [words, networkInWords(await boxNetwork()), inForce, missing?.words ?? null];
			return parts.filter((part) => part !== null).join("; ");
		},
		isWhole: async () => {
			const { view, mask, box } = await probe();
			const isOff = options.config().walls.mode === "off";
			return !isOff && [view, mask, box, await boxNetwork()].every((one) => one === null || one.isPossible);
		},
	};
}

function networkInWords(result: NetworkResult | null): string | null {
	if (result === null) return null;
	if (result.isPossible) return "a box has its own network";
	return `a box has no network: ${result.reason}. What to do: ${result.remedy}`;
}

function accountAt({ user, host }: { readonly user?: string | undefined; readonly host: string }): string {
	return user === undefined ? host : `${user}@${host}`;
}

function remedyIn({ remedy }: { readonly remedy: string | null }): string {
	return remedy === null ? "" : ` What to do: ${remedy}`;
}

/** A shell there sets the rest; nothing from this machine's environment is passed. */
const REMOTE_ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };

export interface WallChoice {
	readonly kind: WallKind;
	readonly isReadonly: boolean;
	readonly network: Wall["network"];
	/** If the network is a list of hosts. */
	readonly hosts?: readonly string[];
}

/** Defaults: lower roles see less. */
const BY_ROLE = { owner: "view", member: "box", guest: "box" } as const;
const WIDER: Readonly<Record<WallKind, WallKind>> = { box: "view", view: "mask", mask: "mask" };

/** By role and profile. In readonly, everyone is in a read-only box. Pure. */
export function chooseWall(
	{ walls, approvals }: Pick<Config, "walls" | "approvals">,
	{ profile, standing }: Pick<ProgramTurn, "profile" | "standing">,
	isWider = false,
): WallChoice {
	if (approvals.mode === "readonly") return { kind: "box", isReadonly: true, network: "none" };
	const role = standing === "none" ? "guest" : standing;
	const own = Object.hasOwn(walls.by_profile, profile) ? walls.by_profile[profile]?.[role] : undefined;
	const usual = own ?? walls.by_role[role] ?? BY_ROLE[role];
	const kind = isWider ? WIDER[usual] : usual;
	return { kind, isReadonly: false, ...networkOf(walls, kind, role) };
}

function programChoice(
	{ walls, approvals }: Pick<Config, "walls" | "approvals">,
	kind: WallKind,
	standing: Standing,
): WallChoice {
	return { kind, isReadonly: approvals.mode === "readonly", ...networkOf(walls, kind, standing) };
}

/** A box never has the host's, with the host's loopback in it: it has its own, reaches the hosts that the configuration lists, or none. */
function networkOf(
	{ network, box_network }: Config["walls"],
	kind: WallKind,
	standing: Standing,
): Pick<WallChoice, "network" | "hosts"> {
	if (!isAtLeast(standing, "member")) return { network: "none" };
	if (kind !== "box") return { network: network === "on" ? "host" : "none" };
	if (box_network === "off") return { network: "none" };
	return box_network === "on" ? { network: "own" } : { network: "hosts", hosts: box_network };
}

function wallOf(
	turn: ProgramTurn,
	{ kind, isReadonly, network, hosts }: WallChoice,
	options: WallsOptions & { readonly workspace: string },
): Omit<Wall, "outlivesStarter"> {
	const { walls, backup } = options.config();
	const home = realpathSync(options.home);
	const own = options.env.HOME ?? homedir();
	const paths = (given: readonly string[]) => given.map((path) => realOf(path, own));
	const isRoot = process.getuid?.() === 0;
	const isAdmin = isRoot && walls.root === "admin" && turn.standing === "owner" && kind !== "box";
	const folder = options.workspace;
	const workspace = realWorkspace(folder, options.home, home);
	const write = paths(walls.write);
	const others = otherWorkspaces(options);
	const written = [workspace, ...write, ...others];
	for (const path of [folder, ...[...walls.read, ...walls.write].map((one) => expanded(one, own))])
		assertUnexchanged(path, written);
	const isWritten = (path: string) => [workspace, ...write].some((outer) => isInside(path, outer));
	// A mask can replace them, but it already reaches whatever it could lead another wall to.
	const keep = kind === "mask" ? [] : [...others, ...write, ...paths(walls.read)].filter(isWritten);
	return {
		kind,
		home,
		workspace,
		isWorkspaceReadonly: isReadonly,
		tmp: tmpOf(turn.conversation, home),
		read: paths(walls.read),
		write: isReadonly ? [] : write,
		...(keep.length > 0 && { keep }),
		hide: [...walls.hide, ...(backup.to === undefined ? [] : [backup.to])].map((path) => expanded(path, own)),
		protect: [
			...protectedPrograms({ folder: options.program, path: options.env.PATH ?? "", isAdmin }),
			...(existsSync(options.root) ? [realpathSync(options.root)] : []),
			...hookFiles(options.config()),
		],
		devices: [],
		network,
		...(hosts && { hosts }),
		hasUnixSockets: walls.unix_sockets === "on",
		privileges: isAdmin ? "admin" : "none",
		limits: limitsOf(walls),
	};
}

export function limitsOf({ limits }: Pick<Config["walls"], "limits">): WallLimits {
	const bytes = (mb: number | null) => (mb === null ? null : mb * 1024 * 1024);
	return {
		openFiles: limits.open_files,
		memoryBytes: bytes(limits.memory_mb),
		processes: limits.processes,
		totalMemoryBytes: bytes(limits.total_memory_mb),
	};
}

/** A link in place of a workspace could lead into Keryx's home and expose it. */
function realWorkspace(folder: string, home: string, realHome: string): string {
	const real = realpathSync(folder);
	const isMeant = isAtOrInside(resolve(folder), resolve(home));
	const expected = isMeant ? join(realHome, relative(resolve(home), resolve(folder))) : real;
	if (isAtOrInside(real, realHome) !== isMeant || real !== expected)
		throw new KeryxError("wall.path", `the workspace ${folder} is a link to ${real}`, {
			field: "workspace.path",
		});
	return real;
}

/** Hooks run outside walls: nothing behind one may write what they run. */
function hookFiles({ hooks }: Config): string[] {
	const files = hooks.flatMap(({ command }) => command).filter((word) => isAbsolute(word) && isFile(word));
	return [...new Set(files.map((file) => realpathSync(file)))];
}

function isFile(path: string): boolean {
	return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}

/** The existing ones named in the configuration, of every profile. */
function otherWorkspaces({ config, home }: WallsOptions): string[] {
	const { workspace, profiles } = config();
	return [workspace, ...Object.values(profiles).map((profile) => profile.workspace)].flatMap(({ path }) => {
		const folder = path === undefined ? null : resolve(home, path);
		return folder !== null && existsSync(folder) ? [realpathSync(folder)] : [];
	});
}

/** A link in a place that commands can write may be theirs, and lead anywhere. */
function assertUnexchanged(path: string, written: readonly string[]): void {
	const link = linkIn(resolve(path), written);
	if (link !== null)
		throw new KeryxError(
			"wall.path",
			`${path} is reached through the link ${link}, which commands could replace`,
			{
				field: "workspace.path",
				hint: "name the folder that the link points to",
			},
		);
}

/** The first link on the way to a path that is in one of these folders. */
function linkIn(path: string, folders: readonly string[]): string | null {
	let at = "/";
	for (const part of path.split("/").filter(Boolean)) {
		const next = join(at, part);
		if (lstatSync(next, { throwIfNoEntry: false })?.isSymbolicLink()) {
			if (folders.some((folder) => isAtOrInside(at, folder))) return next;
			const inTarget = linkIn(resolve(at, readlinkSync(next)), folders);
			if (inTarget !== null) return inTarget;
			at = realpathSync(next);
		} else at = next;
	}
	return null;
}

/** One per conversation, with a parent that no command reaches. Its time says when a command last started in it. */
function tmpOf(conversation: string, home: string): string {
	const folder = join(home, TMP, tmpName(conversation));
	mkdirSync(folder, { recursive: true, mode: 0o700 });
	const now = new Date();
	utimesSync(folder, now, now);
	return folder;
}

/** A digest: an imported id may be anything (I10). */
function tmpName(conversation: string): string {
	return createHash("sha256").update(conversation).digest("hex").slice(0, 32);
}

/**
 * Removes what walls left: /tmp of conversations that started nothing for long and run nothing, notes of agent programs that ended with
 * an earlier Keryx, and cgroups of programs whose end nobody saw.
 */
export async function tidyWalls(
	home: string,
	{ running, now }: { readonly running: readonly string[]; readonly now: number },
): Promise<void> {
	const used = new Set(running.map(tmpName));
	const before = now - TMP_DAYS * 24 * 3_600_000;
	pruneTmp({ folder: join(home, TMP), before, isUsed: (name) => used.has(name) });
	await pruneStatus(join(home, "walls"));
	pruneCgroups(lookForCgroups(), realpathSync(home));
}

const TMP = "tmp";
/** As long as a system keeps its own /tmp. */
const TMP_DAYS = 30;

function realOf(path: string, own: string): string {
	const folder = expanded(path, own);
	try {
		return realpathSync(folder);
	} catch (cause) {
		throw new KeryxError("wall.path", `${path} cannot be shown behind a wall: ${(cause as Error).message}`, {
			field: "walls",
			cause,
		});
	}
}

function isInside(path: string, folder: string): boolean {
	return path.startsWith(`${folder}/`);
}

function isAtOrInside(path: string, folder: string): boolean {
	return path === folder || isInside(path, folder);
}

function expanded(path: string, own: string): string {
	return path === "~" ? own : path.startsWith("~/") ? join(own, path.slice(2)) : path;
}
