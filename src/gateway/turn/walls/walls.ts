// Decides which wall a turn's programs run behind (I17): from the configuration, the rights of the turn, and what this machine can do.
import { realpathSync } from "node:fs";
import type { Standing } from "../../../domain/index.ts";
import { KeryxError } from "../../../errors.ts";
import {
	type CommandWall,
	decideWall,
	type WallKind,
	wallEnvironment,
	wallInWords,
} from "../../../walls/index.ts";
import type { Workspace, WorkspaceOwner } from "../../files/workspaces.ts";
import { chooseWall, programChoice, type WallChoice } from "./choice.ts";
import { wallElsewhere } from "./elsewhere.ts";
import { type WallFolders, wallOf } from "./folders.ts";
import { type MachineWalls, type MachineWallsOptions, machineWalls } from "./machine.ts";

/** Whose program it is: the conversation, and the lowest role of its people. */
export interface ProgramTurn extends WorkspaceOwner {
	readonly standing: Standing;
}

export interface WallsOptions extends WallFolders, Pick<MachineWallsOptions, "probe"> {
	readonly workspaceOf: (owner: WorkspaceOwner) => Workspace;
	/** The environment of a program without a wall; `pass` are withheld variables that it may see anyway. */
	openEnvironment(pass: readonly string[]): Readonly<Record<string, string>>;
}

export interface Walls extends Pick<MachineWalls, "inWords" | "isWhole"> {
	/** For a command line from a model; `wider`: the next wider wall, approved by a human. Throws wall.path. */
	forCommand(turn: ProgramTurn, options?: { readonly wider?: boolean }): Promise<CommandWall>;
	/**
	 * For a program the operator chose; `pass` are variables only for it, `folder` its working folder if it is not a conversation's
	 * workspace. Throws wall.path.
	 */
	forProgram(
		turn: ProgramTurn,
		options: { readonly kind: WallKind; readonly pass: readonly string[]; readonly folder?: string },
	): Promise<CommandWall>;
	/**
	 * The wall of such a turn's commands, or why there is none; for its people and its model. `program`: the operator's wall for an agent
	 * program.
	 */
	describe(
		turn: Pick<ProgramTurn, "profile" | "standing">,
		options?: { readonly program?: WallKind | undefined },
	): Promise<string>;
}

export function createWalls(options: WallsOptions): Walls {
	const { probe, possible, inWords, isWhole } = machineWalls(options);
	const decide = async (
		turn: ProgramTurn,
		chosen: WallChoice,
		{
			pass,
			outlivesStarter,
			folder,
		}: { readonly pass: readonly string[]; readonly outlivesStarter: boolean; readonly folder?: string },
	) => {
		const { walls } = options.config();
		const found = await probe();
		const choice = await possible(chosen);
		const isOwner = turn.standing === "owner";
		const decision = decideWall({ mode: walls.mode, kind: choice.kind, isOwner, probe: found });
		if (decision.run === "refused") return decision;
		if (decision.run === "open") {
			const { asks, reason, remedy } = decision;
			return { run: "open", env: options.openEnvironment(pass), asks, reason, remedy } as const;
		}
		const workspace = folder ?? options.workspaceOf(turn).folder;
		const wall = { ...wallOf(turn, choice, { ...options, workspace }), outlivesStarter };
		const env = wallEnvironment({ wall, own: options.env, pass: [...walls.env_pass, ...pass], asked: {} });
		if (found.machine === null)
			throw new KeryxError("internal", "a wall is required, but nothing here can make one");
		return { run: "walled", request: { wall, machine: found.machine }, env } as const;
	};
	return {
		inWords,
		isWhole,
		forCommand: async (turn, { wider = false } = {}) =>
			wallElsewhere(options.config(), turn, () => realpathSync(options.workspaceOf(turn).folder)) ??
			decide(turn, chooseWall(options.config(), turn, wider), { pass: [], outlivesStarter: true }),
		forProgram: (turn, { kind, ...given }) =>
			decide(turn, programChoice(options.config(), kind, turn.standing), {
				...given,
				outlivesStarter: false,
			}),
		describe: async (turn, { program } = {}) => {
			const config = options.config();
			const there = program ? null : wallElsewhere(config, turn, () => "");
			if (there?.run === "refused") return `Commands cannot run: ${there.reason}.${remedyIn(there)}`;
			if (there?.run === "elsewhere")
				return there.covered
					? `Commands and file tools run ${there.where}, which sees the workspace and nothing else of this machine.`
					: `Commands and file tools run ${there.where}, in ${there.folder}. Checkpoints do not cover files there.`;
			const choice = await possible(
				program ? programChoice(config, program, turn.standing) : chooseWall(config, turn),
			);
			const isOwner = turn.standing === "owner";
			const decision = decideWall({
				mode: config.walls.mode,
				kind: choice.kind,
				isOwner,
				probe: await probe(),
			});
			switch (decision.run) {
				case "walled":
					return wallInWords(choice);
				case "open":
					return `Commands run without a wall: ${decision.reason}.${decision.asks ? " You are asked about each command that may change something." : ""}${remedyIn(decision)}`;
				case "refused":
					return `Commands cannot run: ${decision.reason}.${remedyIn(decision)}`;
			}
		},
	};
}

function remedyIn({ remedy }: { readonly remedy: string | null }): string {
	return remedy === null ? "" : ` What to do: ${remedy}`;
}
