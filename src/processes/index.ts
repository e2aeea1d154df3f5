// keryx/processes: programs that outlive their starter, with their output, input and end.
// A host process holds them, on this machine or over ssh; the store is kept true about them.
// Never here: whether a command may run, or what the agent is told about it.

export { startedByKeryx } from "./ancestry.ts";
export type { ProcessBackend } from "./backend.ts";
export type { HostClient } from "./client.ts";
export { type ConnectOptions, connectHost, listHosts } from "./connect.ts";
export { assertContainer } from "./container/backend.ts";
export { type ContainerMachineOptions, containerMachine } from "./container/machine.ts";
export { everyProcess, identityOf, isAlive as isSameProcess } from "./identity.ts";
export { forgetProcess, inspect, inspectProcess, killSurvivors, removeProcess } from "./inspect.ts";
export { localMachine } from "./local.ts";
export { drawnSoFar, fitTerminal, isRefusedByProcess, resizeTerminal } from "./log/drawn.ts";
export { type ReadLogOptions, readLog } from "./log/files.ts";
export type { LogPart, LogPartOptions } from "./log/part.ts";
export type { LogLines, NewOutput, WholeOutput } from "./log/reading.ts";
export { allBetween, piecesBetween, startOfLast } from "./log/start.ts";
export { TerminalModes } from "./log/terminal-modes.ts";
export type { ProcessMachine } from "./machine.ts";
export { LastOutput } from "./piped/last-output.ts";
export { type PipedProgram, startPiped } from "./piped/launch.ts";
export { createProcesses } from "./processes.ts";
export type {
	KilledProcess,
	ListedProcess,
	ProcessActor,
	Processes,
	ProcessesOptions,
	ProcessOwner,
	ProcessSettings,
	StartRequest,
} from "./registry.ts";
export { processSettings } from "./settings.ts";
export { createProcessesOn, type SeveralOptions } from "./several.ts";
export { createSshBackend, type SshBackendOptions } from "./ssh/backend.ts";
export { type SshMachineOptions, sshMachine } from "./ssh/machine.ts";
export type { SshTarget } from "./ssh/target.ts";
export type {
	EndCause,
	KillOptions,
	KillOutcome,
	LogPiece,
	ProcessEnd,
	ProcessIdentity,
	ProcessInfo,
	ProcessStatus,
	PtySize,
	SpawnRequest,
} from "./types.ts";
export { endInWords } from "./words.ts";
