// Deliveries that ended without success. Keryx never resends a message by itself if it may have arrived, so a person decides.

import { useMutation } from "@tanstack/react-query";
import { Check, RotateCw, Trash2 } from "lucide-react";
import { api } from "../../api/index.ts";
import type { Delivery } from "../../api/types.ts";
import { texts } from "../../texts/channels.ts";
import { Badge, Button, ErrorLine, SkeletonRows } from "../../ui/index.ts";
import { useDeliveries } from "./deliveries.ts";
import { DeliveryItem } from "./delivery.tsx";

export function Unsettled() {
	const { deliveries, error, more } = useDeliveries("unsettled");
	return (
		<section aria-labelledby="unsettled-heading">
			<h2 id="unsettled-heading" className="font-semibold">
				{texts.unsettled.needsYourDecision}
			</h2>
			<p className="text-sm text-ink-2">{texts.unsettled.messagesThatKeryxGaveUp}</p>
			{error && <ErrorLine error={error} />}
			{!deliveries && !error && <SkeletonRows rows={2} />}
			{deliveries?.length === 0 && (
				<p className="mt-2 rounded-md border border-dashed px-4 py-3 text-ink-3">
					{texts.unsettled.noneEverythingThatWasSent}
				</p>
			)}
			<ul>
				{deliveries?.map((delivery) => (
					<ToDecide key={delivery.id} delivery={delivery} />
				))}
			</ul>
			{more && (
				<Button size="sm" onClick={more}>
					{texts.unsettled.showMore}
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
			badge={
				isUnknown ? (
					<Badge tone="warn">{texts.unsettled.mayHaveArrived}</Badge>
				) : (
					<Badge tone="danger">{texts.unsettled.givenUp}</Badge>
				)
			}
		>
			<div className="mt-1 flex flex-wrap items-center gap-2">
				<Button size="sm" icon={<RotateCw size={13} />} disabled={isPending} onClick={() => mutate("retry")}>
					{texts.unsettled.sendAgain}
				</Button>
				<Button
					size="sm"
					look="quiet"
					icon={<Check size={14} />}
					disabled={isPending}
					onClick={() => mutate("sent")}
				>
					{texts.unsettled.itArrived}
				</Button>
				<Button
					size="sm"
					look="quiet"
					icon={<Trash2 size={13} />}
					disabled={isPending}
					onClick={() => mutate("drop")}
				>
					{texts.unsettled.drop}
				</Button>
				{isUnknown && <p className="text-xs text-ink-3">{texts.unsettled.checkTheChatFirstIf}</p>}
			</div>
			{error && <ErrorLine error={error} />}
		</DeliveryItem>
	);
}
