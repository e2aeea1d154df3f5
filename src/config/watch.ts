// Follows config.yaml while Keryx runs. A change is checked as at the start: either the whole of it is right, or nothing of it
// is handed on. Editors that write a new file and rename it are followed too, since the home is watched, not the file.
import { type FSWatcher, statSync, watch } from "node:fs";
import { join } from "node:path";
import { checkConfig, type LoadedConfig, type LoadOptions } from "./load.ts";
import type { ConfigProblem } from "./problems.ts";

export interface WatchOptions extends Pick<LoadOptions, "home" | "env"> {
	/** The secrets that the file names, each time that it was read, before anything else is told of it; also where it is wrong. */
	readonly onSecrets: (secrets: ReadonlyMap<string, string>) => void;
	/** A good configuration: also the first time, since the file may have changed before it was watched. */
	readonly onChange: (config: LoadedConfig) => void;
	/** What is wrong with a bad one, in the order of the file; the last good one stays. */
	readonly onProblem: (problems: readonly ConfigProblem[]) => void;
}

export interface ConfigWatch {
	close(): void;
}

/** A file that is being written is looked at once it has stayed the same for this long. */
const SETTLED_MS = 50;

export function watchConfig(options: WatchOptions): ConfigWatch {
	const watching = new Watching(options);
	watching.start();
	return watching;
}

class Watching implements ConfigWatch {
	readonly #options: WatchOptions;
	readonly #file: string;
	#watcher: FSWatcher | undefined;
	#timer: NodeJS.Timeout | undefined;
	/** How the file looked when it was last read, and when it was last looked at. */
	#read = "";
	#seen = "";

	constructor(options: WatchOptions) {
		this.#options = options;
		this.#file = join(options.home, "config.yaml");
	}

	start(): void {
		const { home, onProblem } = this.#options;
		const lost = ({ message }: Error) =>
			onProblem([
				{ code: "config.unreadable", message: `changes of the configuration are not seen: ${message}` },
			]);
		try {
			// Every change in the home counts: where the file is a link, the name that changes is another one.
			this.#watcher = watch(home, { persistent: false }, () => this.#later());
			this.#watcher.on("error", lost);
		} catch (error) {
			lost(error as Error);
		}
		this.#later();
	}

	close(): void {
		this.#watcher?.close();
		clearTimeout(this.#timer);
	}

	#later(): void {
		this.#timer ??= setTimeout(() => {
			this.#timer = undefined;
			this.#look();
		}, SETTLED_MS).unref();
	}

	#look(): void {
		const now = this.#signature();
		const settled = now === this.#seen;
		this.#seen = now;
		if (!settled) this.#later();
		if (!settled || now === this.#read) return;
		this.#read = now;
		const { home, env, onSecrets, onChange, onProblem } = this.#options;
		const { config, problems, secrets } = checkConfig({ home, env });
		onSecrets(secrets);
		if (config) onChange(config);
		else onProblem(problems);
	}

	/** Another one for every version of the file; also for none. */
	#signature(): string {
		const stat = statSync(this.#file, { bigint: true, throwIfNoEntry: false });
		return stat ? `${stat.dev} ${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}` : "none";
	}
}
