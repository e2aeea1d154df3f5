// What the processes of a store are to whoever starts, reads and ends them.
import type { Standing } from "../domain/index.ts";
import type {
	Destination,
	Ids,
	NewDelivery,
	OperatorScope,
	PersonRole,
	Process,
	ProcessNotify,
	ProcessScope,
	Store,
	Woken,
} from "../store/index.ts";
import type { Clock } from "../time/index.ts";
import type { WallRequest } from "../walls/index.ts";
import type { ProcessBackend } from "./backend.ts";
import type { LogPart, LogPartOptions } from "./log/part.ts";
import type { LogLines, NewOutput, WholeOutput } from "./log/reading.ts";
import type { ProcessMachine } from "./machine.ts";
import type { KillOptions, KillOutcome, LogPiece, PtySize } from "./types.ts";

/** Asked for at each use: they may change while Keryx runs. */
export interface ProcessSettings {
	readonly maxRunning: number;
	readonly maxPerConversation: number;
	readonly maxLogBytes: number;
	readonly keepDays: number;
	readonly onShutdown: "keep" | "kill";
}

export interface ProcessesOptions {
	readonly store: Store;
	readonly machine: ProcessMachine;
	readonly clock: Clock;
	readonly ids: Pick<Ids, "bytes">;
	readonly settings: () => ProcessSettings;
	/** A notice as a chat of that platform shows it. */
	readonly render?: (
		text: string,
		to: { readonly id: string; readonly destination: Destination },
	) => readonly NewDelivery[];
	readonly log?: (message: string, error: unknown) => void;
}

/** Who ends a program or writes to it. Of a lesser standing than the turn that started it, they may only look (I18). */
export type ProcessActor =
	| OperatorScope
	| {
			readonly kind: "conversation";
			readonly conversation: Process["conversation"];
			readonly standing: Standing;
	  };

export interface ProcessOwner {
	readonly conversation: Process["conversation"];
	readonly principal: string | null;
	readonly turn: string | null;
	readonly role: PersonRole | null;
	readonly destination: Destination;
}

export interface StartRequest {
	/** As it is kept and shown: no secret stands in it. */
	readonly command: string;
	/** As it is run. */
	readonly argv: readonly string[];
	readonly cwd: string;
	/** All of it. */
	readonly env: Readonly<Record<string, string>>;
	/** False: somebody waits for it, and nobody is told of its end. */
	readonly background: boolean;
	/** Null: pipes. */
	readonly pty: PtySize | null;
	readonly notify: ProcessNotify;
	/** Progress is told so often. */
	readonly checkMs?: number;
	/** Whoever wants it started waits no more: what is not begun by then never is. */
	readonly signal?: AbortSignal;
	/** The wall that it runs behind; without one, in the open. */
	readonly wall?: WallRequest;
	/** Where it runs; left out: on this machine. */
	readonly machine?: string;
	/** What a container may read and write of this machine. */
	readonly folder?: string;
}

/** A process with what only its host knows. */
export interface ListedProcess extends Process {
	/** Pids of what it started and left behind. */
	readonly survivors: readonly number[];
	/** Its host does not answer: nothing newer is known of it, and nothing can be done to it. */
	readonly isUnreachable: boolean;
}

export interface KilledProcess extends KillOutcome {
	readonly process: Process;
}

export interface Processes {
	/** Takes up what an earlier owner of the store left: ends that nobody recorded, processes that go on. Never starts a host. */
	open(): Promise<void>;
	/** Processes go on, unless the settings say that they end with Keryx. */
	close(): Promise<void>;
	/** Throws process.limit, or what keeps the machine from starting anything. One that cannot be started is answered as failed_start. */
	start(request: StartRequest, owner: ProcessOwner): Promise<Process>;
	/** Those that run first, then the newest. */
	list(scope: ProcessScope, limit: number): Promise<readonly ListedProcess[]>;
	/** Pids of what it started and left behind. */
	leftBehind(id: string): Promise<readonly number[]>;
	/** It runs as far as is known, and its host does not answer. */
	isUnreachable(process: Process): Promise<boolean>;
	/** Whoever waited for it waits no more: it goes on in the background, and its end is told. */
	adopt(id: string): Promise<void>;
	/** Deletes what an ended one printed: somebody else has all of it. In the background; kept where something of it lives. */
	discard(id: string): void;
	/** By its id or the beginning of it. Throws store.not_found, also for another conversation's. */
	/** Here and below, a store in trouble is asked again for as long as a signal is given and not aborted, else for ten seconds. */
	find(scope: ProcessScope, id: string, signal?: AbortSignal): Promise<Process>;
	/** What is new since the last poll: each byte is answered once. */
	poll(
		scope: ProcessScope,
		id: string,
		most: number,
	): Promise<{ readonly process: Process; readonly output: NewOutput }>;
	/** The end of the output. */
	tail(scope: ProcessScope, id: string, most: number): Promise<NewOutput>;
	/** All of the output, or both ends of it. */
	output(
		scope: ProcessScope,
		id: string,
		options: {
			readonly most: number;
			readonly mark: (leftOut: string, isKept: boolean) => string;
			readonly signal?: AbortSignal;
		},
	): Promise<WholeOutput>;
	log(
		scope: ProcessScope,
		id: string,
		options: { readonly offset?: number; readonly limit: number },
	): Promise<LogLines>;
	/** A part of the log as text, from a position on. */
	part(scope: ProcessScope, id: string, options: LogPartOptions): Promise<LogPart>;
	/** The log itself, as it was printed. */
	read(
		scope: ProcessScope,
		id: string,
		options: { readonly from: number; readonly limit: number },
	): Promise<LogPiece>;
	/** What runs it, for who looks on or types: a connection of their own, which they close. Null where it does not run here. */
	attach(scope: ProcessScope, id: string): Promise<ProcessBackend | null>;
	/** Answers when it has ended, or when so much time or the signal ends the waiting: then it has no end. */
	wait(
		scope: ProcessScope,
		id: string,
		options: { readonly ms: number; readonly signal?: AbortSignal },
	): Promise<Process>;
	/** Ends it and everything it started, verified. Who kills knows: its own conversation is not told again. */
	kill(actor: ProcessActor, id: string, options?: KillOptions): Promise<KilledProcess>;
	/** Everything that runs in a conversation, and what ended ones have left behind. */
	/** Those of the conversation that the actor may end. */
	killAll(actor: ProcessActor, conversation: Process["conversation"]): Promise<readonly KilledProcess[]>;
	write(actor: ProcessActor, id: string, data: Uint8Array): Promise<void>;
	endInput(actor: ProcessActor, id: string, signal?: AbortSignal): Promise<void>;
	resize(actor: ProcessActor, id: string, size: PtySize): Promise<void>;
	/** Told of each conversation that has an end to look at. */
	onWoken(listener: (woken: Woken) => void): () => void;
}
