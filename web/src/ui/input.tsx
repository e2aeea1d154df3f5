import { ChevronDown } from "lucide-react";
import type { ComponentProps, ReactNode } from "react";
import { classes } from "../lib/classes.ts";

const FIELD =
	"w-full rounded-sm border border-line-strong/60 bg-raised text-ink placeholder:text-ink-3 transition-colors hover:border-line-strong focus-visible:border-accent focus-visible:outline-1 focus-visible:outline-offset-0";

export interface InputProps extends ComponentProps<"input"> {
	readonly icon?: ReactNode;
}

/** The caller provides the label: a <label>, or aria-label. */
export function Input({ icon, className, ...rest }: InputProps) {
	if (!icon) return <input className={classes(FIELD, "h-8 px-2.5", className)} {...rest} />;
	return (
		<span className={classes("relative block", className)}>
			<span
				aria-hidden
				className="pointer-events-none absolute inset-y-0 left-2.5 flex items-center text-ink-3"
			>
				{icon}
			</span>
			<input className={classes(FIELD, "h-8 pr-2.5 pl-8")} {...rest} />
		</span>
	);
}

export function TextArea({ className, ...rest }: ComponentProps<"textarea">) {
	return <textarea className={classes(FIELD, "px-2.5 py-1.5", className)} {...rest} />;
}

export function Select({ className, ...rest }: ComponentProps<"select">) {
	return (
		<span className={classes("relative block min-w-0", className)}>
			<select className={classes(FIELD, "h-8 appearance-none truncate pr-7 pl-2.5")} {...rest} />
			<ChevronDown
				size={15}
				aria-hidden
				className="pointer-events-none absolute inset-y-0 right-2 my-auto text-ink-3"
			/>
		</span>
	);
}
