// The target `local`: writes a text to a file in Keryx's home. Its name comes from the clock and an id, never from user text (I10). The
// store knows the name before the file exists, so that sending again finds the same file.
import { chmod, mkdir, open, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { KeryxError } from "../../errors.ts";
import type { Store } from "../../store/index.ts";
import type { Clock } from "../../time/index.ts";
import type { NewSend, Sent } from "./types.ts";

export interface OutputFilesOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly folder: string;
	readonly randomBytes: (length: number) => Uint8Array;
}

export class OutputFiles {
	readonly #options: OutputFilesOptions;

	constructor(options: OutputFilesOptions) {
		this.#options = options;
	}

	async write({ id, target, by, turn, whileRunning, text }: NewSend): Promise<Sent> {
		const { store, folder } = this.#options;
		const sent = await store.send({
			id,
			target,
			by,
			...(turn !== undefined && { turn }),
			...(whileRunning !== undefined && { whileRunning }),
			to: { kind: "file", file: this.#name() },
		});
		const path = join(folder, sent.file as string);
		const whole = ended(store.secrets.hideIn(text));
		try {
			const before = sent.repeated ? await readIfThere(path) : null;
			if (before === null) await writeWhole(folder, path, whole);
			else if (before !== whole) throw conflict(id);
		} catch (cause) {
			if (cause instanceof KeryxError) throw cause;
			const { code, message } = cause as NodeJS.ErrnoException;
			throw new KeryxError("send.failed", `the file ${path} cannot be written: ${code ?? message}`, {
				hint: `check that ${folder} is a folder that Keryx can write to, and that the disk has space`,
				cause,
			});
		}
		return { ...sent, path };
	}

	#name(): string {
		const { clock, randomBytes } = this.#options;
		const at = new Date(clock.now()).toISOString().slice(0, 19).replace(/[-:]/g, "").replace("T", "-");
		return `${at}-${Buffer.from(randomBytes(6)).toString("hex")}.md`;
	}
}

/** The id was used for another message. */
function conflict(id: string): KeryxError {
	return new KeryxError("send.conflict", `another message was sent under the id ${id}`, { field: "id" });
}

function ended(text: string): string {
	return text.endsWith("\n") ? text : `${text}\n`;
}

async function readIfThere(path: string): Promise<string | null> {
	try {
		return await readFile(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
}

/** The file is complete or absent. Only this user can read it. */
async function writeWhole(folder: string, path: string, text: string): Promise<void> {
	await mkdir(folder, { recursive: true, mode: 0o700 });
	await chmod(folder, 0o700);
	const draft = `${path}.part`;
	const file = await open(draft, "w", 0o600);
	try {
		await file.writeFile(text);
		await file.sync();
	} finally {
		await file.close();
	}
	await rename(draft, path);
}
