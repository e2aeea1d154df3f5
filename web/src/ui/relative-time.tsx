import { fullTime, shortTime, useNow } from "../lib/time.ts";

/** How long ago, with the exact time as a tooltip. */
export function RelativeTime({
	at,
	className,
}: {
	readonly at: string | number;
	readonly className?: string;
}) {
	const now = useNow();
	const time = typeof at === "number" ? at : Date.parse(at);
	return (
		<time dateTime={new Date(time).toISOString()} title={fullTime(time)} className={className}>
			{shortTime(time, Math.max(now, time))}
		</time>
	);
}
