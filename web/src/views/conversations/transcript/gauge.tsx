import { CirclePlus } from "lucide-react";
import { api } from "../../../api/index.ts";
import type { Session } from "../../../api/types.ts";
import { classes } from "../../../lib/classes.ts";
import { texts } from "../../../texts/conversations.ts";
import { Menu, MenuItem } from "../../../ui/index.ts";

const STEPS = [50, 100, 500] as const;

/** How full the session is. Long sessions degrade, so their length is limited. The limit can be raised. */
export function LimitGauge({
	session,
	onError,
}: {
	readonly session: Session;
	readonly onError: (error: unknown) => void;
}) {
	const { message_count, max_messages, near_limit, at_limit, remaining } = session.limit;
	if (max_messages === 0)
		return (
			<span className="text-xs text-ink-3 tabular-nums">{texts.gauge.messagesNoLimit(message_count)}</span>
		);
	const share = Math.min(1, message_count / max_messages);
	const tone = at_limit ? "bg-danger" : near_limit ? "bg-warn" : "bg-accent";
	const words = at_limit
		? texts.gauge.atItsLimit
		: near_limit
			? texts.gauge.nearItsLimit
			: texts.gauge.left(remaining ?? 0);
	const stands = at_limit
		? texts.gauge.thisSessionHasReachedIts
		: texts.gauge.thisSessionHasLeft(String(remaining ?? 0));
	const extend = (by: number) =>
		void api.extendSession({ conversation: session.conversation, by }).catch(onError);
	return (
		<Menu
			label={texts.gauge.messageLimit}
			trigger={
				<button
					type="button"
					aria-label={texts.gauge.messages(message_count, max_messages, words)}
					className="flex h-7 items-center gap-2 rounded-sm px-2 text-xs text-ink-2 tabular-nums hover:bg-hover"
				>
					<span aria-hidden className="h-1.5 w-14 overflow-hidden max-sm:hidden rounded-full bg-line">
						<span
							className={classes("block h-full rounded-full", tone)}
							style={{ width: `${String(share * 100)}%` }}
						/>
					</span>
					<span className={classes(at_limit ? "text-danger" : near_limit && "text-warn")}>
						{message_count} / {max_messages}
					</span>
				</button>
			}
		>
			<p className="max-w-64 px-2 py-1.5 text-sm text-ink-2">
				{texts.gauge.aSessionEndsAtMessages(max_messages, stands)}
			</p>
			{STEPS.map((by) => (
				<MenuItem key={by} icon={<CirclePlus size={15} />} onSelect={() => extend(by)}>
					{texts.gauge.allowMore(by)}
				</MenuItem>
			))}
		</Menu>
	);
}
