// The verdict over a whole command: as dangerous as its worst piece. Pure, never throws, bounded work.
import { judge } from "./judge.ts";
import { shownSegment } from "./text.ts";
import type { CommandFacts, CommandRule, CommandVerdict, DangerReason } from "./types.ts";
import { walkCommand } from "./walk.ts";

const MAX_REASONS = 20;

/**
 * What a command would do, judged before it runs. A seat belt against mistakes and careless models, not a sandbox: a script
 * file, a build or a test may do anything that this user may.
 */
export function classifyCommand(command: string, facts: CommandFacts): CommandVerdict {
	const reasons = new Map<string, DangerReason>();
	let harmless = true;
	const add = (reason: DangerReason): void => {
		const key = `${reason.rule}\n${reason.action}\n${reason.segment}`;
		if (reasons.size < MAX_REASONS && !reasons.has(key)) reasons.set(key, reason);
	};
	const danger = (rule: CommandRule, segment: string, why: string): void =>
		add({ rule, action: "run_command", segment: shownSegment(segment), why });
	try {
		walkCommand(command, facts, {
			invocation(invocation) {
				const judgement = judge(invocation, facts);
				for (const reason of judgement.reasons) add(reason);
				harmless &&= judgement.harmless;
			},
			danger,
			doubt() {
				harmless = false;
			},
		});
	} catch (error) {
		// The stack is the only thing that can run out: functions that call functions, thousands deep.
		if (!(error instanceof RangeError)) throw error;
		danger("limit", command, "is nested too deeply to be looked through");
	}
	if (reasons.size > 0) return { kind: "dangerous", reasons: [...reasons.values()] };
	return { kind: harmless ? "harmless" : "ordinary" };
}
