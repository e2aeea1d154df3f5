// One connection: its state, and actions.

import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, type useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import { Badge, Button, Dialog, ErrorLine, PlatformIcon, platformName, type Tone } from "../../ui/index.ts";
import { Age } from "./age.tsx";

export type Connection = NonNullable<ReturnType<typeof useApi<"channels">>["data"]>["channels"][number];

const STATES: Readonly<Record<string, { readonly name: string; readonly tone: Tone }>> = {
	connected: { name: texts.view.connected, tone: "ok" },
	starting: { name: texts.view.starting, tone: "accent" },
	degraded: { name: texts.view.degraded, tone: "warn" },
	down: { name: texts.view.down, tone: "danger" },
	needs_attention: { name: texts.view.needsAttention, tone: "danger" },
	stopped: { name: texts.view.stopped, tone: "danger" },
};

export function ConnectionCard({
	channel,
	readAt,
	isCounted,
}: {
	readonly channel: Connection;
	readonly readAt: number;
	/** False if the count of waiting deliveries stopped at its limit. */
	readonly isCounted: boolean;
}) {
	const state = STATES[channel.state] ?? { name: channel.state, tone: "neutral" as const };
	return (
		<li className="flex min-w-0 flex-col gap-2 rounded-md border px-4 py-3">
			<p className="flex items-center gap-2">
				<PlatformIcon platform={channel.platform} />
				<span className="min-w-0 truncate font-semibold">{platformName(channel.platform)}</span>
				{channel.account !== "" && (
					<span className="min-w-0 truncate text-sm text-ink-3">{channel.account}</span>
				)}
				<span className="ml-auto">
					<Badge tone={state.tone}>{state.name}</Badge>
				</span>
			</p>
			<dl className="grid grid-cols-[minmax(0,1fr)_auto] gap-y-1 text-sm">
				<dt className="text-ink-3">{texts.view.lastHeardFrom}</dt>
				<dd className="text-right tabular-nums">
					{channel.state === "connected" && channel.alive_at !== null ? (
						texts.view.momentsAgo
					) : (
						<Age seconds={channel.age_seconds} readAt={readAt} at={channel.alive_at} />
					)}
				</dd>
				{channel.proven_by !== null && (
					<>
						<dt className="text-ink-3">{texts.card.lastSign}</dt>
						<dd className="text-right">{channel.proven_by}</dd>
					</>
				)}
				<dt className="text-ink-3">{texts.view.waitingToBeSent}</dt>
				<dd className="text-right tabular-nums">
					{channel.pending}
					{isCounted ? "" : texts.view.orMore}
				</dd>
			</dl>
			{channel.detail !== null && <p className="break-words text-sm text-ink-2">{channel.detail}</p>}
			{!channel.built_in && <Actions name={channel.name} platform={channel.platform} />}
		</li>
	);
}

function Actions({ name, platform }: { readonly name: string; readonly platform: string }) {
	const [isRemoving, setIsRemoving] = useState(false);
	const test = useMutation({ mutationFn: () => api.testChannel({ name }) });
	const remove = useMutation({
		mutationFn: () => api.removeChannel({ name }),
		onSuccess: () => setIsRemoving(false),
	});
	return (
		<>
			<div className="mt-auto flex flex-wrap items-center gap-2 pt-1">
				<Button size="sm" disabled={test.isPending} onClick={() => test.mutate()}>
					{test.isPending ? texts.card.testing : texts.card.test}
				</Button>
				<Button size="sm" look="quiet" onClick={() => setIsRemoving(true)}>
					{texts.card.remove}
				</Button>
				{test.data && (
					<p role="status" className="text-sm text-ok">
						{texts.card.answers(test.data.who)}
					</p>
				)}
			</div>
			{test.data?.remarks.map((remark) => (
				<p key={remark} className="text-sm text-ink-2">
					{remark}
				</p>
			))}
			{test.error && <ErrorLine error={test.error} />}
			<Dialog
				open={isRemoving}
				onOpenChange={(open) => {
					if (!open) setIsRemoving(false);
				}}
				title={texts.card.removeThisChannel(platformName(platform))}
				about={texts.card.keryxForgetsItsToken}
				actions={
					<>
						<Button onClick={() => setIsRemoving(false)}>{texts.add.cancel}</Button>
						<Button look="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
							{texts.card.remove}
						</Button>
					</>
				}
			>
				<p>{texts.card.messagesForItWait}</p>
				{remove.error && <ErrorLine error={remove.error} />}
			</Dialog>
		</>
	);
}
