// The contents of many objects from git: never all in memory, and git reads on while they are written. A missing or damaged object is
// reported, so that a restore can skip that file and finish.
import { KeryxError } from "../../errors.ts";
import { gitStream } from "../git.ts";

export interface Content {
	readonly oid: string;
	/** Null: missing or unreadable in the repository. */
	readonly data: Buffer | null;
}

const LINE_END = 10;
/** git ends at a damaged object. It is restarted this often for the rest. */
const MOST_DAMAGED = 100;
const TIMEOUT_MS = 600_000;

/** Yields each once, in order, in batches as git delivers them. Throws checkpoint.no_git or checkpoint.failed if git itself does not work. */
export async function* contentsOf(
	repository: string,
	oids: readonly string[],
): AsyncGenerator<readonly Content[]> {
	let done = 0;
	for (let damaged = 0; done < oids.length; damaged++) {
		let failed: unknown;
		try {
			for await (const some of answers(repository, oids.slice(done))) {
				done += some.length;
				yield some;
			}
			continue;
		} catch (error) {
			if (damaged >= MOST_DAMAGED) throw error;
			failed = error;
		}
		const oid = oids[done++] as string;
		// Retried alone: if it fails again, the object is damaged, not git.
		if (!(await isDamaged(repository, oid))) throw failed;
		yield [{ oid, data: null }];
	}
}

async function isDamaged(repository: string, oid: string): Promise<boolean> {
	try {
		for await (const [content] of answers(repository, [oid])) return content?.data == null;
		return true;
	} catch (error) {
		return error instanceof KeryxError && error.code === "checkpoint.failed";
	}
}

async function* answers(repository: string, oids: readonly string[]): AsyncGenerator<readonly Content[]> {
	const pieces = gitStream({
		args: ["cat-file", "--batch", "--buffer"],
		repository,
		input: Buffer.from(`${oids.join("\n")}\n`),
		timeoutMs: TIMEOUT_MS,
	});
	let waiting: Buffer[] = [];
	let bytes = 0;
	/** Less than this is not worth parsing. */
	let needed = 1;
	for await (const piece of pieces) {
		waiting.push(piece);
		bytes += piece.length;
		if (bytes < needed) continue;
		const { found, rest, wants } = split(waiting.length === 1 ? piece : Buffer.concat(waiting));
		if (found.length > 0) yield found;
		waiting = rest.length === 0 ? [] : [rest];
		bytes = rest.length;
		needed = wants;
	}
	if (bytes > 0) throw new KeryxError("checkpoint.failed", "git ended within an object");
}

function split(text: Buffer): {
	readonly found: readonly Content[];
	readonly rest: Buffer;
	readonly wants: number;
} {
	const found: Content[] = [];
	let at = 0;
	let wants = 1;
	for (;;) {
		const end = text.indexOf(LINE_END, at);
		if (end < 0) break;
		const [oid = "", type, size] = text.toString("latin1", at, end).split(" ");
		const from = end + 1;
		if (type === "missing") {
			found.push({ oid, data: null });
			at = from;
			continue;
		}
		const to = from + Number(size);
		wants = to + 1 - at;
		if (to >= text.length) break;
		found.push({ oid, data: type === "blob" ? text.subarray(from, to) : null });
		at = to + 1;
		wants = 1;
	}
	return { found, rest: text.subarray(at), wants };
}
