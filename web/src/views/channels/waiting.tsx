import { clockTime } from "../../lib/time.ts";
import { Badge, Button, ErrorLine, platformName, SkeletonRows } from "../../ui/index.ts";
import { useDeliveries } from "./deliveries.ts";
import { DeliveryItem } from "./delivery.tsx";

/** The outbox. What goes to a platform without a channel waits there too, and says so. */
export function Waiting({ known }: { readonly known: readonly string[] }) {
	const { deliveries, error, more } = useDeliveries("waiting");
	const unreachable = new Set(
		(deliveries ?? []).map(({ destination }) => destination.platform).filter((name) => !known.includes(name)),
	);
	return (
		<section aria-labelledby="waiting-heading">
			<h2 id="waiting-heading" className="font-semibold">
				On their way
			</h2>
			{unreachable.size > 0 && (
				<p className="text-sm text-warn">
					There is no channel for {[...unreachable].map(platformName).join(", ")}: what goes there waits.
				</p>
			)}
			{error && <ErrorLine error={error} />}
			{!deliveries && !error && <SkeletonRows rows={2} />}
			{deliveries?.length === 0 && (
				<p className="mt-2 rounded-md border border-dashed px-4 py-3 text-ink-3">
					The outbox is empty. What an answer waits for before it is sent will stand here.
				</p>
			)}
			<ul>
				{deliveries?.map((delivery) => (
					<DeliveryItem
						key={delivery.id}
						delivery={delivery}
						badge={<Badge>{delivery.state === "sending" ? "Being sent" : "Waits"}</Badge>}
					>
						{delivery.due_at !== null && Date.parse(delivery.due_at) > Date.now() && (
							<p className="text-xs text-ink-3">Is tried again at {clockTime(Date.parse(delivery.due_at))}</p>
						)}
					</DeliveryItem>
				))}
			</ul>
			{more && (
				<Button size="sm" onClick={more}>
					Show more
				</Button>
			)}
		</section>
	);
}
