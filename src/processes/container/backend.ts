// Processes in containers, each the engine's client in a local host: so logs, input and ends are kept as for any process. A container
// ends with its client, and at the latest when it is killed or this is opened again. A process for a container never starts anywhere
// else: without the engine or image, starting fails.
import { execFile } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { KeryxError } from "../../errors.ts";
import type { ProcessBackend } from "../backend.ts";
import { MARK } from "../members.ts";
import type { KillOptions, KillOutcome, ProcessInfo, SpawnRequest } from "../types.ts";
import {
	type ContainerSettings,
	clientEnvironment,
	containerName,
	envScript,
	runArguments,
} from "./command.ts";

const ANSWER_MS = 30_000;
const MAX_WORDS = 500;

export interface ContainerEngineOptions extends ContainerSettings {
	/** A label on each container of this Keryx. */
	readonly label: string;
	/** Contains the environments of running programs; only on this machine. */
	readonly folder: string;
	/** Keryx's own environment. */
	readonly env: Readonly<Record<string, string | undefined>>;
	readonly user: { readonly uid: number; readonly gid: number };
	/** Where nothing may be bound: Keryx's home. */
	readonly hidden: string;
}

export class ContainerEngine {
	readonly options: ContainerEngineOptions;

	constructor(options: ContainerEngineOptions) {
		this.options = options;
	}

	/** The request for the engine's client, instead of the program's. */
	async clientRequest(request: SpawnRequest): Promise<SpawnRequest> {
		const { engine, label, user, folder: kept, env: own } = this.options;
		const { id, argv, shownArgv, cwd, pty, maxLogBytes } = request;
		const folder = this.#bindable(request.folder ?? cwd);
		await mkdir(kept, { recursive: true, mode: 0o700 });
		const envFile = join(kept, `${id}.env`);
		await writeFile(envFile, envScript(request.env), { mode: 0o600, flag: "wx" });
		const client = runArguments(this.options, {
			...{ id, label, user, folder, envFile, cwd, argv },
			terminal: pty !== null,
		});
		return {
			id,
			// The mark would stay on what the engine leaves running for others.
			argv: ["/bin/sh", "-c", `exec env -u ${MARK} "$@"`, "sh", engine, ...client],
			shownArgv: shownArgv ?? argv,
			cwd: kept,
			env: clientEnvironment(own),
			pty,
			maxLogBytes,
		};
	}

	/** A folder that contains Keryx's home, or is in it, would expose it. */
	#bindable(folder: string): string {
		const { hidden } = this.options;
		const inside = (inner: string, outer: string) =>
			`${inner}/`.startsWith(outer === "/" ? "/" : `${outer}/`);
		if (inside(hidden, folder) || inside(folder, hidden))
			throw new KeryxError(
				"workspace.unusable",
				`${folder} cannot be given to a container: Keryx's home is there`,
				{
					hint: "set workspace.path to a separate folder",
				},
			);
		if (/[,"\n\r\0]/.test(folder))
			throw new KeryxError(
				"workspace.unusable",
				`${folder} cannot be given to a container because of its name`,
			);
		return folder;
	}

	/** Kills whatever is left of it. */
	async end(id: string): Promise<void> {
		const problem = await problemOf(this.options, ["rm", "--force", "--volumes", containerName(id)]);
		if (problem !== null && !/no such container|no container/i.test(problem))
			throw new KeryxError(
				"process.unreachable",
				`the container ${containerName(id)} cannot be ended: ${problem}`,
			);
		await rm(join(this.options.folder, `${id}.env`), { force: true });
	}

	async forgetEnvironment(id: string): Promise<void> {
		await rm(join(this.options.folder, `${id}.env`), { force: true });
	}

	/** Containers without a client, and unused environments. */
	async reap(running: ReadonlySet<string>): Promise<void> {
		const { label, folder } = this.options;
		const listed = await runEngine(this.options, [
			"ps",
			"--all",
			`--filter=label=keryx=${label}`,
			"--format={{.Names}}",
		]);
		const prefix = containerName("");
		for (const name of listed.ok ? listed.out.split(/\s+/) : [])
			if (name.startsWith(prefix) && !running.has(name.slice(prefix.length)))
				await this.end(name.slice(prefix.length));
		for (const file of await readdir(folder).catch(() => []))
			if (file.endsWith(".env") && !running.has(file.slice(0, -4)))
				await rm(join(folder, file), { force: true });
	}
}

type Engine = Pick<ContainerEngineOptions, "engine" | "env">;

/** Throws process.unreachable if the engine or its image is missing. */
export async function assertContainer(options: Engine & Pick<ContainerSettings, "image">): Promise<void> {
	const { engine, image } = options;
	const problem = await problemOf(options, ["image", "inspect", "--format={{.Id}}", image]);
	if (problem === null) return;
	throw new KeryxError(
		"process.unreachable",
		`commands run in a ${engine} container of ${image}, which cannot be started: ${problem}; nothing was run anywhere else. The operator can check it with: ${engine} image inspect ${image}`,
		{ hint: `start ${engine}, or fetch the image with: ${engine} pull ${image}` },
	);
}

async function problemOf(options: Engine, args: readonly string[]): Promise<string | null> {
	const { ok, out, err } = await runEngine(options, args);
	return ok ? null : (err || out || "it gives no reason").trim().slice(0, MAX_WORDS);
}

function runEngine(
	{ engine, env }: Engine,
	args: readonly string[],
): Promise<{ readonly ok: boolean; readonly out: string; readonly err: string }> {
	const options = { env: clientEnvironment(env), timeout: ANSWER_MS, cwd: "/" };
	return new Promise((resolve) => {
		execFile(engine, args, options, (error, out, err) => {
			const missing = (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
			const killed = error?.killed ? `${engine} did not answer within ${ANSWER_MS / 1000} seconds` : "";
			resolve({
				ok: error === null,
				out,
				err: missing ? `the program ${engine} is not installed` : err || killed,
			});
		});
	});
}

/** A host's processes, each in a container. */
export function containerBackend(
	name: string,
	local: ProcessBackend,
	engine: ContainerEngine,
): ProcessBackend {
	const forgetAtEnd = local.onEnd(({ id }) => void engine.forgetEnvironment(id));
	return {
		name,
		spawn: async (request: SpawnRequest): Promise<ProcessInfo> => {
			if (request.wall)
				throw new KeryxError("wall.unavailable", "programs in a container cannot run behind a wall", {
					hint: "run it here, or run it without a wall and rely on the container",
				});
			await assertContainer(engine.options);
			return local.spawn(await engine.clientRequest(request));
		},
		kill: (id: string, options?: KillOptions): Promise<KillOutcome> => killed(local, engine, id, options),
		list: () => local.list(),
		get: (id) => local.get(id),
		silent: (ids) => local.silent(ids),
		read: (id, range) => local.read(id, range),
		follow: (id, options) => local.follow(id, options),
		write: (id, data) => local.write(id, data),
		endInput: (id) => local.endInput(id),
		resize: (id, size) => local.resize(id, size),
		// The client passes it on.
		signal: (id, signal) => local.signal(id, signal),
		forget: (id) => local.forget(id),
		remove: (id) => local.remove(id),
		onEnd: (listener) => local.onEnd(listener),
		onGone: (listener) => local.onGone(listener),
		close: () => {
			forgetAtEnd();
			return local.close();
		},
	};
}

/** The client first, so that its program may end by itself; then whatever the engine still runs. */
async function killed(
	local: Pick<ProcessBackend, "kill">,
	engine: ContainerEngine,
	id: string,
	options?: KillOptions,
): Promise<KillOutcome> {
	const outcome = await local.kill(id, options);
	await engine.end(id);
	return outcome;
}
