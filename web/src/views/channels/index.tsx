// The ways in and out for chats: whether each is there, what waits to be sent, and what nobody knows the end of.

import { Plug, Plus } from "lucide-react";
import { useState } from "react";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import {
	Badge,
	Button,
	Empty,
	ErrorState,
	Page,
	PlatformIcon,
	platformName,
	SkeletonRows,
	type Tone,
} from "../../ui/index.ts";
import { AddChannel } from "./add.tsx";
import { Age } from "./age.tsx";
import { Pairings } from "./pairings.tsx";
import { Unsettled } from "./unsettled.tsx";
import { Waiting } from "./waiting.tsx";

const STATES: Readonly<Record<string, { readonly name: string; readonly tone: Tone }>> = {
	connected: { name: texts.view.connected, tone: "ok" },
	starting: { name: texts.view.starting, tone: "accent" },
	degraded: { name: texts.view.degraded, tone: "warn" },
	down: { name: texts.view.down, tone: "danger" },
	needs_attention: { name: texts.view.needsAttention, tone: "danger" },
	stopped: { name: texts.view.stopped, tone: "danger" },
};

export function ChannelsView() {
	const [adding, setAdding] = useState(false);
	const { data, error, refetch, dataUpdatedAt } = useApi(
		"channels",
		{},
		{ on: ["delivery", "channel", "config"] },
	);
	return (
		<Page
			title={texts.view.channels}
			about={texts.view.theChatPlatformsKeryxIs}
			actions={
				<Button size="sm" icon={<Plus size={14} />} onClick={() => setAdding(true)}>
					{texts.view.addAChannel}
				</Button>
			}
		>
			{adding && <AddChannel onClose={() => setAdding(false)} />}
			{data ? (
				<div className="mx-auto flex w-full max-w-280 flex-col gap-7 px-4 py-4 lg:px-6">
					<section aria-labelledby="channels-heading">
						<h2 id="channels-heading" className="sr-only">
							{texts.view.connections}
						</h2>
						{data.channels.length === 0 && (
							<Empty icon={<Plug size={24} />} title={texts.view.noChannelIsConnected}>
								{texts.view.connectAChatPlatformAnd}
							</Empty>
						)}
						<ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3">
							{data.channels.map((channel) => {
								const state = STATES[channel.state] ?? { name: channel.state, tone: "neutral" as const };
								return (
									<li
										key={`${channel.platform} ${channel.account}`}
										className="flex min-w-0 flex-col gap-2 rounded-md border px-4 py-3"
									>
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
													<Age seconds={channel.age_seconds} readAt={dataUpdatedAt} at={channel.alive_at} />
												)}
											</dd>
											<dt className="text-ink-3">{texts.view.waitingToBeSent}</dt>
											<dd className="text-right tabular-nums">
												{channel.pending}
												{data.counted ? "" : texts.view.orMore}
											</dd>
										</dl>
										{channel.detail !== null && (
											<p className="break-words text-sm text-ink-2">{channel.detail}</p>
										)}
									</li>
								);
							})}
						</ul>
					</section>
					<Pairings />
					<Unsettled />
					<Waiting known={data.channels.map(({ platform }) => platform)} />
				</div>
			) : error ? (
				<ErrorState error={error} onRetry={() => void refetch()} />
			) : (
				<SkeletonRows />
			)}
		</Page>
	);
}
