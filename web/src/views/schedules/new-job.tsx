import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { Button, Dialog, ErrorLine, Field, Input, Select, TextArea } from "../../ui/index.ts";
import { inYourZone } from "./times.ts";

type Task = "prompt" | "text" | "command";

/** The time is shown back first: only what was shown can be created. */
export function NewJobDialog({ open, onClose }: { readonly open: boolean; readonly onClose: () => void }) {
	const [words, setWords] = useState("");
	const [task, setTask] = useState<Task>("prompt");
	const [text, setText] = useState("");
	const [deliver, setDeliver] = useState("");
	const navigate = useNavigate();
	const understanding = useMutation({ mutationFn: () => api.understandTime({ text: words }) });
	const view = understanding.data;
	const creating = useMutation({
		mutationFn: () =>
			api.createSchedule({
				when: view?.exact ?? "",
				zone: view?.zone,
				task,
				text,
				...(deliver !== "" && { deliver }),
			}),
		onSuccess: async ({ id }) => {
			close();
			await queryClient.invalidateQueries();
			await navigate({ to: "/schedules", search: { id } });
		},
	});
	const close = () => {
		understanding.reset();
		creating.reset();
		onClose();
	};
	return (
		<Dialog
			open={open}
			onOpenChange={(next) => {
				if (!next) close();
			}}
			title="New job"
			about="Write the time as you would say it. You see exactly what it means before it holds."
			actions={
				<>
					<Button onClick={close}>Cancel</Button>
					{view ? (
						<Button
							look="primary"
							disabled={text === "" || creating.isPending}
							onClick={() => creating.mutate()}
						>
							Create
						</Button>
					) : (
						<Button
							look="primary"
							disabled={words === "" || understanding.isPending}
							onClick={() => understanding.mutate()}
						>
							Show what this means
						</Button>
					)}
				</>
			}
		>
			<div className="flex flex-col gap-3">
				<Field
					label="When"
					about="tomorrow at 9, every weekday at 9, in 20 minutes, every 2 hours, 0 9 * * 1-5"
				>
					{(id) => (
						<Input
							id={id}
							value={words}
							onChange={({ target }) => {
								setWords(target.value);
								understanding.reset();
							}}
						/>
					)}
				</Field>
				{view && (
					<div role="status" className="rounded-sm bg-hover p-2 text-sm">
						<p className="font-medium">{view.shown}</p>
						<ul>
							{view.next.slice(0, 3).map((at) => (
								<li key={at}>{inYourZone(at)} in your zone</li>
							))}
						</ul>
						{view.change && <p className="text-ink-2">{view.change.text}</p>}
					</div>
				)}
				{understanding.isError && <ErrorLine error={understanding.error} />}
				<Field label="What">
					{(id) => (
						<Select id={id} value={task} onChange={({ target }) => setTask(target.value as Task)}>
							<option value="prompt">Ask the agent</option>
							<option value="text">Send a text as it is</option>
							<option value="command">Run a command</option>
						</Select>
					)}
				</Field>
				<Field label={task === "prompt" ? "Prompt" : task === "text" ? "Text" : "Command"}>
					{(id) => (
						<TextArea id={id} rows={3} value={text} onChange={({ target }) => setText(target.value)} />
					)}
				</Field>
				<Field
					label="Send the result to"
					about="telegram (its home channel), telegram:123, conversation:id or local; empty: it stays in the job's conversation"
				>
					{(id) => <Input id={id} value={deliver} onChange={({ target }) => setDeliver(target.value)} />}
				</Field>
				{creating.isError && <ErrorLine error={creating.error} />}
			</div>
		</Dialog>
	);
}
