import { type ReactNode, useId } from "react";
import { useApi } from "../../api/index.ts";
import { setTheme, useTheme } from "../../app/theme.ts";
import { THEMES } from "../../app/theme-menu.tsx";
import { classes } from "../../lib/classes.ts";
import { fullTime } from "../../lib/time.ts";
import { texts } from "../../texts/settings.ts";
import { Badge, ErrorState, SkeletonRows } from "../../ui/index.ts";
import { Reference } from "./reference.tsx";

/** The page's theme, and information about this Keryx. */
export function AboutTab() {
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-7 px-4 py-4 lg:px-6">
			<Part title={texts.aboutTab.theme}>
				<ThemeChoice />
			</Part>
			<Part title={texts.aboutTab.whatIsRunning}>
				<WhatRuns />
			</Part>
			<Part title="API">
				<Reference />
			</Part>
		</div>
	);
}

function ThemeChoice() {
	const theme = useTheme();
	const name = useId();
	return (
		<fieldset className="flex flex-wrap gap-2">
			<legend className="sr-only">{texts.aboutTab.theme}</legend>
			{THEMES.map((choice) => (
				<label
					key={choice.value}
					className={classes(
						"flex h-9 cursor-pointer items-center gap-2 rounded-sm border px-3 has-focus-visible:outline-2 has-focus-visible:outline-accent",
						choice.value === theme ? "border-accent bg-selected font-medium" : "text-ink-2 hover:bg-hover",
					)}
				>
					<input
						type="radio"
						name={name}
						checked={choice.value === theme}
						onChange={() => setTheme(choice.value)}
						className="sr-only"
					/>
					{choice.icon}
					{choice.name}
				</label>
			))}
		</fieldset>
	);
}

function WhatRuns() {
	const { data, error, refetch } = useApi("health", {}, { on: ["confirmation"] });
	const { data: config } = useApi("config", {}, { on: ["config"] });
	if (!data)
		return error ? <ErrorState error={error} onRetry={() => void refetch()} /> : <SkeletonRows rows={3} />;
	return (
		<dl className="grid max-w-160 grid-cols-[7rem_minmax(0,1fr)] gap-y-1.5">
			<Fact name={texts.aboutTab.version}>{texts.aboutTab.keryx(data.version)}</Fact>
			<Fact name={texts.aboutTab.agent}>
				{data.agent}{" "}
				{data.agent === "offline" && <Badge tone="warn">{texts.aboutTab.noModelIsConnected}</Badge>}
			</Fact>
			<Fact name={texts.aboutTab.home}>
				{config?.file ? (
					<code className="break-all font-mono text-xs">{folderOf(config.file)}</code>
				) : (
					texts.aboutTab.keryxOrTheFolderSet
				)}
			</Fact>
			{data.walls && (
				<Fact name={texts.aboutTab.walls}>
					{data.walls}{" "}
					{!data.walls.startsWith("walls are up") && <Badge tone="warn">{texts.aboutTab.weak}</Badge>}
				</Fact>
			)}
			<Fact name={texts.aboutTab.started}>{fullTime(Date.parse(data.started_at))}</Fact>
			<Fact name={texts.aboutTab.process}>{texts.aboutTab.node(data.pid, bare(data.node))}</Fact>
		</dl>
	);
}

function folderOf(file: string): string {
	return file.replace(/[\\/][^\\/]*$/, "");
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
	const heading = useId();
	return (
		<section aria-labelledby={heading}>
			<h2 id={heading} className="mb-2 font-semibold">
				{title}
			</h2>
			{children}
		</section>
	);
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
	return (
		<>
			<dt className="text-ink-3">{name}</dt>
			<dd className="min-w-0">{children}</dd>
		</>
	);
}

function bare(version: string): string {
	return version.replace(/^v/, "");
}
