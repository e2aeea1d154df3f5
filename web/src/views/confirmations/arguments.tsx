// The exact arguments: the ones shown are the ones that were hashed and will be used. Nothing is shortened or left out.

import { linesBetween } from "../../lib/diff.ts";
import { texts } from "../../texts/confirmations.ts";
import { CopyButton, Diff, PlainText } from "../../ui/index.ts";
import { type Edit, editsIn } from "./edits.ts";
import type { Details } from "./wire.ts";

/** The most important arguments, shown first. */
const FIRST: readonly string[] = ["command", "cmd", "script", "sql", "query", "url", "path", "file_path"];
/** Longer values scroll in their own box, with a note. */
const LONG = 20_000;

export function Arguments({ details }: { readonly details: Details }) {
	const names = Object.keys(details).toSorted((a, b) => rank(a) - rank(b));
	const edits = editsIn(details);
	return (
		<div className="flex flex-col gap-2">
			{edits.map((edit, n) => (
				<EditShown key={`${edit.path ?? ""}${String(n)}`} edit={edit} />
			))}
			{names.length === 0 ? (
				<p className="text-sm text-ink-3">{texts.arguments.noArguments}</p>
			) : (
				<dl aria-label={texts.arguments.arguments} className="overflow-hidden rounded-sm border bg-panel">
					{names.map((name) => (
						<Argument key={name} name={name} value={details[name]} />
					))}
				</dl>
			)}
		</div>
	);
}

function rank(name: string): number {
	const at = FIRST.indexOf(name);
	return at < 0 ? FIRST.length : at;
}

function Argument({ name, value }: { readonly name: string; readonly value: unknown }) {
	const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null");
	const isLong = text.length > LONG;
	return (
		<div className="group/argument flex border-t first:border-t-0 max-sm:flex-col">
			<dt className="shrink-0 px-3 pt-2 font-mono text-xs leading-[18px] text-ink-3 sm:w-32 sm:border-r sm:py-2">
				<span className="wrap-anywhere">
					<PlainText text={name} />
				</span>
				{isLong && (
					<span className="block font-sans">
						{texts.arguments.charactersScrollToRead(text.length.toLocaleString())}
					</span>
				)}
			</dt>
			<dd className="relative min-w-0 flex-1">
				<pre
					{...(isLong && { tabIndex: 0 })}
					className={`${isLong ? "max-h-96 overflow-auto " : ""}whitespace-pre-wrap break-words px-3 py-2 pr-9 font-mono text-xs leading-[18px] wrap-anywhere`}
				>
					<code>
						{text === "" ? (
							<span className="text-ink-3">{texts.arguments.empty}</span>
						) : (
							<PlainText text={text} />
						)}
					</code>
				</pre>
				<CopyButton
					text={text}
					label={texts.arguments.copy(name)}
					className="absolute top-0.5 right-0.5 opacity-0 focus-visible:opacity-100 group-hover/argument:opacity-100 pointer-coarse:opacity-100"
				/>
			</dd>
		</div>
	);
}

function EditShown({ edit }: { readonly edit: Edit }) {
	const lines = linesBetween(edit.before, edit.after);
	const path = edit.path ?? texts.arguments.theText;
	return (
		<figure className="overflow-hidden rounded-sm border">
			<figcaption className="flex items-center gap-2 border-b bg-panel px-3 py-1 font-mono text-xs">
				<span className="min-w-0 flex-1 truncate">{path}</span>
				<span className="text-ok">+{lines.filter(({ kind }) => kind === "added").length}</span>
				<span className="text-danger">-{lines.filter(({ kind }) => kind === "removed").length}</span>
			</figcaption>
			<Diff label={texts.arguments.changesTo(path)} lines={lines} className="max-h-96 py-1" />
		</figure>
	);
}
