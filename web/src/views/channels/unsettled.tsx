// Deliveries that ended without success. Keryx never resends by itself what may have arrived, so a person decides.
import { useMutation } from "@tanstack/react-query";
import { Check, RotateCw, Trash2 } from "lucide-react";
import { api } from "../../api/index.ts";
import type { Delivery } from "../../api/types.ts";
import { Badge, Button, ErrorLine, SkeletonRows } from "../../ui/index.ts";
import { useDeliveries } from "./deliveries.ts";
import { DeliveryItem } from "./delivery.tsx";

export function Unsettled() {
	const { deliveries, error, more } = useDeliveries("unsettled");
	return (
		<section aria-labelledby="unsettled-heading">
			<h2 id="unsettled-heading" className="font-semibold">
				To decide
			</h2>
			<p className="text-sm text-ink-2">
				What was given up, and what may or may not have arrived. Keryx does not send such things again by
				itself.
			</p>
			{error && <ErrorLine error={error} />}
			{!deliveries && !error && <SkeletonRows rows={2} />}
			{deliveries?.length === 0 && (
				<p className="mt-2 rounded-md border border-dashed px-4 py-3 text-ink-3">
					Nothing: everything that was sent has arrived.
				</p>
			)}
			<ul>
				{deliveries?.map((delivery) => (
					<ToDecide key={delivery.id} delivery={delivery} />
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

function ToDecide({ delivery }: { readonly delivery: Delivery }) {
	const { mutate, isPending, error } = useMutation({
		mutationFn: (as: "retry" | "sent" | "drop") => api.resolveDelivery({ delivery: delivery.id, as }),
	});
	const isUnknown = delivery.state === "unknown";
	return (
		<DeliveryItem
			delivery={delivery}
			badge={isUnknown ? <Badge tone="warn">May have arrived</Badge> : <Badge tone="danger">Given up</Badge>}
		>
			<div className="mt-1 flex flex-wrap items-center gap-2">
				<Button size="sm" icon={<RotateCw size={13} />} disabled={isPending} onClick={() => mutate("retry")}>
					Send again
				</Button>
				<Button
					size="sm"
					look="quiet"
					icon={<Check size={14} />}
					disabled={isPending}
					onClick={() => mutate("sent")}
				>
					It arrived
				</Button>
				<Button
					size="sm"
					look="quiet"
					icon={<Trash2 size={13} />}
					disabled={isPending}
					onClick={() => mutate("drop")}
				>
					Drop
				</Button>
				{isUnknown && (
					<p className="text-xs text-ink-3">Look in the chat first: sent again, it may be there twice.</p>
				)}
			</div>
			{error && <ErrorLine error={error} />}
		</DeliveryItem>
	);
}
