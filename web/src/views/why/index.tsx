// What happened to one message, from its arrival to its end: every step with its time and duration.

import { useParams } from "@tanstack/react-router";
import { Waypoints } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError, useApi } from "../../api/index.ts";
import { duration, fullTime } from "../../lib/time.ts";
import { texts } from "../../texts/why.ts";
import { Badge, CopyButton, Empty, ErrorState, Page, Skeleton, type Tone } from "../../ui/index.ts";
import { Facts } from "./facts.tsx";
import { type Step, type Story, stepsOf, verdictOf } from "./steps.ts";
import { Timeline } from "./timeline.tsx";

/** Everything a turn does causes at least one event of these kinds. */
const CHANGED_BY = [
	"inbound",
	"turn",
	"message",
	"call",
	"model",
	"delivery",
	"checkpoint",
	"session",
] as const;

export function WhyView() {
	const { inbound } = useParams({ from: "/why/$inbound" });
	const isNumber = /^[1-9]\d{0,14}$/.test(inbound);
	const { data, error, refetch } = useApi(
		"why",
		{ id: Number(inbound) },
		{ on: CHANGED_BY, enabled: isNumber },
	);
	const isMissing = !isNumber || (error instanceof ApiError && error.status === 404);
	return (
		<Page
			title={texts.view.why}
			about={isNumber ? texts.view.whatHappenedToMessage(inbound) : undefined}
			actions={data && <CopyButton text={data.text} label={texts.view.copyAsText} />}
		>
			{isMissing ? (
				<NoSuchMessage />
			) : data ? (
				<Path story={data} />
			) : error ? (
				<ErrorState error={error} onRetry={() => void refetch()} />
			) : (
				<Loading />
			)}
		</Page>
	);
}

function Path({ story }: { readonly story: Story }) {
	const steps = stepsOf(story);
	return (
		<div className="mx-auto grid w-full max-w-280 grid-cols-1 gap-x-8 gap-y-5 px-4 py-4 lg:grid-cols-[minmax(0,1fr)_18rem] lg:px-6">
			<div className="min-w-0">
				<Verdict story={story} steps={steps} />
				<Timeline steps={steps} conversation={story.inbound.conversation} />
			</div>
			<Facts story={story} />
		</div>
	);
}

const TONES: Readonly<Record<string, Tone>> = {
	answered: "ok",
	merged: "ok",
	command: "accent",
	observed: "neutral",
	stopped: "neutral",
	dropped_by_user: "neutral",
	refused: "warn",
	expired: "warn",
	failed: "danger",
};

function Verdict({ story, steps }: { readonly story: Story; readonly steps: readonly Step[] }) {
	const { disposition, accepted_at, disposed_at } = story.inbound;
	const accepted = Date.parse(accepted_at);
	const took = disposed_at === null ? null : Date.parse(disposed_at) - accepted;
	return (
		<section aria-label={texts.view.whatHappened} className="mb-5 rounded-md border bg-panel px-4 py-3">
			<div className="flex flex-wrap items-center gap-2">
				<Badge tone={TONES[disposition?.kind ?? ""] ?? "accent"}>
					{(disposition?.kind ?? (story.inbound.turn === null ? "waiting" : "running")).replaceAll("_", " ")}
				</Badge>
				<p className="font-medium">{verdictOf(story)}</p>
			</div>
			<p className="mt-1 text-sm text-ink-2">
				<time dateTime={accepted_at}>{texts.view.arrived(fullTime(accepted))}</time>
				{took !== null && texts.view.finishedLater(duration(took))}
				{steps.length === 1 ? texts.view.in1Step : texts.view.inSteps(steps.length)}
			</p>
		</section>
	);
}

function NoSuchMessage(): ReactNode {
	return (
		<Empty icon={<Waypoints size={24} />} title={texts.view.thereIsNoSuchMessage}>
			{texts.view.thisPageShowsWhatHappened}
		</Empty>
	);
}

function Loading() {
	return (
		<div
			role="status"
			aria-label={texts.view.loading}
			className="mx-auto grid w-full max-w-280 grid-cols-1 gap-x-8 gap-y-5 px-4 py-4 lg:grid-cols-[minmax(0,1fr)_18rem] lg:px-6"
		>
			<div>
				<Skeleton className="mb-5 h-19 w-full" />
				{["one", "two", "three", "four", "five", "six"].map((row) => (
					<Skeleton key={row} className="mb-3 h-6 w-4/5" />
				))}
			</div>
			<Skeleton className="h-64" />
		</div>
	);
}
