// A plot on a canvas. It is loaded on demand, drawn in the theme's colours, and adapts to the available width.

import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import { texts } from "../../texts/insights.ts";
import "uplot/dist/uPlot.min.css";
import { useTheme } from "../../app/theme.ts";
import type { FigureProps, Series } from "./figure-props.ts";

interface PlotProps {
	readonly figure: FigureProps;
	/** Called with the selected point. Must be the same function for the life of the plot. */
	readonly onPoint: (index: number | null) => void;
}

const HEIGHT = 200;
/** Axis steps for counts, which have no fractions. */
const WHOLE_STEPS = Array.from({ length: 12 }, (_, power) =>
	[1, 2, 5].map((step) => step * 10 ** power),
).flat();

/** Redrawn when the colours change: a canvas keeps its colours. */
export function Plot(props: PlotProps) {
	return <Canvas key={useColours()} {...props} />;
}

function Canvas({ figure, onPoint }: PlotProps) {
	const { title, unit, labels } = figure;
	const container = useRef<HTMLDivElement>(null);
	const plot = useRef<uPlot | null>(null);
	useEffect(() => {
		const room = container.current;
		if (!room) return;
		const drawn = new uPlot(optionsOf(figure, onPoint, room.clientWidth), dataOf(figure), room);
		plot.current = drawn;
		const watch = new ResizeObserver(() => {
			if (room.clientWidth !== drawn.width) drawn.setSize({ width: room.clientWidth, height: HEIGHT });
		});
		watch.observe(room);
		return () => {
			watch.disconnect();
			drawn.destroy();
			plot.current = null;
		};
	}, [figure, onPoint]);
	const move = (by: number) => {
		const drawn = plot.current;
		if (!drawn) return;
		const from = drawn.cursor.idx ?? (by > 0 ? -1 : labels.length);
		const to = Math.max(0, Math.min(labels.length - 1, from + by));
		drawn.setCursor({ left: drawn.valToPos(to, "x"), top: 1 });
	};
	return (
		<div
			ref={container}
			role="img"
			aria-label={texts.plot.pointsByUseTheArrow(title, labels.length, unit.toLowerCase())}
			// biome-ignore lint/a11y/noNoninteractiveTabindex: its values can be gone through by keyboard.
			tabIndex={0}
			className="h-50 min-w-0 overflow-hidden rounded-sm"
			onKeyDown={(event) => {
				if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
				event.preventDefault();
				move(event.key === "ArrowRight" ? 1 : -1);
			}}
			onBlur={() => {
				plot.current?.setCursor({ left: -10, top: -10 });
				onPoint(null);
			}}
		/>
	);
}

/** Stacked bars are drawn tallest first, each from zero. */
function dataOf({ labels, series, shape }: FigureProps): uPlot.AlignedData {
	const indices = labels.map((_, index) => index);
	if (shape === "line") return [indices, ...series.map(({ values }) => [...values])];
	const sums = indices.map(() => 0);
	const stacked = series.map(({ values }) =>
		values.map((value, index) => {
			sums[index] = (sums[index] ?? 0) + (value ?? 0);
			return sums[index];
		}),
	);
	return [indices, ...stacked.reverse()];
}

function optionsOf(figure: FigureProps, onPoint: PlotProps["onPoint"], width: number): uPlot.Options {
	const { labels, series, shape, format, axis = format, mark } = figure;
	const line = colourOf("--line");
	const text = { stroke: colourOf("--ink-3"), font: '11px "Inter", sans-serif', labelGap: 0 };
	const drawn = shape === "bars" ? [...series].reverse() : series;
	return {
		width,
		height: HEIGHT,
		legend: { show: false },
		padding: [10, 8, 0, 0],
		cursor: { y: false, drag: { x: false, y: false }, points: { show: shape === "line", size: 7 } },
		scales: {
			x: { time: false, range: () => [-0.5, Math.max(0.5, labels.length - 0.5)] },
			y: { range: (_, __, most) => [0, most > 0 ? most * 1.08 : 1] },
		},
		axes: [
			{
				...text,
				grid: { show: false },
				ticks: { show: false },
				size: 26,
				space: 56,
				incrs: [1, 2, 5, 7, 10, 14, 15, 20, 30],
				values: (_, splits) => splits.map((at) => labels[at]?.short ?? ""),
			},
			{
				...text,
				grid: { stroke: line, width: 1 },
				ticks: { show: false },
				size: (_, values) => 14 + 7 * Math.max(2, ...(values ?? []).map((value) => value.length)),
				space: 36,
				...(figure.whole && { incrs: WHOLE_STEPS }),
				values: (_, splits) => splits.map((value) => axis(value)),
			},
		],
		series: [{}, ...drawn.map((one) => seriesOf(one, shape))],
		hooks: {
			setCursor: [({ cursor }) => onPoint(cursor.idx ?? null)],
			draw: mark ? [(plot) => drawMark(plot, mark)] : [],
		},
	};
}

function seriesOf({ name, colour }: Series, shape: FigureProps["shape"]): uPlot.Series {
	const stroke = colourOf(colour);
	if (shape === "line")
		return { label: name, stroke, width: 2, spanGaps: true, points: { show: true, size: 5, fill: stroke } };
	const { bars } = uPlot.paths;
	return {
		label: name,
		stroke,
		fill: stroke,
		width: 0,
		points: { show: false },
		...(bars && { paths: bars({ size: [0.68, 28], radius: 0.12 }) }),
	};
}

function drawMark({ ctx, bbox, valToPos }: uPlot, { at, name }: NonNullable<FigureProps["mark"]>): void {
	const x = Math.round(valToPos(at, "x", true));
	if (x < bbox.left || x > bbox.left + bbox.width) return;
	const ratio = window.devicePixelRatio;
	ctx.save();
	ctx.strokeStyle = colourOf("--warn");
	ctx.fillStyle = colourOf("--warn");
	ctx.lineWidth = ratio;
	ctx.setLineDash([4 * ratio, 4 * ratio]);
	ctx.beginPath();
	ctx.moveTo(x, bbox.top);
	ctx.lineTo(x, bbox.top + bbox.height);
	ctx.stroke();
	ctx.font = `${11 * ratio}px "Inter", sans-serif`;
	ctx.textAlign = x > bbox.left + bbox.width / 2 ? "right" : "left";
	ctx.textBaseline = "top";
	ctx.fillText(name, x + (ctx.textAlign === "right" ? -6 : 6) * ratio, bbox.top);
	ctx.restore();
}

/** A canvas cannot use CSS variables, so the browser computes their values. */
function colourOf(variable: string): string {
	const probe = document.createElement("span");
	probe.style.color = `var(${variable})`;
	document.body.append(probe);
	const { color } = getComputedStyle(probe);
	probe.remove();
	return color;
}

/** Changes whenever the colours change. */
function useColours(): string {
	const theme = useTheme();
	const [systemIsDark, setSystemIsDark] = useState(() => matchMedia(DARK).matches);
	useEffect(() => {
		const query = matchMedia(DARK);
		const look = () => setSystemIsDark(query.matches);
		query.addEventListener("change", look);
		return () => query.removeEventListener("change", look);
	}, []);
	return theme === "system" ? `system-${systemIsDark}` : theme;
}

const DARK = "(prefers-color-scheme: dark)";
