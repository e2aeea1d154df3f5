// The verdict on a whole command: as dangerous as its worst piece. Pure, never throws, limited work.
import { judge } from "./judge.ts";
import { judgeCode } from "./languages/code.ts";
import { judgeSql, judgeSqliteShell } from "./languages/sql.ts";
import { walkCommand } from "./shell/walk.ts";
import { shownSegment } from "./text.ts";
import type { CommandClass, CommandFacts, CommandVerdict, DangerReason } from "./types.ts";

const MAX_REASONS = 20;

/**
 * Judges a command before it runs. A seat belt against mistakes and careless models, not a sandbox: a script, build or test may do
 * anything this user may.
 */
export function classifyCommand(command: string, facts: CommandFacts): CommandVerdict {
	const reasons = new Map<string, DangerReason>();
	const classes = new Set<CommandClass>();
	let harmless = true;
	const add = (reason: DangerReason): void => {
		const key = `${reason.class}\n${reason.action}\n${reason.segment}`;
		if (reasons.has(key)) return;
		// Whatever is left out, every class is named at least once: grants depend on it.
		if (reasons.size >= MAX_REASONS && classes.has(reason.class)) return;
		classes.add(reason.class);
		reasons.set(key, reason);
	};
	const danger = (reason: CommandClass, segment: string, why: string): void =>
		add({ class: reason, action: "run_command", segment: shownSegment(segment), why });
	try {
		walkCommand(command, facts, {
			invocation(invocation) {
				const judgement = judge(invocation, facts);
				for (const reason of judgement.reasons) add(reason);
				harmless &&= judgement.harmless;
			},
			code({ text, language }, segment) {
				harmless = false;
				if (language === "sql") {
					const why = judgeSql(text) ?? judgeSqliteShell(text);
					if (why) add({ class: "database", action: "wipe_database", segment: shownSegment(segment), why });
					return;
				}
				const found = judgeCode(text, facts);
				if (found) danger(found.class ?? "code", segment, found.why);
			},
			danger,
			doubt() {
				harmless = false;
			},
		});
	} catch (error) {
		// Only the stack can run out: functions that call functions, thousands deep.
		if (!(error instanceof RangeError)) throw error;
		danger("limit", command, "is nested too deeply to check");
	}
	if (reasons.size > 0) return { kind: "dangerous", reasons: [...reasons.values()] };
	return { kind: harmless ? "harmless" : "ordinary" };
}
