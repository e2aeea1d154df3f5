// How a running Keryx changes config.yaml for someone: checked as a whole, recorded with who did it, then written. A file changed by
// someone else meanwhile is left alone. Changes are serialised, so that none is based on an old text.
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
	type ConfigProblem,
	checkConfig,
	type Environment,
	editConfig,
	hideSecretLike,
	writeConfig,
	writtenValue,
} from "../../config/index.ts";
import { KeryxError } from "../../errors.ts";
import type { Author } from "../../http/index.ts";
import type { Secrets } from "../../secrets/index.ts";
import type { ConfigEdit, Store } from "../../store/index.ts";
import { wordsOf } from "../report/report.ts";

export interface ConfigFileOptions {
	readonly home: string;
	readonly env: Environment;
	readonly secrets: Pick<Secrets, "hide">;
	readonly store: Pick<Store, "recordConfigChange" | "configNotWritten">;
}

export interface ConfigText {
	readonly text: string;
	/** Different for every text. */
	readonly version: string;
}

/** Dotted keys and their new values; undefined removes a key. */
export type ConfigChanges = Readonly<Record<string, unknown>>;

export class ConfigFile {
	readonly #options: ConfigFileOptions;
	readonly #path: string;
	#last: Promise<unknown> = Promise.resolve();

	constructor(options: ConfigFileOptions) {
		this.#options = options;
		this.#path = join(options.home, "config.yaml");
	}

	read(): ConfigText {
		const text = existsSync(this.#path) ? readFileSync(this.#path, "utf8") : null;
		return {
			text: text ?? "",
			version: text === null ? "none" : createHash("sha256").update(text).digest("base64url"),
		};
	}

	/** What the file would be, and its problems. Nothing is written. */
	plan(changes: ConfigChanges): ConfigText & {
		readonly after: string;
		readonly problems: readonly ConfigProblem[];
	} {
		const { home, env } = this.#options;
		const now = this.read();
		const after = editConfig(now.text, changes);
		return { ...now, after, problems: checkConfig({ home, env, text: after, file: this.#path }).problems };
	}

	/** Known secrets, and anything that looks like one. */
	hide(text: string): string {
		return hideSecretLike(this.#options.secrets.hide(text));
	}

	/**
	 * Returns the change's number in the audit; null if the file already says it. `changes` is read when its turn comes. Throws
	 * config.stale if the file is no longer `version`, config.invalid if it would be wrong; then nothing is written.
	 */
	change(wanted: {
		readonly changes: () => ConfigChanges | Promise<ConfigChanges>;
		readonly version?: string;
		readonly undoes?: number;
		readonly by: Author;
	}): Promise<number | null> {
		const done = this.#last.then(async () => this.#change({ ...wanted, changes: await wanted.changes() }));
		this.#last = done.catch(() => undefined);
		return done;
	}

	async #change({
		changes,
		version,
		undoes,
		by,
	}: {
		readonly changes: ConfigChanges;
		readonly version?: string;
		readonly undoes?: number;
		readonly by: Author;
	}): Promise<number | null> {
		const { store } = this.#options;
		const { text, version: before, after, problems } = this.plan(changes);
		if (version !== undefined && version !== before) throw stale();
		const [problem] = problems;
		if (problem)
			throw new KeryxError("config.invalid", problem.message, { ...(problem.key && { field: problem.key }) });
		const edits = Object.entries(changes).flatMap(([key, value]) => this.#edit(text, key, value));
		if (edits.length === 0) return null;
		const author = { by: by.who, via: by.via };
		const n = await store.recordConfigChange({ edits, undoes: undoes ?? null, ...author });
		try {
			// Someone may have saved it while the change was recorded.
			if (this.read().version !== before) throw stale();
			writeConfig(this.#path, after);
		} catch (error) {
			await store.configNotWritten({ n, reason: wordsOf(error), ...author });
			throw error;
		}
		return n;
	}

	#edit(text: string, key: string, value: unknown): readonly ConfigEdit[] {
		const written = writtenValue(text, key);
		if (isDeepStrictEqual(written, value)) return [];
		const [before, after] = [written, value].map((one) => this.#hidden(one ?? null));
		return [{ key, before, after, ...(!isDeepStrictEqual(before, written ?? null) && { lost: true }) }];
	}

	#hidden(value: unknown): unknown {
		if (typeof value === "string") return this.hide(value);
		if (Array.isArray(value)) return value.map((one) => this.#hidden(one));
		if (typeof value !== "object" || value === null) return value;
		return Object.fromEntries(
			Object.entries(value).map(([name, one]) => [this.hide(name), this.#hidden(one)]),
		);
	}
}

export function stale(message = "config.yaml has changed since these settings were read"): KeryxError {
	return new KeryxError("config.stale", message);
}
