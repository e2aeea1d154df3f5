// The text of messages. The Markdown renderer is loaded with the first transcript, before that is shown.
import { memo, type ReactElement } from "react";
import { createValue } from "../../../lib/value.ts";
import { hasMath } from "./math-marks.ts";

type Render = (text: string) => ReactElement;

const renderer = createValue<Render | null>(null);
let isLoading = false;
let isMathWanted = false;

/** False until text can be rendered. */
export function useProseReady(): boolean {
	if (!isLoading) load();
	return renderer.use() !== null;
}

/** A failed load is tried again with the next transcript. */
function load(): void {
	isLoading = true;
	import("./markdown.tsx").then(
		({ renderMarkdown, loadMath }) => {
			const render: Render = (text) => {
				// Once formulas can be drawn, a new function makes every text render again.
				if (!isMathWanted && hasMath(text)) {
					isMathWanted = true;
					void loadMath().then(() => renderer.set((again) => renderMarkdown(again)));
				}
				return renderMarkdown(text);
			};
			renderer.set(render);
		},
		() => {
			isLoading = false;
		},
	);
}

/** Anything that Markdown might interpret. */
const MARKS = /[*_`#[\]<>|~\\&$]|https?:|www\.|@|^\s*(?:[-+]|\d+[.)])\s|\n|^ {4}/m;

export const Prose = memo(function Prose({
	text,
	isOpen = false,
}: {
	readonly text: string;
	readonly isOpen?: boolean;
}) {
	const render = renderer.use();
	if (!render || !MARKS.test(text)) return <div className="prose">{plain(text, isOpen)}</div>;
	if (!isOpen) return <div className="prose">{render(text)}</div>;
	const end = settledEnd(text);
	// The finished part is rendered once, however much follows.
	return (
		<>
			{end > 0 && <div className="prose">{render(text.slice(0, end))}</div>}
			<div className={end > 0 ? "prose caret-last mt-2.5" : "prose caret-last"}>
				{render(text.slice(end))}
			</div>
		</>
	);
});

function plain(text: string, isOpen: boolean): ReactElement {
	return <p className={isOpen ? "caret whitespace-pre-wrap" : "whitespace-pre-wrap"}>{text}</p>;
}

/** The position after the last blank line that is outside a fence and followed by a line that begins a new block. */
function settledEnd(text: string): number {
	let end = 0;
	let fence = "";
	for (let at = 0; at < text.length; ) {
		const stop = text.indexOf("\n", at);
		const line = text.slice(at, stop === -1 ? undefined : stop);
		const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1] ?? "";
		if (fence === "" && mark !== "") fence = mark;
		else if (fence !== "" && mark.startsWith(fence)) fence = "";
		const next = text[stop + 1];
		const isBlank = line.trim() === "" && stop !== -1;
		if (fence === "" && isBlank && next !== undefined && /[^\s\-*+>|\d]/.test(next)) end = stop + 1;
		if (stop === -1) break;
		at = stop + 1;
	}
	return end;
}
