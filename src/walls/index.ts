// keryx/walls: where commands run.
// View, mask and box, and which of them this machine can make; behind a wall, Keryx's home, processes and sockets are not visible (I17).
// Never here: which wall a turn gets: that is src/gateway/turn/walls/walls.ts.

export { wallArguments } from "./arguments.ts";
export { causeInWords, remedyOf, type WallCause } from "./causes.ts";
export { lookForCgroups, NO_CGROUPS, pruneCgroups } from "./cgroups.ts";
export { type CommandWall, withoutWall } from "./command-wall.ts";
export { decideWall, type WallDecision, type WallMode, type WallQuestion, wallsInWords } from "./decide.ts";
export { closeInherited } from "./descriptors.ts";
export { type EnvironmentOptions, wallEnvironment } from "./environment.ts";
export { checkWall, hiddenPaths } from "./folders.ts";
export { protectedPrograms, readMachine } from "./machine.ts";
export { type ProfileOptions, sandboxCommand, sandboxProfile } from "./macos.ts";
export {
	endNamespace,
	findNamespace,
	isNamespaceAlive,
	killNamespace,
	namespaceMembers,
} from "./namespace.ts";
export { allowedPrivately, isPublicAddress } from "./network/addresses.ts";
export type { Outside } from "./network/proxy.ts";
export { newWall } from "./new-wall.ts";
export {
	type NetworkResult,
	type ProbeResult,
	probeBoxNetwork,
	probeWalls,
	type WallProbe,
} from "./probe.ts";
export { BUBBLEWRAP_PROMISES, SANDBOX_EXEC_PROMISES, type WallPromises } from "./promises.ts";
export { type PruneTmpOptions, pruneStatus, pruneTmp } from "./prune.ts";
export { readWallRequest, type WallRequest } from "./request.ts";
export { type Architecture, seccompProgram } from "./seccomp/program.ts";
export { signalOfCode, startBehindWall, type Walled, type WalledExit, type WalledStart } from "./start.ts";
export { type Namespace, parseStatus, readStatus, type WallStatus } from "./status.ts";
export type {
	Cgroups,
	HiddenPath,
	Machine,
	Pasta,
	Wall,
	WallKind,
	WallLimits,
	WallNetwork,
} from "./types.ts";
export { type LimitsInWords, limitsInWords, refusalInWords, type ShownWall, wallInWords } from "./words.ts";
