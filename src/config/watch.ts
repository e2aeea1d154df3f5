// Follows config.yaml while Keryx runs. Unfinished, empty and missing files do not count. A change is checked as at the start: all of it
// is valid, or none is used. Editors that write a new file and rename it are followed too, because the home is watched, not the file.
import { type BigIntStats, type FSWatcher, readFileSync, statSync, watch } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../time/index.ts";
import { checkConfig, type LoadedConfig, type LoadOptions } from "./load.ts";
import type { ConfigProblem } from "./problems.ts";
import { isEmpty, SETTLE_MS, type Seen, type Settling, settle, UNSEEN } from "./settling.ts";

export interface WatchOptions extends Pick<LoadOptions, "home" | "env"> {
	/** The secrets that the file names, after each read and before anything else is reported; also if the file is invalid. */
	readonly onSecrets: (secrets: ReadonlyMap<string, string>) => void;
	/** What Keryx was started with; default: nothing was in force before. */
	readonly atStart?: LoadedConfig;
	/** A valid configuration: also the first time, since the file may have changed before it was watched. */
	readonly onChange: (config: LoadedConfig) => void;
	/** The problems of an invalid one, in the order of the file; the last valid one stays. */
	readonly onProblem: (problems: readonly ConfigProblem[]) => void;
	/** A valid one lacks whole sections that the last one had. It takes effect after HOLD_MS, unless the file changes first. */
	readonly onHold: (sections: readonly string[]) => void;
	/** Default: this machine's. */
	readonly clock?: WatchClock;
}

export type WatchClock = Pick<Clock, "after">;

export interface ConfigWatch {
	/** The configuration that was passed on last, or null. */
	current(): LoadedConfig | null;
	close(): void;
}

/** Changes come in bursts: one look for all within this time. */
const BURST_MS = 50;
/** How long a missing section is held back. */
const HOLD_MS = 5000;
/** Sections that decide who may write and what needs a confirmation: losing one would change access. */
const GUARDED = ["auth", "approvals"] as const;

export function watchConfig(options: WatchOptions): ConfigWatch {
	const watching = new Watching(options);
	watching.start();
	return watching;
}

class Watching implements ConfigWatch {
	readonly #options: WatchOptions;
	readonly #clock: WatchClock;
	readonly #file: string;
	#watcher: FSWatcher | undefined;
	#current: LoadedConfig | null = null;
	#settling: Settling = UNSEEN;
	/** Something changed; look at it soon. */
	#cancelBurst: (() => void) | null = null;
	/** Nothing changed for long enough, unless a change cancels it. */
	#cancelWait: () => void = () => {};

	constructor(options: WatchOptions) {
		this.#options = options;
		this.#clock = options.clock ?? systemClock;
		this.#file = join(options.home, "config.yaml");
	}

	start(): void {
		const { home, onProblem } = this.#options;
		const lost = ({ message }: Error) =>
			onProblem([
				{ code: "config.unreadable", message: `changes to the configuration are not noticed: ${message}` },
			]);
		try {
			// Every change in the home counts: if the file is a link, the name that changes is a different one.
			this.#watcher = watch(home, { persistent: false }, () => this.#soon());
			this.#watcher.on("error", lost);
		} catch (error) {
			lost(error as Error);
		}
		this.#look(false);
	}

	current(): LoadedConfig | null {
		return this.#current;
	}

	close(): void {
		this.#watcher?.close();
		this.#cancelBurst?.();
		this.#cancelWait();
	}

	#soon(): void {
		this.#cancelBurst ??= this.#clock.after(BURST_MS, () => {
			this.#cancelBurst = null;
			this.#look(false);
		});
	}

	#wait(ms: number, then: () => void): void {
		this.#cancelWait();
		this.#cancelWait = this.#clock.after(ms, then);
	}

	#look(isStill: boolean): void {
		const seen = lookAt(this.#file);
		const { next, verdict } = settle(this.#settling, seen, isStill);
		// An already judged one may still be held.
		if (verdict === "rest" && this.#settling.waiting) this.#cancelWait();
		this.#settling = next;
		if (verdict === "wait") this.#wait(SETTLE_MS, () => this.#look(true));
		if (verdict === "judge") {
			this.#cancelWait();
			this.#act(seen);
		}
	}

	#act(seen: Seen): void {
		const judgement = this.#judge(seen);
		if (judgement.kind === "problem") this.#options.onProblem(judgement.problems);
		if (judgement.kind === "take") this.#take(judgement.config);
		if (judgement.kind !== "hold") return;
		this.#options.onHold(judgement.sections);
		this.#wait(HOLD_MS, () => {
			this.#look(false);
			if (this.#settling.judged === seen && !this.#settling.waiting) this.#take(judgement.config);
		});
	}

	#judge(seen: Seen): Judgement {
		const { home, env, atStart, onSecrets } = this.#options;
		const before = this.#current ?? atStart;
		// Without a file the defaults apply, until there was one.
		const missing = before?.entries.some(isFromFile) ? whatIsMissing(seen, this.#file) : null;
		if (missing) return { kind: "problem", problems: [missing] };
		const text = textOf(seen);
		// If it is not text, the reader says why.
		const source = seen.kind === "none" ? { text: "" } : { file: this.#file, ...(text !== null && { text }) };
		const { config, problems, secrets } = checkConfig({ home, env, ...source });
		onSecrets(secrets);
		if (!config) return { kind: "problem", problems };
		const sections = lostSections(before, config);
		return sections.length === 0 ? { kind: "take", config } : { kind: "hold", config, sections };
	}

	#take(config: LoadedConfig): void {
		this.#current = config;
		this.#options.onChange(config);
	}
}

type Judgement =
	| { readonly kind: "problem"; readonly problems: readonly ConfigProblem[] }
	| { readonly kind: "take"; readonly config: LoadedConfig }
	| { readonly kind: "hold"; readonly config: LoadedConfig; readonly sections: readonly string[] };

function lookAt(file: string): Seen {
	const stat = statOf(file);
	if (!stat) return { kind: "none" };
	const { dev, ino, birthtimeNs, size, mtimeNs, ctimeNs } = stat;
	return {
		kind: "file",
		id: `${dev} ${ino} ${birthtimeNs}`,
		stamp: `${size} ${mtimeNs} ${ctimeNs}`,
		bytes: stat.isFile() ? read(file) : null,
		isMoved: ctimeNs > mtimeNs,
	};
}

/** An unreadable home has no file either. */
function statOf(file: string): BigIntStats | null {
	try {
		return statSync(file, { bigint: true });
	} catch {
		return null;
	}
}

/** Null if it cannot be read, or has just been removed. */
function read(file: string): Uint8Array | null {
	try {
		return readFileSync(file);
	} catch {
		return null;
	}
}

function textOf(seen: Seen): string | null {
	if (seen.kind === "none" || seen.bytes === null) return null;
	try {
		return new TextDecoder("utf-8", { fatal: true }).decode(seen.bytes);
	} catch {
		return null;
	}
}

function whatIsMissing(seen: Seen, file: string): ConfigProblem | null {
	if (seen.kind === "none")
		return {
			code: "config.unreadable",
			message: "the file is gone; restart Keryx to use the defaults",
			file,
		};
	return isEmpty(seen) ? { code: "config.unreadable", message: "the file is empty", file } : null;
}

function lostSections(before: LoadedConfig | undefined, after: LoadedConfig): readonly string[] {
	return GUARDED.filter((section) => isGiven(before, section) && !isGiven(after, section));
}

function isGiven(config: LoadedConfig | undefined, section: string): boolean {
	return (
		config?.entries.some(
			({ key, origin }) => origin.kind !== "default" && (key === section || key.startsWith(`${section}.`)),
		) ?? false
	);
}

function isFromFile({ origin }: LoadedConfig["entries"][number]): boolean {
	return origin.kind === "file";
}
