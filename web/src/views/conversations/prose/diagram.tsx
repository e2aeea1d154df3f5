// Draws a diagram from its description. It is drawn in a frame without an origin, which cannot reach the page, and returned as a picture. A
// diagram that cannot be drawn stays text.

import library from "@mermaid-js/tiny/dist/mermaid.tiny.js?url";
import { useEffect, useState } from "react";
import { texts } from "../../../texts/conversations.ts";
import { Code } from "../../../ui/index.ts";

/** Longer descriptions are not drawn. */
const LONGEST = 50_000;
const NARROWEST = 640;
const LONGEST_WAIT_MS = 20_000;
const MOST_KEPT = 40;

const drawings = new Map<string, Promise<Drawing>>();
const waiting = new Map<number, (drawn: { svg?: unknown }) => void>();
let frame: Promise<Window> | null = null;
let asked = 0;

interface Drawing {
	readonly url: string;
	readonly width: number;
	readonly height: number;
}

export function Diagram({ text }: { readonly text: string }) {
	const isDark = useDark();
	const [drawing, setDrawing] = useState<Drawing | "failed" | null>(null);
	useEffect(() => {
		let isWanted = true;
		draw(text, isDark).then(
			(drawn) => isWanted && setDrawing(drawn),
			() => isWanted && setDrawing("failed"),
		);
		return () => {
			isWanted = false;
		};
	}, [text, isDark]);
	if (drawing === null || drawing === "failed")
		return <Code text={text} label={texts.diagram.diagramAsText} caption="mermaid" />;
	return (
		<figure className="flex flex-col gap-1">
			<div
				// biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard.
				tabIndex={0}
				className="overflow-x-auto rounded-sm border bg-panel p-3"
			>
				<img
					src={drawing.url}
					alt={texts.diagram.diagramDescriptionBelow}
					width={drawing.width}
					height={drawing.height}
					// Below this width its text is unreadable, so it scrolls instead.
					style={{ minWidth: Math.min(drawing.width, NARROWEST) }}
					className="mx-auto max-w-full"
				/>
			</div>
			<details className="text-sm text-ink-2">
				<summary>{texts.diagram.description}</summary>
				<Code text={text} label={texts.diagram.diagramAsText} />
			</details>
		</figure>
	);
}

function draw(text: string, isDark: boolean): Promise<Drawing> {
	if (text.length > LONGEST) return Promise.reject(new Error(texts.diagram.tooLong));
	const key = `${isDark ? "dark" : "light"} ${text}`;
	const drawing = drawings.get(key) ?? drawAnew(text, isDark);
	drawings.delete(key);
	drawings.set(key, drawing);
	const [oldest] = drawings;
	if (drawings.size > MOST_KEPT && oldest) {
		drawings.delete(oldest[0]);
		oldest[1].then(
			({ url }) => URL.revokeObjectURL(url),
			() => undefined,
		);
	}
	return drawing;
}

async function drawAnew(text: string, isDark: boolean): Promise<Drawing> {
	frame ??= openFrame();
	const target = await frame;
	const id = ++asked;
	const svg = await new Promise<string>((resolve, reject) => {
		const timer = setTimeout(() => reject(new Error(texts.diagram.itTookTooLong)), LONGEST_WAIT_MS);
		waiting.set(id, ({ svg }) => {
			clearTimeout(timer);
			waiting.delete(id);
			if (typeof svg === "string") resolve(svg);
			else reject(new Error(texts.diagram.itIsNotADiagram));
		});
		target.postMessage({ id, text, isDark, library: new URL(library, location.href).href }, "*");
	});
	const [, width = "600", height = "400"] = /viewBox="\S+ \S+ ([\d.]+) ([\d.]+)"/.exec(svg) ?? [];
	const url = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
	return { url, width: Math.ceil(Number(width)), height: Math.ceil(Number(height)) };
}

/** One frame for all diagrams. It reports when it is ready. */
function openFrame(): Promise<Window> {
	return new Promise((resolve) => {
		const element = document.createElement("iframe");
		element.setAttribute("sandbox", "allow-scripts");
		element.setAttribute("aria-hidden", "true");
		element.title = texts.diagram.drawsDiagrams;
		element.tabIndex = -1;
		element.className = "pointer-events-none fixed -left-[3000px] h-[900px] w-[1200px] opacity-0";
		element.src = "/diagram.html";
		addEventListener("message", ({ source, data }: MessageEvent<unknown>) => {
			if (source === null || source !== element.contentWindow) return;
			const said = data as { readonly ready?: unknown; readonly id?: unknown; readonly svg?: unknown };
			if (said.ready === true) resolve(element.contentWindow as Window);
			else if (typeof said.id === "number") waiting.get(said.id)?.(said);
		});
		document.body.append(element);
	});
}

function useDark(): boolean {
	const [isDark, setDark] = useState(darkNow);
	useEffect(() => {
		const look = () => setDark(darkNow());
		const media = matchMedia("(prefers-color-scheme: dark)");
		const theme = new MutationObserver(look);
		media.addEventListener("change", look);
		theme.observe(document.documentElement, { attributeFilter: ["data-theme"] });
		return () => {
			media.removeEventListener("change", look);
			theme.disconnect();
		};
	}, []);
	return isDark;
}

function darkNow(): boolean {
	const { theme } = document.documentElement.dataset;
	return theme === "dark" || (theme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
}
