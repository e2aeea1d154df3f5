import { useEffect, useState } from "react";
import { duration, fullTime } from "../../lib/time.ts";
import { texts } from "../../texts/channels.ts";

/** How long ago, by the server's clock, counted on from the moment it was read. */
export function Age({
	seconds,
	readAt,
	at,
}: {
	readonly seconds: number | null;
	readonly readAt: number;
	readonly at: string | null;
}) {
	const [now, setNow] = useState(Date.now);
	useEffect(() => {
		const timer = setInterval(() => setNow(Date.now()), 1000);
		return () => clearInterval(timer);
	}, []);
	if (seconds === null || at === null) return <>{texts.age.noneYet}</>;
	const age = seconds * 1000 + Math.max(0, now - readAt);
	return (
		<time dateTime={at} title={fullTime(Date.parse(at))}>
			{age < 1500 ? "now" : texts.age.ago(duration(Math.floor(age / 1000) * 1000))}
		</time>
	);
}
