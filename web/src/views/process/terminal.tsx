// The view of a process: its screen, its input, and the state of the connection.

import { CornerDownLeft } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { queryClient } from "../../api/index.ts";
import { classes } from "../../lib/classes.ts";
import { texts } from "../../texts/processes.ts";
import { Button, Input, Kbd, Skeleton } from "../../ui/index.ts";
import { type LinkState, type Size, TerminalLink } from "./link.ts";
import type { Screen } from "./screen.ts";

const STATES: Readonly<Record<LinkState, string>> = {
	connecting: texts.terminal.connecting,
	open: texts.terminal.live,
	reconnecting: texts.terminal.reconnectingNothingIsLost,
	ended: texts.terminal.ended,
	failed: texts.terminal.itCanNoLongerBe,
};

export function ProcessTerminal({
	id,
	pty,
	isOver,
}: {
	readonly id: string;
	readonly pty: boolean;
	readonly isOver: boolean;
}) {
	const container = useRef<HTMLDivElement>(null);
	const leaveTo = useRef<HTMLDivElement>(null);
	const [state, setState] = useState<LinkState>("connecting");
	const [problem, setProblem] = useState<string | null>(null);
	const { link, ready } = useScreen({ id, pty, container, leaveTo, setState, setProblem });
	const takesInput = state === "open" && !isOver;
	return (
		<div className="flex min-h-0 flex-1 flex-col">
			<div className="relative min-h-0 flex-1 overflow-hidden bg-raised">
				{!ready && <Skeleton className="absolute inset-3" />}
				<section
					aria-label={texts.terminal.terminal}
					ref={container}
					className="absolute inset-0 overflow-x-auto overflow-y-hidden py-2 pl-4 lg:pl-6"
				/>
			</div>
			{!pty && takesInput && <LineInput link={link} />}
			<div
				ref={leaveTo}
				tabIndex={-1}
				className="flex min-h-8 shrink-0 flex-wrap items-center gap-x-4 gap-y-1 border-t px-4 py-1 text-xs text-ink-3 lg:px-6"
			>
				<span role="status" className="flex items-center gap-2">
					<span
						aria-hidden
						className={classes(
							"size-2 rounded-full",
							state === "open"
								? "bg-ok"
								: state === "ended"
									? "bg-ink-3"
									: state === "failed"
										? "bg-danger"
										: "pulse bg-warn",
						)}
					/>
					{STATES[state]}
				</span>
				{problem !== null && (
					<span role="alert" className="text-danger">
						{problem}
					</span>
				)}
				{pty && takesInput && (
					<span className="ml-auto pointer-coarse:hidden">
						<Kbd keys="Ctrl+]" /> {texts.terminal.leavesTheTerminal}
					</span>
				)}
			</div>
		</div>
	);
}

function useScreen({
	id,
	pty,
	container,
	leaveTo,
	setState,
	setProblem,
}: {
	readonly id: string;
	readonly pty: boolean;
	readonly container: React.RefObject<HTMLDivElement | null>;
	readonly leaveTo: React.RefObject<HTMLDivElement | null>;
	readonly setState: (state: LinkState) => void;
	readonly setProblem: (problem: string | null) => void;
}) {
	const link = useRef<TerminalLink>(null);
	const [ready, setReady] = useState(false);
	useEffect(() => {
		let closed = false;
		let screen: Screen | undefined;
		const open = async () => {
			const { openScreen } = await import("./screen.ts");
			if (closed || !container.current) return;
			let room: Size | undefined;
			const shown = openScreen({
				container: container.current,
				pty,
				onKeys: (data) => void link.current?.type(data),
				onRoom: (size) => {
					if (room?.cols === size.cols && room.rows === size.rows) return;
					room = size;
					if (pty) link.current?.resize(size);
				},
				onLeave: () => leaveTo.current?.focus(),
			});
			screen = shown;
			link.current = new TerminalLink({
				id,
				reset: () => shown.reset(),
				write: (data, drawn) => shown.write(data, drawn),
				onSize: (size) => shown.setSize(size),
				onLost: (bytes) => shown.write(`\r\n\x1b[2m[${lostBytes(bytes)}]\x1b[0m\r\n`),
				onEnd: () => {
					shown.freeze();
					void queryClient.invalidateQueries({ queryKey: ["process"] });
				},
				onError: setProblem,
				onState: (state) => {
					setState(state);
					if (state !== "open") return;
					setProblem(null);
					if (pty && room) link.current?.resize(room);
				},
			});
			setReady(true);
			if (pty && matchMedia("(pointer: fine)").matches) shown.focus();
		};
		open().catch((error: unknown) => setProblem(error instanceof Error ? error.message : String(error)));
		return () => {
			closed = true;
			link.current?.close();
			link.current = null;
			screen?.close();
			setReady(false);
			setState("connecting");
		};
	}, [id, pty, container, leaveTo, setState, setProblem]);
	return { link, ready };
}

/** For a program on pipes: sends one line at a time, or ends its input. */
function LineInput({ link }: { readonly link: React.RefObject<TerminalLink | null> }) {
	const [line, setLine] = useState("");
	const [ended, setEnded] = useState(false);
	const send = useCallback(() => {
		if (link.current?.type(`${line}\n`)) setLine("");
	}, [link, line]);
	if (ended)
		return <p className="border-t px-4 py-2 text-sm text-ink-3 lg:px-6">{texts.terminal.itsInputIsClosed}</p>;
	return (
		<form
			className="flex shrink-0 gap-2 border-t bg-panel px-4 py-2 lg:px-6"
			onSubmit={(event) => {
				event.preventDefault();
				send();
			}}
		>
			<div className="min-w-0 flex-1 font-mono">
				<Input
					aria-label={texts.terminal.sendItALineOf}
					placeholder={texts.terminal.sendItALineOf}
					autoComplete="off"
					spellCheck={false}
					value={line}
					onChange={(event) => setLine(event.target.value)}
				/>
			</div>
			<Button type="submit" icon={<CornerDownLeft size={14} />}>
				{texts.terminal.send}
			</Button>
			<Button look="quiet" onClick={() => setEnded(link.current?.endInput() ?? false)}>
				{texts.terminal.closeInput}
			</Button>
		</form>
	);
}

function lostBytes(bytes: number): string {
	return texts.terminal.bytesAreNoLongerIn(bytes.toLocaleString());
}
