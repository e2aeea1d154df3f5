// A folder that an agent works in, with a gateway that takes checkpoints of it: what tests of those have in common.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect } from "vitest";
import { z } from "zod";
import type { Checkpoint } from "../../src/store/index.ts";
import { defineTool, type Tool } from "../../src/tools/index.ts";
import { eventually } from "../support/soon.ts";
import { puppet, Scene, type SceneFiles, type SceneOptions } from "./support.ts";

/** `on`: how checkpoints are taken; null: none are. */
export type DeskOptions = SceneOptions & { readonly on?: Partial<SceneFiles> | null };

export class Desk {
	readonly path = mkdtempSync(join(tmpdir(), "keryx-desk-"));
	readonly folder = join(this.path, "work");
	readonly home = join(this.path, "home");
	scene!: Scene;

	constructor() {
		mkdirSync(this.folder);
		mkdirSync(this.home);
	}

	/** The agent does what it is told (`call put {...}`). */
	async start(options: DeskOptions = {}): Promise<Scene> {
		this.scene = await Scene.start(this.options(options));
		return this.scene;
	}

	options({ on = {}, ...options }: DeskOptions = {}): SceneOptions {
		return {
			...(options.script === undefined && { agent: puppet }),
			...options,
			tools: [putTool(this.folder), lookTool, ...(options.tools ?? [])],
			...(on && { files: { home: this.home, folder: this.folder, ...on } }),
		};
	}

	async end(): Promise<void> {
		await this.scene.end();
		rmSync(this.path, { recursive: true, force: true });
	}

	/** As a person does it. */
	write(path: string, text: string): void {
		mkdirSync(dirname(join(this.folder, path)), { recursive: true });
		writeFileSync(join(this.folder, path), text);
	}

	read(path: string): string | null {
		const full = join(this.folder, path);
		return existsSync(full) ? readFileSync(full, "utf8") : null;
	}

	/** Says it, and waits until so many answers more are there. Answers the last one, without markup. */
	async ask(text: string, more = 1, saying = {}): Promise<string> {
		await this.say(text, more, saying);
		return plain(this.scene.texts((saying as { chat?: string }).chat).at(-1) ?? "");
	}

	async say(text: string, more = 1, saying = {}): Promise<string> {
		const { chat } = saying as { chat?: string };
		const before = this.scene.texts(chat).length;
		const id = await this.scene.say(text, saying);
		await this.answers(before + more, chat);
		return id;
	}

	async answers(n: number, chat?: string): Promise<void> {
		await eventually(async () => {
			await this.scene.clock.advance(0);
			expect(this.scene.texts(chat).length).toBeGreaterThanOrEqual(n);
		});
	}

	/** Has the agent write a file. */
	put(path: string, text: string, more = 1): Promise<string> {
		return this.say(`call put ${JSON.stringify({ path, text })}`, more);
	}

	/** Newest first. */
	async list(): Promise<readonly Checkpoint[]> {
		return (await this.scene.checkpoints?.list(this.folder)) ?? [];
	}
}

/** As a person reads it. */
export function plain(text: string): string {
	return text
		.replace(/<[^>]+>/g, "")
		.replace(/^• /gm, "- ")
		.replaceAll("&lt;", "<")
		.replaceAll("&gt;", ">")
		.replaceAll("&quot;", '"')
		.replaceAll("&amp;", "&");
}

function putTool(folder: string): Tool {
	return defineTool({
		name: "put",
		description: "writes a file",
		input: z.object({ path: z.string(), text: z.string() }),
		repeatable: false,
		changesFiles: () => true,
		run: ({ path, text }) => {
			writeFileSync(join(folder, path), text);
			return Promise.resolve({ content: "written" });
		},
	});
}

const lookTool = defineTool({
	name: "look",
	description: "changes nothing",
	input: z.object({}),
	repeatable: false,
	run: () => Promise.resolve({ content: "seen" }),
});
