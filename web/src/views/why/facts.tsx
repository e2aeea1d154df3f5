import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useApi } from "../../api/index.ts";
import { duration } from "../../lib/time.ts";
import { texts } from "../../texts/why.ts";
import { Badge, ErrorLine, PlatformIcon, platformName, Skeleton, type Tone } from "../../ui/index.ts";
import type { Story } from "./steps.ts";

/** The message, its conversation, its turn, and the deliveries. */
export function Facts({ story }: { readonly story: Story }) {
	const { inbound } = story;
	return (
		<aside aria-label={texts.facts.related} className="flex flex-col gap-5 text-sm">
			<Group title={texts.facts.message}>
				<Fact name={texts.facts.number}>{inbound.id}</Fact>
				<Fact name={texts.facts.cameFrom}>{KINDS[inbound.kind]}</Fact>
				<Fact name={texts.facts.idOnThePlatform}>
					<span className="font-mono text-xs">{inbound.client_message_id}</span>
				</Fact>
			</Group>
			{inbound.conversation !== null && <ConversationFacts id={inbound.conversation} />}
			{inbound.turn !== null && <TurnFacts id={inbound.turn} />}
		</aside>
	);
}

const KINDS = {
	person: texts.facts.aPerson,
	confirmation: texts.facts.aDecidedConfirmation,
	process: texts.facts.aProcess,
	schedule: texts.facts.aSchedule,
} as const;

function ConversationFacts({ id }: { readonly id: string }) {
	const { data, error } = useApi(
		"conversation",
		{ conversation: id },
		{ on: ["session", "conversation"], of: id },
	);
	return (
		<Group title={texts.facts.conversation}>
			{error && <ErrorLine error={error} />}
			{!data && !error && <Skeleton className="h-5" />}
			{data && (
				<Link
					to="/c/$conversation"
					params={{ conversation: id }}
					className="flex items-center gap-2 text-accent underline-offset-2 hover:underline"
				>
					<PlatformIcon platform={data.platform} />
					<span className="min-w-0 truncate">{data.name}</span>
				</Link>
			)}
		</Group>
	);
}

const TURN_TONES: Readonly<Record<string, Tone>> = {
	running: "accent",
	completed: "ok",
	interrupted: "warn",
	failed: "danger",
	expired: "warn",
};

const DELIVERY_TONES: Readonly<Record<string, Tone>> = { sent: "ok", unknown: "warn", dead: "danger" };

function TurnFacts({ id }: { readonly id: string }) {
	const { data, error } = useApi("turn", { turn: id }, { on: ["turn", "delivery"] });
	if (error)
		return (
			<Group title={texts.facts.turn}>
				<ErrorLine error={error} />
			</Group>
		);
	if (!data)
		return (
			<Group title={texts.facts.turn}>
				<Skeleton className="h-24" />
			</Group>
		);
	const others = data.inbound.filter(({ turn }) => turn === id).length - 1;
	return (
		<>
			<Group title={texts.facts.turn}>
				<Fact name={texts.facts.state}>
					<Badge tone={TURN_TONES[data.state] ?? "neutral"}>{data.state}</Badge>
				</Fact>
				{data.ended_at !== null && (
					<Fact name={texts.facts.took}>
						{duration(Date.parse(data.ended_at) - Date.parse(data.started_at))}
					</Fact>
				)}
				{data.attempts > 1 && <Fact name={texts.facts.attempts}>{data.attempts}</Fact>}
				{others > 0 && <Fact name={texts.facts.togetherWith}>{texts.facts.more(others)}</Fact>}
				{data.detail !== null && <Fact name={texts.facts.detail}>{data.detail}</Fact>}
				<Fact name={texts.facts.id}>
					<span className="font-mono text-xs">{data.id}</span>
				</Fact>
			</Group>
			<Group title={texts.facts.deliveries}>
				{data.deliveries.length === 0 && <p className="text-ink-3">{texts.facts.nothingWasSent}</p>}
				{data.deliveries.map((delivery) => (
					<div key={delivery.id} className="flex flex-col gap-1 border-b border-line/70 pb-2 last:border-0">
						<p className="flex items-center gap-2">
							<PlatformIcon platform={delivery.destination.platform} />
							<span className="min-w-0 truncate">{platformName(delivery.destination.platform)}</span>
							<span className="ml-auto">
								<Badge tone={DELIVERY_TONES[delivery.state] ?? "neutral"}>{delivery.state}</Badge>
							</span>
						</p>
						<p className="line-clamp-2 break-words text-ink-2">{delivery.plain}</p>
						{(delivery.state === "unknown" || delivery.state === "dead") && (
							<Link to="/channels" className="text-accent underline-offset-2 hover:underline">
								{texts.facts.needsYourDecision}
							</Link>
						)}
					</div>
				))}
			</Group>
		</>
	);
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
	return (
		<section aria-label={title}>
			<h2 className="mb-1.5 text-xs font-medium text-ink-3">{title}</h2>
			<div className="flex flex-col gap-1.5">{children}</div>
		</section>
	);
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
	return (
		<div className="grid grid-cols-[6.5rem_minmax(0,1fr)] gap-2">
			<span className="text-ink-3">{name}</span>
			<span className="min-w-0 break-words">{children}</span>
		</div>
	);
}
