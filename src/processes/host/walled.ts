// A program behind a wall. Its end is its namespace's end: when its exit is reported, nothing it started is left.
import { KeryxError } from "../../errors.ts";
import { startBehindWall, type WalledExit, type WalledStart } from "../../walls/index.ts";
import { wallStatusFile } from "../files.ts";
import { MARK } from "../members.ts";
import type { SpawnRequest } from "../types.ts";
import { checkWalled, type Exit } from "./start.ts";
import { openTerminals } from "./terminals.ts";

export async function startWalled(
	request: SpawnRequest,
	folder: string,
	streams: readonly number[] | { readonly terminal: string; readonly descriptor: number },
): Promise<{ readonly pid: number; readonly exit: Promise<Exit> }> {
	const { wall: asked, id, argv, cwd, env } = request;
	if (!asked) throw new KeryxError("internal", "a program without a wall was started behind one");
	checkWalled(request);
	const { pid, exit } = await startBehindWall(
		{
			wall: asked.wall,
			argv,
			cwd,
			env,
			statusFile: wallStatusFile(folder),
			streams: streams as WalledStart["streams"],
			// If this host dies before the namespace is recorded, the mark identifies the launcher.
			mark: { [MARK]: id },
			withheld: openTerminals(),
		},
		asked.machine,
	);
	return { pid, exit: exit.then(exitOf) };
}

function exitOf(exit: WalledExit): Exit {
	switch (exit.kind) {
		case "exited":
			return { code: exit.code, signal: exit.signal };
		case "killed":
			return { code: null, signal: exit.signal };
		case "failed":
			return { code: exit.code, signal: null, isWallFailed: true };
	}
}
