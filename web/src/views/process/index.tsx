import { Link, useParams } from "@tanstack/react-router";
import { ArrowLeft, OctagonX } from "lucide-react";
import { useState } from "react";
import { useApi } from "../../api/index.ts";
import { texts } from "../../texts/processes.ts";
import {
	Button,
	ConversationLink,
	CopyButton,
	ErrorState,
	PlainText,
	RelativeTime,
	SkeletonRows,
} from "../../ui/index.ts";
import { howItEnded, isRunning, type Process, ProcessState, Runtime } from "../processes/state.tsx";
import { KillDialog } from "./kill-dialog.tsx";
import { ProcessTerminal } from "./terminal.tsx";

export function ProcessView() {
	const { id } = useParams({ from: "/processes/$id" });
	const { data, error, refetch } = useApi("process", { id }, { on: ["process"] });
	if (error && !data)
		return (
			<ErrorState
				error={error}
				title={texts.process.thereIsNoSuchProcess}
				{...(error.status !== 404 && {
					onRetry: () => void refetch(),
					title: texts.process.thisCouldNotBeLoaded,
				})}
			/>
		);
	if (!data) return <SkeletonRows />;
	return (
		<div className="flex h-full min-h-0 flex-col">
			<Heading process={data} />
			<ProcessTerminal key={data.id} id={data.id} pty={data.pty} isOver={!isRunning(data)} />
		</div>
	);
}

function Heading({ process }: { readonly process: Process }) {
	const { id, command, conversation, cwd, pid, started_at, pty, backend, survivors, unreachable } = process;
	const [killing, setKilling] = useState(false);
	const running = isRunning(process);
	return (
		<header className="flex shrink-0 flex-col gap-1.5 border-b px-4 py-2.5 lg:px-6">
			<div className="flex items-start gap-2">
				<Link
					to="/processes"
					aria-label={texts.process.allProcesses}
					className="-ml-1.5 inline-flex size-8 shrink-0 items-center justify-center rounded-sm text-ink-2 hover:bg-hover"
				>
					<ArrowLeft size={16} aria-hidden />
				</Link>
				<h1 className="min-w-0 flex-1 py-1.5 font-mono text-sm font-semibold">
					<span className="line-clamp-3 wrap-anywhere" title={command}>
						<PlainText text={command} />
					</span>
				</h1>
				<CopyButton text={command} label={texts.process.copyTheCommand} />
				{(running || survivors.length > 0) && (
					<Button look="danger" size="sm" icon={<OctagonX size={14} />} onClick={() => setKilling(true)}>
						{texts.process.kill}
					</Button>
				)}
			</div>
			<div className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm text-ink-2">
				<ProcessState process={process} />
				{!running && <span>{howItEnded(process)}</span>}
				<Runtime process={process} />
				<span className="text-ink-3">
					{texts.process.started}
					<RelativeTime at={started_at} />
				</span>
				<ConversationLink id={conversation} />
				<span className="text-ink-3">
					{pid !== null && texts.process.pid(pid)}
					{pty ? texts.process.onATerminal : texts.process.onPipes}
					{backend !== "local" && `, ${backend}`}
				</span>
				<code className="min-w-0 truncate font-mono text-xs text-ink-3" title={cwd}>
					{cwd}
				</code>
			</div>
			{survivors.length > 0 && !running && (
				<p className="text-sm text-warn">{texts.process.itEndedButProgramsIt(survivors.join(", "))}</p>
			)}
			{unreachable && <p className="text-sm text-warn">{texts.process.itsHostDoesNotAnswer}</p>}
			<KillDialog id={id} command={command} open={killing} onClose={() => setKilling(false)} />
		</header>
	);
}
