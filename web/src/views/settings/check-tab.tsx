import { useQuery } from "@tanstack/react-query";
import { CircleCheck } from "lucide-react";
import { useEffect, useId, useRef, useState } from "react";
import { api } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { ErrorLine, TextArea } from "../../ui/index.ts";
import { type Problem, Problems } from "./problems.tsx";

const TYPING_MS = 300;
const LINE_PX = 20;

/** Checks a config.yaml before it is written. Neither the page nor Keryx keeps it. */
export function CheckTab() {
	const [text, setText] = useState("");
	const [asked, setAsked] = useState("");
	const field = useRef<HTMLTextAreaElement>(null);
	const id = useId();
	useEffect(() => {
		const timer = setTimeout(() => setAsked(text), TYPING_MS);
		return () => clearTimeout(timer);
	}, [text]);
	const isBlank = asked.trim() === "";
	const { data, error } = useQuery({
		queryKey: ["validateConfig", asked],
		queryFn: ({ signal }) => api.validateConfig({ yaml: asked }, signal),
		enabled: !isBlank,
		gcTime: 0,
	});
	const go = (problem: Problem) => {
		const at = offsetIn(text, problem);
		field.current?.focus();
		field.current?.setSelectionRange(at, at);
		if (field.current) field.current.scrollTop = Math.max(0, (problem.line ?? 1) - 4) * LINE_PX;
	};
	return (
		<div className="mx-auto flex w-full max-w-280 flex-col gap-3 px-4 py-4 lg:px-6">
			<label htmlFor={id} className="text-ink-2">
				{texts.checkTab.pasteAConfigYamlTo}
			</label>
			<TextArea
				ref={field}
				id={id}
				value={text}
				rows={16}
				spellCheck={false}
				wrap="off"
				placeholder={"session_reset:\n  max_messages: 200"}
				className="resize-y font-mono text-sm leading-5"
				onChange={({ target }) => setText(target.value)}
			/>
			<div role="status" aria-label={texts.checkTab.result} className="min-h-24">
				{error && <ErrorLine error={error} />}
				{isBlank && <p className="text-ink-3">{texts.checkTab.problemsAppearHere}</p>}
				{!isBlank && data?.ok === true && (
					<p className="flex items-center gap-2 text-ok">
						<CircleCheck size={16} aria-hidden /> {texts.checkTab.noProblemsKeryxWouldAccept}
					</p>
				)}
				{!isBlank && data?.ok === false && (
					<>
						<p className="font-medium text-danger">
							{data.problems.length} {data.problems.length === 1 ? "problem" : "problems"}
						</p>
						<Problems problems={data.problems} onGo={go} />
					</>
				)}
				{!isBlank &&
					data?.warnings.map((warning) => (
						<p key={warning} className="mt-2 text-xs text-ink-2">
							{warning}
						</p>
					))}
			</div>
		</div>
	);
}

/** Converts a position to an offset. Lines and columns count from 1. */
function offsetIn(text: string, { line, column }: Problem): number {
	const before = text.split("\n").slice(0, (line ?? 1) - 1);
	const start = before.reduce((sum, one) => sum + one.length + 1, 0);
	return Math.min(text.length, start + (column ?? 1) - 1);
}
