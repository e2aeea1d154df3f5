// Shows the state of the connection, so that old data is recognizable.

import { classes } from "../lib/classes.ts";
import { type ConnectionState as State, useConnection } from "../live/index.ts";
import { texts } from "../texts/app.ts";
import { Tooltip } from "../ui/index.ts";

const WORDS: Readonly<
	Record<State, { readonly name: string; readonly about: string; readonly dot: string }>
> = {
	connecting: {
		name: texts.connectionState.connecting,
		about: texts.connectionState.connectingToKeryx,
		dot: "bg-ink-3 pulse",
	},
	live: {
		name: texts.connectionState.live,
		about: texts.connectionState.updatesAppearAsTheyHappen,
		dot: "bg-ok",
	},
	reconnecting: {
		name: texts.connectionState.reconnecting,
		about: texts.connectionState.theConnectionDroppedNothingIs,
		dot: "bg-warn pulse",
	},
	offline: {
		name: texts.connectionState.offline,
		about: texts.connectionState.keryxDoesNotAnswerWhat,
		dot: "bg-danger",
	},
};

export function ConnectionState() {
	const { name, about, dot } = WORDS[useConnection()];
	return (
		<Tooltip text={about} side="right">
			<div
				role="status"
				aria-label={texts.connectionState.connection(name)}
				className="flex items-center gap-2 px-2 text-xs text-ink-3"
			>
				<span aria-hidden className={classes("size-2 rounded-full", dot)} />
				{name}
			</div>
		</Tooltip>
	);
}

/** Shown on every screen when offline. While reconnecting, shown only on narrow screens, which have no room for the indicator. */
export function ConnectionBanner() {
	const state = useConnection();
	if (state === "live" || state === "connecting") return null;
	const { name, about, dot } = WORDS[state];
	return (
		<div
			role="status"
			className={classes(
				"flex items-center gap-2 border-b bg-panel px-4 py-1.5 text-xs text-ink-2",
				state !== "offline" && "md:hidden",
			)}
		>
			<span aria-hidden className={classes("size-2 shrink-0 rounded-full", dot)} />
			{name}. {about}
		</div>
	);
}
