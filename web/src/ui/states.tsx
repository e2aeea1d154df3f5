// Placeholders: loading, empty, and errors.

import { RotateCw, TriangleAlert } from "lucide-react";
import type { ReactNode } from "react";
import { ApiError } from "../api/error.ts";
import { classes } from "../lib/classes.ts";
import { texts } from "../texts/app.ts";
import { Button } from "./button.tsx";

/** Says what will appear here and how to get it. */
export function Empty({
	icon,
	title,
	children,
	action,
}: {
	readonly icon?: ReactNode;
	readonly title: string;
	readonly children?: ReactNode;
	readonly action?: ReactNode;
}) {
	return (
		<div className="flex h-full grow flex-col items-center justify-center gap-1 px-6 py-12 text-center">
			{icon !== undefined && <div className="mb-2 text-ink-3">{icon}</div>}
			<h2 className="text-base font-semibold">{title}</h2>
			{children !== undefined && <div className="max-w-96 text-balance text-ink-2">{children}</div>}
			{action !== undefined && <div className="mt-3">{action}</div>}
		</div>
	);
}

/** Says what is wrong and what to do, in the server's words. */
export function ErrorState({
	error,
	onRetry,
	title = texts.states.thisCouldNotBeLoaded,
}: {
	readonly error: unknown;
	readonly onRetry?: () => void;
	readonly title?: string;
}) {
	const { message, hint, code } = wordsOf(error);
	return (
		<div
			role="alert"
			className="flex h-full flex-col items-center justify-center gap-1 px-6 py-12 text-center"
		>
			<TriangleAlert size={20} className="mb-2 text-danger" aria-hidden />
			<h2 className="text-base font-semibold">{title}</h2>
			<p className="max-w-120 text-ink-2">{message}</p>
			{hint !== undefined && <p className="max-w-120 text-ink-2">{hint}</p>}
			{code !== undefined && <p className="font-mono text-xs text-ink-3">{code}</p>}
			{onRetry && (
				<Button className="mt-3" icon={<RotateCw size={14} />} onClick={onRetry}>
					{texts.states.tryAgain}
				</Button>
			)}
		</div>
	);
}

/** The same in one line, next to its cause. */
export function ErrorLine({ error }: { readonly error: unknown }) {
	const { message, hint } = wordsOf(error);
	return (
		<p role="alert" className="text-sm text-danger">
			{message}
			{hint !== undefined && <span className="text-ink-2"> {hint}</span>}
		</p>
	);
}

function wordsOf(error: unknown): { message: string; hint?: string | undefined; code?: string } {
	if (error instanceof ApiError)
		return {
			message: sentence(error.message),
			hint: error.hint === undefined ? undefined : sentence(error.hint),
			code: error.code,
		};
	return { message: error instanceof Error ? error.message : String(error) };
}

function sentence(text: string): string {
	const big = text.charAt(0).toUpperCase() + text.slice(1);
	return /[.!?]$/.test(big) ? big : `${big}.`;
}

/** A placeholder while something loads. */
export function Skeleton({ className }: { readonly className?: string }) {
	return <div aria-hidden className={classes("pulse rounded-sm bg-hover", className)} />;
}

/** Placeholder rows for lists and tables. */
export function SkeletonRows({
	rows = 6,
	label = texts.states.loading,
}: {
	readonly rows?: number;
	readonly label?: string;
}) {
	return (
		<div role="status" aria-label={label} className="flex flex-col gap-4 p-4">
			{Array.from({ length: rows }, (_, row) => (
				<div key={`row-${String(row)}`} className="flex flex-col gap-2">
					<Skeleton className={row % 2 === 0 ? "h-3 w-2/5" : "h-3 w-1/3"} />
					<Skeleton className={row % 3 === 0 ? "h-3 w-11/12" : "h-3 w-3/4"} />
				</div>
			))}
		</div>
	);
}
