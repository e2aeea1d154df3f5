// What is known of the connection, no more: whoever looks at an old state must be able to tell.
import { classes } from "../lib/classes.ts";
import { type ConnectionState as State, useConnection } from "../live/index.ts";
import { Tooltip } from "../ui/index.ts";

const WORDS: Readonly<
	Record<State, { readonly name: string; readonly about: string; readonly dot: string }>
> = {
	connecting: { name: "Connecting", about: "The page asks for live events", dot: "bg-ink-3 pulse" },
	live: { name: "Live", about: "What happens is shown as it happens", dot: "bg-ok" },
	reconnecting: {
		name: "Reconnecting",
		about: "The connection was cut; nothing is lost",
		dot: "bg-warn pulse",
	},
	offline: {
		name: "Offline",
		about: "Keryx does not answer. What you see may be old; the page goes on trying",
		dot: "bg-danger",
	},
};

export function ConnectionState() {
	const { name, about, dot } = WORDS[useConnection()];
	return (
		<Tooltip text={about} side="right">
			<div
				role="status"
				aria-label={`Connection: ${name}`}
				className="flex items-center gap-2 px-2 text-xs text-ink-3"
			>
				<span aria-hidden className={classes("size-2 rounded-full", dot)} />
				{name}
			</div>
		</Tooltip>
	);
}

/** Where there is no room for the state itself, only what is wrong is said. */
export function ConnectionBanner() {
	const state = useConnection();
	if (state === "live" || state === "connecting") return null;
	const { name, about, dot } = WORDS[state];
	return (
		<div
			role="status"
			className="flex items-center gap-2 border-b bg-panel px-4 py-1.5 text-xs text-ink-2 md:hidden"
		>
			<span aria-hidden className={classes("size-2 shrink-0 rounded-full", dot)} />
			{name}. {about}.
		</div>
	);
}
