// One invocation -> its reasons, or whether it only reads.
import { isHarmless } from "./harmless/index.ts";
import { RULES } from "./rules/index.ts";
import { shownSegment } from "./text.ts";
import type { CommandFacts, DangerReason, Invocation } from "./types.ts";

export interface Judgement {
	readonly reasons: readonly DangerReason[];
	readonly harmless: boolean;
}

export function judge(invocation: Invocation, facts: CommandFacts): Judgement {
	const reasons: DangerReason[] = [];
	for (const rule of RULES) {
		const found = rule.look(invocation, facts);
		if (!found) continue;
		reasons.push({
			class: found.class ?? rule.class,
			action: found.action ?? rule.action,
			segment: shownSegment(invocation.segment),
			why: found.why,
		});
	}
	return { reasons, harmless: reasons.length === 0 && isHarmless(invocation) };
}
