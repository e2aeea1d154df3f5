// The interface of a store's processes for starting, reading and killing them.
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

/** Read at each use: they may change while Keryx runs. */
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
	/** A notice rendered for a chat of that platform. */
	readonly render?: (
		text: string,
		to: { readonly id: string; readonly destination: Destination },
	) => readonly NewDelivery[];
	readonly log?: (message: string, error: unknown) => void;
}

/** The caller who kills a program or writes to it. With a lower standing than its starter, they may only look (I18). */
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
	/** As stored and shown: contains no secret. */
	readonly command: string;
	/** As executed. */
	readonly argv: readonly string[];
	readonly cwd: string;
	/** All of it. */
	readonly env: Readonly<Record<string, string>>;
	/** False: someone waits for it, and nobody is told about its end. */
	readonly background: boolean;
	/** Null: pipes. */
	readonly pty: PtySize | null;
	readonly notify: ProcessNotify;
	/** How often progress is reported. */
	readonly checkMs?: number;
	/** Nobody waits for its start any more: if it has not started by then, it never will. */
	readonly signal?: AbortSignal;
	/** Its wall; absent: none. */
	readonly wall?: WallRequest;
	/** Where it runs; default: this machine. */
	readonly machine?: string;
	/** What a container may read and write of this machine. */
	readonly folder?: string;
}

/** A process with facts only its host knows. */
export interface ListedProcess extends Process {
	/** Pids of survivors it started. */
	readonly survivors: readonly number[];
	/** Its host does not answer: its state may be outdated, and nothing can be done to it. */
	readonly isUnreachable: boolean;
	/** It runs at another gateway on this store, by that one's name. One that is gone has lost it until it is back. */
	readonly elsewhere: { readonly node: string; readonly lives: boolean } | null;
}

export interface KilledProcess extends KillOutcome {
	readonly process: Process;
}

export interface Processes {
	/** Takes over from an earlier owner of the store: unrecorded ends, running processes. Never starts a host. */
	open(): Promise<void>;
	/** Processes keep running, unless the settings say that they end with Keryx. */
	close(): Promise<void>;
	/** Throws process.limit, or what prevents the machine from starting anything. If it cannot be started, the result is failed_start. */
	start(request: StartRequest, owner: ProcessOwner): Promise<Process>;
	/** Running ones first, then the newest. */
	list(scope: ProcessScope, limit: number): Promise<readonly ListedProcess[]>;
	/** Pids of survivors it started. */
	leftBehind(id: string): Promise<readonly number[]>;
	/** It is running as far as known, but its host does not answer. */
	isUnreachable(process: Process): Promise<boolean>;
	/** Which other gateway it runs at; null: none. */
	elsewhere(process: Process): Promise<ListedProcess["elsewhere"]>;
	/** Nobody waits for it any more: it continues in the background, and its end is reported. */
	adopt(id: string): Promise<void>;
	/** Deletes an ended one's output, which is stored elsewhere. In the background; kept while any part is alive. */
	discard(id: string): void;
	/** By its id or a prefix. Throws store.not_found, also for another conversation's. */
	/** Here and below, a store in trouble is retried until the signal aborts, or for ten seconds without one. */
	find(scope: ProcessScope, id: string, signal?: AbortSignal): Promise<Process>;
	/** New output since the last poll: each byte is returned once. */
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
	/** Hides secrets in a text before it is cut: part of a secret would remain otherwise. */
	hide(text: string): string;
	/** The same, but lines stay lines: those of a secret over several lines become asterisks. */
	hideLines(text: string): string;
	/** A part of the log as text, from a position on. */
	part(scope: ProcessScope, id: string, options: LogPartOptions): Promise<LogPart>;
	/** The raw log. */
	read(
		scope: ProcessScope,
		id: string,
		options: { readonly from: number; readonly limit: number },
	): Promise<LogPiece>;
	/** The backend, for viewing or typing: a separate connection, which the caller closes. Null if it does not run here. */
	attach(scope: ProcessScope, id: string): Promise<ProcessBackend | null>;
	/** Resolves when it has ended, or at the timeout or signal: then it has no end. */
	wait(
		scope: ProcessScope,
		id: string,
		options: { readonly ms: number; readonly signal?: AbortSignal },
	): Promise<Process>;
	/** Kills it and everything it started, verified. The caller knows: its own conversation is not told again. */
	kill(actor: ProcessActor, id: string, options?: KillOptions): Promise<KilledProcess>;
	/** All running ones in a conversation, and what ended ones left behind. */
	/** Those of the conversation that the actor may kill. */
	killAll(actor: ProcessActor, conversation: Process["conversation"]): Promise<readonly KilledProcess[]>;
	write(actor: ProcessActor, id: string, data: Uint8Array): Promise<void>;
	endInput(actor: ProcessActor, id: string, signal?: AbortSignal): Promise<void>;
	resize(actor: ProcessActor, id: string, size: PtySize): Promise<void>;
	/** Called for each conversation with an end to handle. */
	onWoken(listener: (woken: Woken) => void): () => void;
}
