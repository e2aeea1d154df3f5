import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { Delivery } from "../../api/types.ts";
import { PlatformIcon, platformName, RelativeTime } from "../../ui/index.ts";

/** One delivery: its destination, time, text and reason, with the caller's notes or actions below. */
export function DeliveryItem({
	delivery,
	badge,
	children,
}: {
	readonly delivery: Delivery;
	readonly badge: ReactNode;
	readonly children?: ReactNode;
}) {
	const { destination, conversation } = delivery;
	return (
		<li className="flex flex-col gap-1 border-b py-3 last:border-0">
			<div className="flex min-w-0 items-center gap-2 text-sm">
				<PlatformIcon platform={destination.platform} />
				<Link
					to="/c/$conversation"
					params={{ conversation }}
					className="min-w-0 truncate text-accent underline-offset-2 hover:underline"
				>
					{platformName(destination.platform)}, {destination.chat_id}
				</Link>
				{badge}
				<RelativeTime at={delivery.created_at} className="ml-auto shrink-0 text-xs text-ink-3" />
			</div>
			<p className="line-clamp-2 break-words">{delivery.plain}</p>
			{delivery.reason !== null && (
				<p className="text-sm text-ink-2">
					{delivery.reason}
					{delivery.attempts > 0 && (
						<span className="text-ink-3">
							{" "}
							({delivery.attempts} {delivery.attempts === 1 ? "attempt" : "attempts"})
						</span>
					)}
				</p>
			)}
			{children}
		</li>
	);
}
