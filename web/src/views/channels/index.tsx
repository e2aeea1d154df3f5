// The chat channels: their state, deliveries waiting to be sent, and deliveries of unknown outcome.

import { Plus } from "lucide-react";
import { useState } from "react";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/channels.ts";
import { Button, ErrorState, Page, SkeletonRows } from "../../ui/index.ts";
import { AddChannel } from "./add.tsx";
import { type Connection, ConnectionCard } from "./card.tsx";
import { Nodes } from "./nodes.tsx";
import { Pairings } from "./pairings.tsx";
import { Unsettled } from "./unsettled.tsx";
import { Waiting } from "./waiting.tsx";

export function ChannelsView() {
	const [adding, setAdding] = useState(false);
	const { data, error, refetch, dataUpdatedAt } = useApi(
		"channels",
		{},
		{ on: ["delivery", "channel", "config"] },
	);
	const addButton = (
		<Button icon={<Plus size={14} />} onClick={() => setAdding(true)}>
			{texts.view.addAChannel}
		</Button>
	);
	return (
		<Page
			title={texts.view.channels}
			about={texts.view.theChatPlatformsKeryxIs}
			actions={data?.channels.every((one) => one.built_in) ? undefined : addButton}
		>
			{adding && <AddChannel onClose={() => setAdding(false)} />}
			{data ? (
				<div className="mx-auto flex w-full max-w-280 flex-col gap-7 px-4 py-4 lg:px-6">
					<section aria-labelledby="channels-heading">
						<h2 id="channels-heading" className="sr-only">
							{texts.view.connections}
						</h2>
						{data.channels.every((one) => one.built_in) ? (
							<div className="flex flex-wrap items-center gap-x-4 gap-y-2 rounded-md border border-dashed px-4 py-3 text-ink-3">
								<p className="min-w-0 flex-1 basis-72">
									<span className="font-semibold text-ink-2">{texts.view.noChannelIsConnected}.</span>{" "}
									{texts.view.connectAChatPlatformAnd}
								</p>
								{addButton}
							</div>
						) : (
							<Cards
								{...data}
								channels={data.channels.filter((one) => !one.built_in)}
								readAt={dataUpdatedAt}
							/>
						)}
						<h3 className="mt-6 mb-2 font-semibold">{texts.view.builtIn}</h3>
						<Cards {...data} channels={data.channels.filter((one) => one.built_in)} readAt={dataUpdatedAt} />
					</section>
					<Nodes />
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

function Cards({
	channels,
	counted,
	readAt,
}: {
	readonly channels: readonly Connection[];
	readonly counted: boolean;
	readonly readAt: number;
}) {
	return (
		<ul className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-3">
			{channels.map((channel) => (
				<ConnectionCard key={channel.name} channel={channel} readAt={readAt} isCounted={counted} />
			))}
		</ul>
	);
}
