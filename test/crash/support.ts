// Stores on disk and programs beside them, for the tests that kill, fill, lock and damage.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { KeryxError } from "../../src/errors.ts";
import { NO_SECRETS, openStore, type Store, systemClock, systemIds } from "../../src/store/index.ts";
import { programFile } from "../support/programs.ts";

export type Child = ChildProcessByStdio<Writable, Readable, null>;

/** A folder of its own and the programs started in it; both are gone after `end`. */
export class Workbench {
	readonly folder = mkdtempSync(join(tmpdir(), "keryx-store-"));
	readonly #children = new Set<Child>();

	file(name: string): string {
		return join(this.folder, name);
	}

	/** Starts a program of this folder with Node; a wrapper such as strace goes before it. */
	start(program: string, args: readonly string[] = [], wrapper: readonly string[] = []): Child {
		return this.startFile(programFile(new URL(program, import.meta.url)), args, wrapper);
	}

	startFile(file: string, args: readonly string[], wrapper: readonly string[] = []): Child {
		const [command = "", ...rest] = [
			...wrapper,
			process.execPath,
			"--disable-warning=ExperimentalWarning",
			file,
		];
		const child = spawn(command, [...rest, ...args], {
			stdio: ["pipe", "pipe", "inherit"],
		});
		// One that is killed while it is told something is no failure of ours.
		child.stdin.on("error", () => {});
		this.#children.add(child);
		child.once("close", () => this.#children.delete(child));
		return child;
	}

	end(): void {
		for (const child of this.#children) child.kill("SIGKILL");
		rmSync(this.folder, { recursive: true, force: true });
	}
}

/** Everything a program says until it ends. */
export async function output(child: Child): Promise<string> {
	let said = "";
	child.stdout.setEncoding("utf8").on("data", (data: string) => {
		said += data;
	});
	await once(child, "close");
	return said;
}

/** The lines of a program as it says them; ends when it does. */
export async function* lines(child: Child): AsyncGenerator<string> {
	let rest = "";
	for await (const data of child.stdout.setEncoding("utf8") as AsyncIterable<string>) {
		const parts = (rest + data).split("\n");
		rest = parts.pop() ?? "";
		yield* parts;
	}
}

/** Kills a program, if it has not ended by itself; what it still had to say is not read. */
export async function killed(child: Child): Promise<void> {
	const ended = child.exitCode !== null || child.signalCode !== null;
	const exited = ended ? undefined : once(child, "exit");
	child.kill("SIGKILL");
	await exited;
	child.stdout.destroy();
}

/** A path is that of a file. */
export function urlOf(path: string): string {
	return path.startsWith("postgres:") ? path : `sqlite:${path}`;
}

export function open(path: string, access: "own" | "read" = "own"): Promise<Store> {
	return openStore({
		url: urlOf(path),
		clock: systemClock,
		ids: systemIds(systemClock),
		secrets: NO_SECRETS,
		access,
	});
}

/** A person's message, with this id on its platform. */
export function hello(platformMessage: string, content = "hello"): Parameters<Store["accept"]>[0] {
	return {
		kind: "person",
		source: { platform: "telegram", chat_id: "1", chat_type: "dm", user_id: "1", user_name: "Ada" },
		platformMessage,
		content,
		routing: { groupSessionsPerUser: true, threadSessionsPerUser: false, profile: null },
		as: { kind: "accept" },
	};
}

/** The KeryxError that something is refused with. */
export async function refusal(attempt: Promise<unknown>): Promise<KeryxError> {
	try {
		await attempt;
	} catch (error) {
		if (error instanceof KeryxError) return error;
		throw error;
	}
	throw new Error("it was not refused");
}
