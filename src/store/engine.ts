// The engine interface. It loads no operation.
import type { SessionId } from "../domain/index.ts";
import type { reads, writes } from "./operations/index.ts";

export type WriteName = keyof typeof writes;
export type ReadName = keyof typeof reads;

/** The clock and ids of one write, as passed to the thread that runs it. */
export interface Drawn {
	readonly now: number;
	readonly uuids?: readonly string[];
	/** For a session that may be opened. */
	readonly session?: SessionId;
}

/** The contents of a store's file. */
export interface StoreFacts {
	/** Its schema version. */
	readonly schema: number;
	readonly conversations: number;
	readonly sessions: number;
	readonly messages: number;
	/** The number of the last event; 0: none. */
	readonly lastEvent: number;
}

/** A store of an earlier version is brought up to date. `bytes`: its size, by which a listener can tell whether it takes long. */
export type MigrationProgress = { readonly bytes: number } & (
	| { readonly kind: "copying" }
	/** The store as it was is in that file. */
	| { readonly kind: "copied"; readonly path: string; readonly ms: number }
	/** This step begins. */
	| { readonly kind: "step"; readonly step: number; readonly of: number }
	| { readonly kind: "done"; readonly ms: number }
);

/** The other gateways on the same store, from one gateway's view. */
export interface Cluster {
	/** Whether other nodes were alive at the last look: they continue what this one leaves. */
	readonly hasOthers: boolean;
	/** The time by the server's clock, which all nodes share. */
	now(): number;
	/** False: the lease may have expired, and another node may have taken over. Send nothing and call no tool. */
	readonly holdsLease: boolean;
	/** Another node committed something. Also called periodically, in case a hint was lost. */
	onCommitElsewhere(listener: () => void): () => void;
	/** A node has died: the others take its unfinished work. */
	onNodeDead(listener: () => void): () => void;
	/** The lease may have expired (false), or is valid again (true). */
	onLease(listener: (holds: boolean) => void): () => void;
	/** Sends a text to every other node: at most BROADCAST_BYTES. It may be lost. */
	broadcast(text: string): void;
	/** Texts that other nodes broadcast, with the sender's epoch. */
	onBroadcast(listener: (text: string, from: number) => void): () => void;
}

/** PostgreSQL passes on less than 8,000 bytes at a time; encrypted, it is a third longer. */
export const BROADCAST_BYTES = 5900;

/** One gateway on a store that several may share. */
export interface NodeOptions {
	/** Shown to people; one living node has it. Left out: a name that no other node has. */
	readonly name?: string | undefined;
	/** many: shares the store with other gateways that say so, too. Default: nobody else may use the store. */
	readonly nodes?: "one" | "many";
	/** How long a silent node is left alone. */
	readonly leaseMs?: number;
	/** How often the lease is renewed, and others are looked at. */
	readonly heartbeatMs?: number;
}

export interface Engine {
	readonly epoch: number;
	/** Absent: this engine has no other nodes. */
	readonly cluster?: Cluster | undefined;
	write(name: WriteName, args: unknown, drawn: Drawn): Promise<unknown>;
	read(name: ReadName, args: unknown): Promise<unknown>;
	/** Writes a consistent copy of the whole store to a new file while writes continue. Absent: not supported. */
	copyTo?(path: string): Promise<StoreFacts>;
	/** Called after each commit that changed something. */
	onCommit(listener: () => void): () => void;
	close(): Promise<void>;
}
