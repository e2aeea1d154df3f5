// A diff, line by line. Only the visible lines of a long one are drawn.
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type Ref, useMemo, useRef } from "react";
import { classes } from "../lib/classes.ts";
import type { DiffLine } from "../lib/diff.ts";
import { PlainText } from "./plain-text.tsx";

const LINE = 18;
const MOST_DRAWN = 400;

const LOOKS: Readonly<Record<DiffLine["kind"], { readonly row: string; readonly sign: string }>> = {
	same: { row: "text-ink-2", sign: " " },
	added: { row: "bg-ok-soft text-ink", sign: "+" },
	removed: { row: "bg-danger-soft text-ink", sign: "-" },
	hunk: { row: "bg-panel text-ink-3", sign: "" },
	note: { row: "text-ink-3 italic", sign: "" },
};

const SIGNS: Readonly<Record<string, string>> = { "+": "text-ok", "-": "text-danger" };

interface DiffProps {
	readonly lines: readonly DiffLine[];
	readonly label: string;
	/** Sets the maximum height. */
	readonly className?: string;
}

export function Diff(props: DiffProps) {
	const { lines } = props;
	if (lines.length > MOST_DRAWN) return <LongDiff {...props} />;
	const digits = digitsOf(lines);
	return (
		<Frame {...props}>
			{lines.map((line, n) => (
				<Line key={`${String(n)}${line.kind}`} line={line} digits={digits} />
			))}
		</Frame>
	);
}

function LongDiff(props: DiffProps) {
	const { lines } = props;
	const scroll = useRef<HTMLElement>(null);
	const digits = useMemo(() => digitsOf(lines), [lines]);
	const virtual = useVirtualizer({
		count: lines.length,
		getScrollElement: () => scroll.current,
		estimateSize: () => LINE,
		overscan: 40,
	});
	return (
		<Frame {...props} ref={scroll}>
			<div style={{ height: virtual.getTotalSize() }} className="relative">
				{virtual.getVirtualItems().map(({ index, start }) => {
					const line = lines[index];
					return (
						line && (
							<div
								key={index}
								data-index={index}
								ref={virtual.measureElement}
								className="absolute inset-x-0 top-0"
								style={{ transform: `translateY(${start}px)` }}
							>
								<Line line={line} digits={digits} />
							</div>
						)
					);
				})}
			</div>
		</Frame>
	);
}

function Frame({
	label,
	className,
	ref,
	children,
}: Omit<DiffProps, "lines"> & { readonly ref?: Ref<HTMLElement>; readonly children: ReactNode }) {
	return (
		<section
			ref={ref}
			aria-label={label}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
			tabIndex={0}
			className={classes("overflow-auto font-mono text-xs leading-[18px]", className)}
		>
			{children}
		</section>
	);
}

function digitsOf(lines: readonly DiffLine[]): number {
	return String(lines.reduce((most, line) => Math.max(most, line.old ?? 0, line.new ?? 0), 0)).length;
}

function Line({ line, digits }: { readonly line: DiffLine; readonly digits: number }) {
	const { row, sign } = LOOKS[line.kind];
	const numbers = line.kind !== "hunk" && line.kind !== "note";
	return (
		<div className={classes("flex min-h-[18px]", row)}>
			{numbers && (
				<span
					aria-hidden
					style={{ minWidth: `${2 * digits + 3}ch` }}
					className="shrink-0 select-none whitespace-pre pl-2 text-ink-3 max-sm:hidden"
				>
					{number(line.old, digits)} {number(line.new, digits)}
				</span>
			)}
			<span className={classes("w-5 shrink-0 select-none text-center", SIGNS[sign])}>{sign}</span>
			<span className="min-w-0 flex-1 whitespace-pre-wrap break-words pr-3 wrap-anywhere">
				<PlainText text={line.text} />
			</span>
		</div>
	);
}

function number(n: number | undefined, digits: number): string {
	return (n === undefined ? "" : String(n)).padStart(digits);
}
