import type { Answer } from "../../../../src/http/endpoints.ts";
import { useSecond } from "../../lib/seconds.ts";
import { duration } from "../../lib/time.ts";
import { texts } from "../../texts/processes.ts";
import { Badge, type Tone } from "../../ui/index.ts";

export type Process = Answer<"process">;

const STATES: Readonly<Record<Process["state"], { readonly name: string; readonly tone: Tone }>> = {
	starting: { name: texts.state.starting, tone: "accent" },
	running: { name: texts.state.running, tone: "accent" },
	exited: { name: texts.state.exited, tone: "neutral" },
	killed: { name: texts.state.killed, tone: "warn" },
	lost: { name: texts.state.lost, tone: "danger" },
	failed_start: { name: texts.state.didNotStart, tone: "danger" },
};

export function isRunning({ ended_at }: Process): boolean {
	return ended_at === null;
}

export function ProcessState({ process }: { readonly process: Process }) {
	const { state, exit_code } = process;
	if (state === "exited" && exit_code === 0) return <Badge tone="ok">{texts.state.exited0}</Badge>;
	if (state === "exited" && exit_code !== null)
		return <Badge tone="danger">{texts.state.exited2(exit_code)}</Badge>;
	const { name, tone } = STATES[state];
	return (
		<Badge
			tone={tone}
			icon={isRunning(process) && <span aria-hidden className="pulse size-1.5 rounded-full bg-accent" />}
		>
			{name}
		</Badge>
	);
}

/** How a process ended, in words. The state shows the exit code. */
export function howItEnded({ cause, signal, state }: Process): string {
	const words = cause ?? (state === "lost" ? texts.state.itsHostIsGone : "");
	return signal === null || words.includes(signal) ? words : `${words} (${signal})`;
}

export function Runtime({ process }: { readonly process: Process }) {
	const { started_at, ended_at } = process;
	if (ended_at === null) return <Running since={Date.parse(started_at)} />;
	return (
		<span className="whitespace-nowrap tabular-nums">
			{duration(Date.parse(ended_at) - Date.parse(started_at))}
		</span>
	);
}

function Running({ since }: { readonly since: number }) {
	const now = useSecond();
	return <span className="whitespace-nowrap tabular-nums">{duration(Math.max(1000, now - since))}</span>;
}
