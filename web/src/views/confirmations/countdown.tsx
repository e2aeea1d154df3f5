import { useEffect } from "react";
import { classes } from "../../lib/classes.ts";
import { useSecond } from "../../lib/seconds.ts";
import { fullTime } from "../../lib/time.ts";
import { texts } from "../../texts/confirmations.ts";

const SOON_MS = 60_000;

/** Counts down by itself, and reports the end once. */
export function Countdown({
	until,
	ahead,
	onOver,
}: {
	/** By the server's clock, in milliseconds. */
	readonly until: number;
	readonly ahead: number;
	readonly onOver: () => void;
}) {
	const left = until - (useSecond() + ahead);
	const isOver = left <= 0;
	useEffect(() => {
		if (isOver) onOver();
	}, [isOver, onOver]);
	return (
		<time
			dateTime={new Date(until).toISOString()}
			title={texts.countdown.until(fullTime(until))}
			className={classes(
				"shrink-0 whitespace-nowrap text-sm tabular-nums",
				left < SOON_MS ? "font-medium text-warn" : "text-ink-2",
			)}
		>
			{isOver ? texts.countdown.timeIsUp : texts.countdown.left(clock(left))}
		</time>
	);
}

function clock(ms: number): string {
	const seconds = Math.ceil(ms / 1000);
	return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}
