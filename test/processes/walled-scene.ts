// A host whose programs run behind a wall: its home where a wall can hide it, and a workspace beside it.
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { newWall, readMachine, type Wall, type WallKind, type WallRequest } from "../../src/walls/index.ts";
import { HostScene } from "./support.ts";

/** Not /tmp: each wall has its own. */
const FOLDER = "/var/tmp";

export class WalledScene extends HostScene {
	readonly workspace = realpathSync(mkdtempSync(join(FOLDER, "keryx-work-")));
	readonly tmp = join(this.home, "tmp");

	constructor() {
		super(FOLDER);
		mkdirSync(this.tmp);
	}

	wall(kind: WallKind, changes: Partial<Wall> = {}): WallRequest {
		const machine = readMachine();
		if (!machine) throw new Error("bubblewrap is not installed");
		const { home, workspace, tmp } = this;
		const wall = newWall({ kind, home, workspace, tmp, outlivesStarter: true, ...changes });
		return { wall, machine };
	}

	override async close(): Promise<void> {
		await super.close();
		rmSync(this.workspace, { recursive: true, force: true });
	}
}
