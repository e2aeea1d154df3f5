import { Check, Copy } from "lucide-react";
import { type ReactNode, useEffect, useState } from "react";
import { classes } from "../lib/classes.ts";
import { texts } from "../texts/app.ts";
import { IconButton } from "./button.tsx";

export function CopyButton({
	text,
	label = texts.code.copy,
	className,
}: {
	readonly text: string;
	readonly label?: string;
	readonly className?: string;
}) {
	const [copied, setCopied] = useState(false);
	useEffect(() => {
		if (!copied) return;
		const timer = setTimeout(() => setCopied(false), 1500);
		return () => clearTimeout(timer);
	}, [copied]);
	return (
		<IconButton
			label={copied ? texts.code.copied : label}
			size="sm"
			{...(className !== undefined && { className })}
			onClick={() => void copyText(text).then(setCopied)}
		>
			{copied ? <Check size={14} className="text-ok" /> : <Copy size={14} />}
		</IconButton>
	);
}

/** Returns false if the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyBySelection(text);
	}
}

/** Fallback without the clipboard API, which pages over plain HTTP from another machine do not have. */
function copyBySelection(text: string): boolean {
	const field = document.createElement("textarea");
	field.value = text;
	field.className = "fixed opacity-0";
	document.body.append(field);
	field.select();
	const done = document.execCommand("copy");
	field.remove();
	return done;
}

/** A block of code or output, unchanged. */
export function Code({
	text,
	label = texts.code.code,
	wrap = false,
	copy = true,
	caption,
	className,
	children,
}: {
	readonly text: string;
	readonly label?: string;
	readonly wrap?: boolean;
	readonly copy?: boolean;
	/** Shown above the code: its language. */
	readonly caption?: string;
	readonly className?: string;
	/** The same text, highlighted. */
	readonly children?: ReactNode;
}) {
	return (
		<div className={classes("group/code relative rounded-sm border bg-panel", className)}>
			{caption !== undefined && (
				<p className="flex h-8 items-center border-b px-3 font-sans text-xs text-ink-3">{caption}</p>
			)}
			<section
				aria-label={label}
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
				tabIndex={0}
				className="max-h-96 overflow-auto rounded-sm"
			>
				<pre
					className={classes(
						"w-fit min-w-full px-3 py-2 font-mono text-xs leading-[18px]",
						wrap && "w-auto whitespace-pre-wrap break-words",
					)}
				>
					<code>{children ?? text}</code>
				</pre>
			</section>
			{copy && (
				<CopyButton
					text={text}
					label={texts.code.copyCode}
					className={classes(
						"absolute right-1 bg-panel",
						caption === undefined
							? "top-1 opacity-0 focus-visible:opacity-100 group-hover/code:opacity-100 pointer-coarse:opacity-100"
							: "top-0.5",
					)}
				/>
			)}
		</div>
	);
}

/** A command to type elsewhere. Uses the system's typeface: one line is not worth fetching the font for code. */
export function Command({ text }: { readonly text: string }) {
	return (
		<div className="flex h-9 items-center justify-between gap-2 rounded-sm border bg-panel pr-1 pl-3">
			<code className="truncate font-[ui-monospace,monospace] text-sm">{text}</code>
			<CopyButton text={text} label={texts.code.copyCommand} />
		</div>
	);
}
