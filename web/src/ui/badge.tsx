import type { ReactNode } from "react";
import { classes } from "../lib/classes.ts";

export type Tone = "neutral" | "accent" | "ok" | "warn" | "danger";

const TONES: Readonly<Record<Tone, string>> = {
	neutral: "bg-hover text-ink-2",
	accent: "bg-accent-soft text-accent-strong",
	ok: "bg-ok-soft text-ok",
	warn: "bg-warn-soft text-warn",
	danger: "bg-danger-soft text-danger",
};

export function Badge({
	tone = "neutral",
	icon,
	children,
}: {
	readonly tone?: Tone;
	readonly icon?: ReactNode;
	readonly children: ReactNode;
}) {
	return (
		<span
			className={classes(
				"inline-flex h-5 items-center gap-1 whitespace-nowrap rounded-xs px-1.5 text-xs font-medium",
				TONES[tone],
			)}
		>
			{icon}
			{children}
		</span>
	);
}
