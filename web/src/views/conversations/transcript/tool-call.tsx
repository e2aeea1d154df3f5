import { ChevronRight, CircleAlert, CircleCheck, LoaderCircle } from "lucide-react";
import { lazy, Suspense } from "react";
import { texts } from "../../../texts/conversations.ts";
import { Code } from "../../../ui/index.ts";
import type { Call } from "./items.ts";
import { waitedFor } from "./questions.ts";

/** Folded to one line; unfolds to the arguments and the result. */
export function ToolCall({ call }: { readonly call: Call }) {
	const { name, input, result } = call;
	const given = argumentsOf(input);
	return (
		<details className="group/call rounded-sm border bg-panel/60">
			<summary className="flex h-8 list-none items-center gap-2 rounded-sm px-2.5 text-sm hover:bg-hover [&::-webkit-details-marker]:hidden">
				<ChevronRight
					size={14}
					aria-hidden
					className="shrink-0 text-ink-3 transition-transform group-open/call:rotate-90"
				/>
				<span className="shrink-0 font-medium">{name}</span>
				<span className="min-w-0 flex-1 truncate font-mono text-xs text-ink-3">{given}</span>
				<Outcome call={call} />
			</summary>
			<div className="flex flex-col gap-2 border-t p-2.5">
				<Parts name={texts.toolCall.arguments} value={input} />
				{result ? (
					<Parts
						name={result.isError ? texts.toolCall.error : texts.toolCall.result}
						value={parsed(result.text)}
					/>
				) : (
					<p className="text-sm text-ink-3">{texts.toolCall.noResultYet}</p>
				)}
			</div>
		</details>
	);
}

/** Texts with several lines are shown separately: in JSON each would be one long line. */
function Parts({ name, value }: { readonly name: string; readonly value: unknown }) {
	const fields =
		typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [];
	if (fields.length === 0) return <Part name={name} text={pretty(value)} />;
	const longTexts = fields.filter(([, field]) => typeof field === "string" && field.trimEnd().includes("\n"));
	const others = fields.filter((field) => !longTexts.includes(field));
	return (
		<>
			{others.length > 0 && <Fields name={name} fields={others} />}
			{longTexts.map(([field, text]) => (
				<Part key={field} name={`${name}: ${wordsOf(field)}`} text={String(text).trimEnd()} />
			))}
		</>
	);
}

/** One line per value, with its name. Only nested values are shown as JSON. */
function Fields({
	name,
	fields,
}: {
	readonly name: string;
	readonly fields: readonly (readonly [string, unknown])[];
}) {
	return (
		<div>
			<p className="mb-1 text-xs font-medium text-ink-3">{name}</p>
			<dl className="overflow-hidden rounded-sm border bg-panel text-sm">
				{fields.map(([field, value]) => (
					<div key={field} className="flex gap-3 border-t px-3 py-1 first:border-t-0">
						<dt className="w-28 shrink-0 truncate text-ink-3">{wordsOf(field)}</dt>
						<dd className="min-w-0 flex-1 font-mono text-xs leading-5 whitespace-pre-wrap wrap-anywhere">
							{lineOf(value)}
						</dd>
					</div>
				))}
			</dl>
		</div>
	);
}

function wordsOf(field: string): string {
	return field.replaceAll("_", " ");
}

function lineOf(value: unknown): string {
	if (typeof value === "boolean") return value ? "yes" : "no";
	if (value === null || value === "") return "(nothing)";
	if (Array.isArray(value) && value.every((one) => typeof one === "string" || typeof one === "number"))
		return value.join("\n");
	return pretty(value);
}

function Part({ name, text }: { readonly name: string; readonly text: string }) {
	return (
		<div>
			<p className="mb-1 text-xs font-medium text-ink-3">{name}</p>
			<Code text={text === "" ? "(nothing)" : text} label={name} wrap />
		</div>
	);
}

const CallState = lazy(() =>
	import("../../confirmations/in-chat.tsx").then((m) => ({ default: m.CallState })),
);

function Outcome({ call: { result, asked } }: { readonly call: Call }) {
	if (!result)
		return (
			<span className="flex shrink-0 items-center gap-1 text-xs text-ink-3">
				<LoaderCircle size={13} aria-hidden className="animate-spin" /> {texts.toolCall.running}
			</span>
		);
	if (result.isError)
		return (
			<span className="flex shrink-0 items-center gap-1 text-xs text-danger">
				<CircleAlert size={13} aria-hidden /> {texts.toolCall.failed}
			</span>
		);
	if (asked !== null && waitedFor(result.text) !== null)
		return (
			<Suspense>
				<CallState id={asked} />
			</Suspense>
		);
	return (
		<span className="flex shrink-0 items-center gap-1 text-xs text-ink-3">
			<CircleCheck size={13} aria-hidden className="text-ok" /> {texts.toolCall.done}
		</span>
	);
}

/** Arguments that say what a call does. The others are shown when the call is unfolded. */
const TELLING = ["command", "path", "url", "query", "target"];

/** As short as possible: a single text alone, otherwise names with values. */
function argumentsOf(input: unknown): string {
	if (typeof input !== "object" || input === null) return String(input ?? "");
	const entries = Object.entries(input);
	const telling = entries.find(([name, value]) => TELLING.includes(name) && typeof value === "string");
	if (telling) return String(telling[1]);
	const [only] = entries;
	if (entries.length === 1 && typeof only?.[1] === "string") return only[1];
	return entries
		.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`)
		.join(" ");
}

function parsed(text: string): unknown {
	if (!/^\s*[{[]/.test(text)) return text;
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

function pretty(value: unknown): string {
	return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}
