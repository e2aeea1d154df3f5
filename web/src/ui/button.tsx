import type { ComponentProps, ReactNode } from "react";
import { classes } from "../lib/classes.ts";
import { Tooltip } from "./tooltip.tsx";

type Look = "primary" | "plain" | "quiet" | "danger";

const LOOKS: Readonly<Record<Look, string>> = {
	primary: "bg-accent text-on-accent hover:bg-accent-strong border-transparent",
	plain: "bg-raised text-ink hover:bg-hover border-line-strong/60",
	quiet: "text-ink-2 hover:bg-hover hover:text-ink border-transparent",
	danger: "bg-raised text-danger hover:bg-danger-soft border-danger/50",
};

const SHAPE =
	"inline-flex items-center justify-center gap-1.5 whitespace-nowrap rounded-sm border font-medium transition-colors duration-100 disabled:opacity-50 disabled:pointer-events-none select-none";

export interface ButtonProps extends ComponentProps<"button"> {
	readonly look?: Look;
	readonly size?: "sm" | "md";
	readonly icon?: ReactNode;
}

export function Button({ look = "plain", size = "md", icon, className, children, ...rest }: ButtonProps) {
	const room = size === "sm" ? "h-7 px-2 text-sm" : "h-8 px-3 text-base";
	return (
		<button type="button" className={classes(SHAPE, LOOKS[look], room, className)} {...rest}>
			{icon}
			{children}
		</button>
	);
}

export interface IconButtonProps extends Omit<ComponentProps<"button">, "aria-label"> {
	/** Read by screen readers, and shown as a tooltip. */
	readonly label: string;
	readonly look?: Look;
	readonly size?: "sm" | "md";
	/** The keyboard shortcut for the same action. */
	readonly keys?: string;
}

export function IconButton({
	label,
	look = "quiet",
	size = "md",
	keys,
	className,
	...rest
}: IconButtonProps) {
	const room = size === "sm" ? "size-7" : "size-8";
	return (
		<Tooltip text={label} keys={keys}>
			<button
				type="button"
				aria-label={label}
				className={classes(SHAPE, LOOKS[look], room, "shrink-0", className)}
				{...rest}
			/>
		</Tooltip>
	);
}
