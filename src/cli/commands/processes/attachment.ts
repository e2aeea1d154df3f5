// Being attached to a process: how it ends, and restoring the terminal afterwards, even after an error, a signal or an exit.
import type { ReadStream, WriteStream } from "node:tty";
import { KeryxError } from "../../../errors.ts";
import type { ProcessBackend, ProcessInfo } from "../../../processes/index.ts";
import type { DetachKey } from "./detach-key.ts";

export interface AttachOptions {
	readonly backend: ProcessBackend;
	readonly info: ProcessInfo;
	readonly input: ReadStream;
	readonly output: WriteStream;
	readonly detachKey: DetachKey;
}

export type Leaving =
	| { readonly kind: "left" | "ended" | "host died" }
	/** This command was asked to end; the process was not. */
	| { readonly kind: "signalled"; readonly signal: NodeJS.Signals };

export interface Attached {
	/** Resolves with the end of the process's output. */
	readonly ended: Promise<void>;
	/** Resolves when everything typed has been handed over. */
	settle(): Promise<void>;
	/** Restores the terminal. Synchronously: an exit cannot wait. */
	restore(): void;
}

export interface Exits {
	/** The detach key, or the end of what is typed. */
	leave(): void;
	/** The typed input cannot be passed on. */
	fail(error: unknown): void;
}

export type Attach = (options: AttachOptions, exits: Exits) => Attached;

const SIGNALS = ["SIGTERM", "SIGHUP", "SIGINT"] as const;
const PATIENCE_MS = 1000;

export async function untilLeft(options: AttachOptions, attach: Attach): Promise<Leaving> {
	const { promise: left, resolve, reject } = Promise.withResolvers<Leaving>();
	const onSignal = (signal: NodeJS.Signals) => resolve({ kind: "signalled", signal });
	for (const signal of SIGNALS) process.on(signal, onSignal);
	const attached = attach(options, { leave: () => resolve({ kind: "left" }), fail: reject });
	const restore = once(attached.restore);
	process.on("exit", restore);
	try {
		const leaving = await Promise.race([left, attached.ended.then(() => ({ kind: "ended" }) as const)]);
		await Promise.race([attached.settle(), patience()]);
		return leaving;
	} catch (error) {
		if (error instanceof KeryxError && error.code === "process.host_gone") return { kind: "host died" };
		throw error;
	} finally {
		restore();
		process.off("exit", restore);
		for (const signal of SIGNALS) process.off(signal, onSignal);
		// The rest no longer matters.
		attached.ended.catch(() => {});
	}
}

function once(restore: () => void): () => void {
	let isDone = false;
	return () => {
		if (!isDone) restore();
		isDone = true;
	};
}

/** A silent host must not keep anyone here. */
function patience(): Promise<void> {
	return new Promise((resolve) => setTimeout(resolve, PATIENCE_MS).unref());
}
