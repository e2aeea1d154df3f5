// A workspace behind real walls, with a gateway, checkpoints and the real tools: what tests of tools for files have in common.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { createWalls } from "../../src/gateway/index.ts";
import { probeWalls } from "../../src/walls/index.ts";
import { ProcessHome } from "../support/process-home.ts";
import { eventually } from "../support/soon.ts";
import { configOf, puppet, Scene, type SceneOptions } from "./support.ts";

export interface Called {
	readonly content: string;
	readonly isError: boolean;
}

export class Workbench {
	/** Not below /tmp: a wall has a /tmp of its own. */
	readonly root = mkdtempSync("/var/tmp/keryx-workbench-");
	readonly home = join(this.root, "home");
	readonly work = join(this.root, "work");
	readonly #programs = new ProcessHome();
	scene!: Scene;

	constructor() {
		for (const folder of [this.home, this.work]) mkdirSync(folder);
	}

	async start({ config = {}, ...options }: SceneOptions = {}): Promise<Scene> {
		const parsed = configOf(config);
		const walls = createWalls({
			home: this.home,
			program: join(import.meta.dirname, "../.."),
			env: { PATH: "/usr/bin:/bin", HOME: this.root },
			workspaceOf: () => ({ folder: this.work, fixed: false }),
			root: join(this.root, "none"),
			openEnvironment: () => ({ PATH: "/usr/bin:/bin" }),
			config: () => parsed,
			probe: () => probeWalls(this.home),
		});
		this.scene = await Scene.start({
			...(options.script === undefined && { agent: () => puppet() }),
			programs: { path: this.work, place: this.#programs.place },
			walls,
			files: { home: this.home, folder: this.work },
			config,
			at: Date.now(),
			...options,
		});
		return this.scene;
	}

	async end(): Promise<void> {
		await this.scene?.end();
		await this.#programs.end();
		rmSync(this.root, { recursive: true, force: true });
	}

	write(path: string, content: string | Buffer): string {
		const file = join(this.work, path);
		mkdirSync(dirname(file), { recursive: true });
		writeFileSync(file, content);
		return file;
	}

	read(path: string): string | null {
		const file = join(this.work, path);
		return existsSync(file) ? readFileSync(file, "utf8") : null;
	}

	/** Somebody says it; answers its id when so many answers have come. */
	async say(text: string, as = "ada", more = 1): Promise<string> {
		const before = this.scene.texts(as).length;
		const id = await this.scene.say(text, { chat: as, user: as });
		await eventually(async () => {
			await this.scene.clock.advance(0);
			expect(this.scene.texts(as).length).toBeGreaterThanOrEqual(before + more);
		}, 150_000);
		return id;
	}

	/** The last text that somebody was sent, after saying this. */
	async ask(text: string, as = "ada"): Promise<string> {
		await this.say(text, as);
		return this.scene.texts(as).at(-1) ?? "";
	}

	/** The agent makes one call; answers its result. */
	async call(tool: string, input: object, as = "ada"): Promise<Called> {
		const id = await this.scene.say(`call ${tool} ${JSON.stringify(input)}`, { chat: as, user: as });
		return eventually(async () => {
			await this.scene.clock.advance(0);
			expect(await this.scene.disposition(id)).toBe("answered");
			return (await this.results(id)).at(-1) as Called;
		}, 60_000);
	}

	/** Of all calls in the conversation of a message. */
	async results(id: string): Promise<Called[]> {
		return (await this.scene.rows(id))
			.filter(({ role }) => role === "tool")
			.map(({ content, isError }) => ({ content: String(content), isError: isError ?? false }));
	}
}
