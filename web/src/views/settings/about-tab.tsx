import { type ReactNode, useId } from "react";
import { useApi } from "../../api/index.ts";
import { setTheme, useTheme } from "../../app/theme.ts";
import { THEMES } from "../../app/theme-menu.tsx";
import { classes } from "../../lib/classes.ts";
import { fullTime } from "../../lib/time.ts";
import { Badge, ErrorState, SkeletonRows } from "../../ui/index.ts";
import { Reference } from "./reference.tsx";

/** The page's look and the Keryx behind it. */
export function AboutTab() {
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-7 px-4 py-4 lg:px-6">
			<Part title="Theme">
				<ThemeChoice />
			</Part>
			<Part title="What runs">
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
			<legend className="sr-only">Theme</legend>
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
			<Fact name="Version">Keryx {data.version}</Fact>
			<Fact name="Agent">
				{data.agent} {data.agent === "offline" && <Badge tone="warn">no model is connected</Badge>}
			</Fact>
			<Fact name="Home">
				{config?.file ? (
					<code className="break-all font-mono text-xs">{folderOf(config.file)}</code>
				) : (
					"~/.keryx, or the folder that KERYX_HOME names; it has no config.yaml yet"
				)}
			</Fact>
			{data.walls && (
				<Fact name="Walls">
					{data.walls} {!data.walls.startsWith("walls stand") && <Badge tone="warn">weak</Badge>}
				</Fact>
			)}
			<Fact name="Started">{fullTime(Date.parse(data.started_at))}</Fact>
			<Fact name="Process">
				{data.pid}, Node {data.node.replace(/^v/, "")}
			</Fact>
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
