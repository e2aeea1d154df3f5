// Whether a command runs behind its wall, without one, or not at all: a pure function of the configuration and the probe.
import { causeInWords } from "./causes.ts";
import type { ProbeResult, WallProbe } from "./probe.ts";
import type { WallKind } from "./types.ts";

/** off: no walls, on purpose. auto: without a wall, little is allowed. required: no command without a wall. */
export type WallMode = "off" | "auto" | "required";

export interface WallQuestion {
	readonly mode: WallMode;
	readonly kind: WallKind;
	readonly isOwner: boolean;
	readonly probe: Pick<WallProbe, WallKind>;
}

/** `reason` and `remedy` are for people. `asks`: everything that is not clearly read-only needs approval. */
export type WallDecision =
	| { readonly run: "walled"; readonly kind: WallKind }
	| { readonly run: "open"; readonly asks: boolean; readonly reason: string; readonly remedy: string | null }
	| { readonly run: "refused"; readonly reason: string; readonly remedy: string | null };

export function decideWall({ mode, kind, isOwner, probe }: WallQuestion): WallDecision {
	if (mode === "off") return { run: "open", asks: false, reason: "walls.mode is off", remedy: null };
	const result = probe[kind];
	if (result.isPossible) return { run: "walled", kind };
	const { reason, remedy } = explain(result);
	if (mode === "required") return { run: "refused", reason: `${reason}, and walls.mode is required`, remedy };
	if (isOwner) return { run: "open", asks: true, reason, remedy };
	return { run: "refused", reason: `${reason}, and without a wall only the owner has a terminal`, remedy };
}

/** One sentence on the available walls, for start-up, doctor and page. */
export function wallsInWords(mode: WallMode, probe: Pick<WallProbe, WallKind>): string {
	if (mode === "off") return "walls are off (walls.mode): commands can do everything this user can";
	const failed = (["view", "mask", "box"] as const).flatMap((kind) => {
		const result = probe[kind];
		return result.isPossible ? [] : [{ kind, result }];
	});
	const [first] = failed;
	if (!first) return "walls are up: commands run behind view, mask or box";
	const { reason, remedy } = explain(first.result);
	const which =
		failed.length === 3
			? "there are no walls"
			: `there is no ${failed.map(({ kind }) => kind).join(" and no ")}`;
	return `${which}: ${reason}. What to do: ${remedy}`;
}

function explain(result: Extract<ProbeResult, { isPossible: false }>): { reason: string; remedy: string } {
	const words = result.said === "" || result.cause === "missing" ? "" : ` (${result.said.split("\n")[0]})`;
	return { reason: `${causeInWords(result.cause)}${words}`, remedy: result.remedy };
}
