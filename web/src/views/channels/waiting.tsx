import { clockTime } from "../../lib/time.ts";
import { texts } from "../../texts/channels.ts";
import { Badge, Button, ErrorLine, platformName, SkeletonRows } from "../../ui/index.ts";
import { useDeliveries } from "./deliveries.ts";
import { DeliveryItem } from "./delivery.tsx";

/** The outbox. Deliveries to a platform without a channel wait there too, and say so. */
export function Waiting({ known }: { readonly known: readonly string[] }) {
	const { deliveries, error, more } = useDeliveries("waiting");
	const unreachable = new Set(
		(deliveries ?? []).map(({ destination }) => destination.platform).filter((name) => !known.includes(name)),
	);
	const names = [...unreachable].map(platformName).join(", ");
	return (
		<section aria-labelledby="waiting-heading">
			<h2 id="waiting-heading" className="font-semibold">
				{texts.waiting.outbox}
			</h2>
			{unreachable.size > 0 && (
				<p className="text-sm text-warn">{texts.waiting.thereIsNoChannelFor(names)}</p>
			)}
			{error && <ErrorLine error={error} />}
			{!deliveries && !error && <SkeletonRows rows={2} />}
			{deliveries?.length === 0 && (
				<p className="mt-2 rounded-md border border-dashed px-4 py-3 text-ink-3">
					{texts.waiting.nothingIsWaitingToBe}
				</p>
			)}
			<ul>
				{deliveries?.map((delivery) => (
					<DeliveryItem
						key={delivery.id}
						delivery={delivery}
						badge={
							<Badge>{delivery.state === "sending" ? texts.waiting.sending : texts.waiting.waiting}</Badge>
						}
					>
						{delivery.due_at !== null && Date.parse(delivery.due_at) > Date.now() && (
							<p className="text-xs text-ink-3">
								{texts.waiting.nextAttemptAt(clockTime(Date.parse(delivery.due_at)))}
							</p>
						)}
					</DeliveryItem>
				))}
			</ul>
			{more && (
				<Button size="sm" onClick={more}>
					{texts.waiting.showMore}
				</Button>
			)}
		</section>
	);
}
