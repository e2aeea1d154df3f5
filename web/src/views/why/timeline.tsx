import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { classes } from "../../lib/classes.ts";
import { duration, fullTime } from "../../lib/time.ts";
import { texts } from "../../texts/why.ts";
import type { Step } from "./steps.ts";

/** A time since the previous step of at least this long is highlighted. */
const LONG_MS = 1000;

const clock = new Intl.DateTimeFormat(undefined, {
	hour: "2-digit",
	minute: "2-digit",
	second: "2-digit",
	fractionalSecondDigits: 3,
	hourCycle: "h23",
});

export function Timeline({
	steps,
	conversation,
}: {
	readonly steps: readonly Step[];
	readonly conversation: string | null;
}) {
	return (
		<ol aria-label={texts.timeline.steps} className="relative">
			{steps.map((step, index) => (
				<li key={step.key} className="relative grid grid-cols-[1rem_minmax(0,1fr)] gap-x-3 pb-4 last:pb-0">
					<span aria-hidden className="relative flex justify-center">
						<span
							className={classes(
								"absolute top-1.5 size-2 rounded-full ring-3 ring-ground",
								dotOf(step.event?.type ?? ""),
							)}
						/>
						{index < steps.length - 1 && <span className="mt-4 -mb-4 w-px bg-line" />}
					</span>
					<div className="min-w-0">
						<p className="flex flex-wrap items-baseline gap-x-2 text-xs text-ink-3 tabular-nums">
							<time
								dateTime={new Date(step.at).toISOString()}
								title={fullTime(step.at)}
								className="font-mono"
							>
								{clock.format(step.at)}
							</time>
							{step.after !== null && (
								<span className={step.after >= LONG_MS ? "font-medium text-warn" : undefined}>
									+{duration(step.after)}
								</span>
							)}
							{step.event && <span className="font-mono">{step.event.type}</span>}
						</p>
						<p className="break-words">{withCode(step.sentence)}</p>
						<StepLink step={step} conversation={conversation} />
					</div>
				</li>
			))}
		</ol>
	);
}

/** Links to the row in the transcript that a step wrote. */
function StepLink({ step, conversation }: { readonly step: Step; readonly conversation: string | null }) {
	const { type, session, facts } = step.event ?? {};
	if (type !== "message.appended" || conversation === null || typeof facts?.seq !== "number") return null;
	return (
		<Link
			to="/c/$conversation"
			params={{ conversation }}
			search={{ m: `${session}:${facts.seq}` }}
			className="text-sm text-accent underline-offset-2 hover:underline"
		>
			{texts.timeline.showMessageInTheConversation(facts.seq)}
		</Link>
	);
}

function dotOf(type: string): string {
	if (/\.(?:dead|failed|refused|expired)$/.test(type)) return "bg-danger";
	if (/\.(?:unknown|retry|interrupted)$/.test(type)) return "bg-warn";
	if (/^(?:turn\.ended|delivery\.sent)$/.test(type)) return "bg-ok";
	if (/^(?:inbound|turn)\./.test(type)) return "bg-accent";
	return "bg-line-strong";
}

/** Shows text between backticks as code. */
function withCode(sentence: string): ReactNode {
	return sentence.split("`").map((piece, index) =>
		index % 2 === 1 ? (
			<code key={piece} className="rounded-xs bg-hover px-1 font-mono text-xs">
				{piece}
			</code>
		) : (
			piece
		),
	);
}
