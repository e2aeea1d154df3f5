import type { Answer } from "../../../../src/http/endpoints.ts";
import { texts } from "../../texts/settings.ts";

export type Problem = Answer<"validateConfig">["problems"][number];

/** Problems with their positions. A position is a button if one can jump there. */
export function Problems({
	problems,
	onGo,
}: {
	readonly problems: readonly Problem[];
	readonly onGo?: (problem: Problem) => void;
}) {
	return (
		<ol aria-label={texts.problems.problems} className="mt-1 flex flex-col gap-0.5">
			{problems.map((problem) => (
				<li key={`${positionOf(problem)} ${problem.message}`} className="flex items-baseline gap-3 text-sm">
					{onGo && problem.line !== null ? (
						<button
							type="button"
							className="w-12 shrink-0 rounded-xs text-left font-mono text-xs text-accent underline-offset-2 hover:underline"
							onClick={() => onGo(problem)}
						>
							{positionOf(problem)}
							<span className="sr-only">{texts.problems.goThere}</span>
						</button>
					) : (
						<span className="shrink-0 font-mono text-xs text-ink-2">{positionOf(problem)}</span>
					)}
					<span className="min-w-0 break-words">{problem.message}</span>
				</li>
			))}
		</ol>
	);
}

function positionOf({ line, column, variable }: Problem): string {
	if (variable !== null) return variable;
	if (line === null) return "file";
	return column === null ? String(line) : `${line}:${column}`;
}
