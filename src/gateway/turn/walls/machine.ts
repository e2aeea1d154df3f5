// What this machine can do for walls, probed once and on first use, and what of it the configuration wants.
import type { Config } from "../../../config/index.ts";
import {
	limitsInWords,
	type NetworkResult,
	probeBoxNetwork,
	probeWalls,
	type WallProbe,
	wallsInWords,
} from "../../../walls/index.ts";
import { limitsOf, type WallChoice } from "./choice.ts";

export interface MachineWallsOptions {
	readonly home: string;
	config(): Pick<Config, "walls">;
	/** What this machine can do; default: walls are made and tried. */
	readonly probe?: () => Promise<WallProbe>;
}

export interface MachineWalls {
	probe(): Promise<WallProbe>;
	/** Where pasta cannot make a box's own network, the box has none. */
	possible(choice: WallChoice): Promise<WallChoice>;
	/** In a few sentences: which walls there are, the network of a box, and the limits that need a cgroup. */
	inWords(): Promise<string>;
	/** Whether all that the configuration asks for is there, but for limits. */
	isWhole(): Promise<boolean>;
}

export function machineWalls(options: MachineWallsOptions): MachineWalls {
	let probing: Promise<WallProbe> | null = null;
	const probe = () => {
		probing ??= (options.probe ?? (() => probeWalls(options.home)))();
		return probing;
	};
	let probingNetwork: Promise<NetworkResult> | null = null;
	/** Null: the configuration wants none. */
	const boxNetwork = async (): Promise<NetworkResult | null> => {
		const { walls } = options.config();
		if (walls.mode === "off" || walls.box_network !== "on") return null;
		probingNetwork ??= probe().then((found) => probeBoxNetwork(options.home, found));
		return probingNetwork;
	};
	return {
		probe,
		possible: async (choice) =>
			choice.network === "own" && !(await boxNetwork())?.isPossible ? { ...choice, network: "none" } : choice,
		inWords: async () => {
			const { walls } = options.config();
			const found = await probe();
			const words = wallsInWords(walls.mode, found);
			if (walls.mode === "off" || found.machine === null) return words;
			const { inForce, missing } = limitsInWords(limitsOf(walls), found.machine.cgroups);
			const parts = [words, networkInWords(await boxNetwork()), inForce, missing?.words ?? null];
			return parts.filter((part) => part !== null).join("; ");
		},
		isWhole: async () => {
			const { view, mask, box } = await probe();
			const isOff = options.config().walls.mode === "off";
			return !isOff && [view, mask, box, await boxNetwork()].every((one) => one === null || one.isPossible);
		},
	};
}

function networkInWords(result: NetworkResult | null): string | null {
	if (result === null) return null;
	if (result.isPossible) return "a box has its own network";
	return `a box has no network: ${result.reason}. What to do: ${result.remedy}`;
}
