import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { texts } from "../../texts/schedules.ts";
import { Button, Dialog, ErrorLine, Field, Input, Select, TextArea } from "../../ui/index.ts";
import { inYourZone } from "./times.ts";

type Task = "prompt" | "text" | "command";

/** Create appears only after the time has been checked and shown. */
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
			title={texts.newJob.title}
			about={texts.newJob.about}
			actions={
				<>
					<Button onClick={close}>{texts.newJob.cancel}</Button>
					{view ? (
						<Button
							look="primary"
							disabled={text === "" || creating.isPending}
							onClick={() => creating.mutate()}
						>
							{texts.newJob.create}
						</Button>
					) : (
						<Button
							look="primary"
							disabled={words === "" || understanding.isPending}
							onClick={() => understanding.mutate()}
						>
							{texts.newJob.check}
						</Button>
					)}
				</>
			}
		>
			<div className="flex flex-col gap-3">
				<Field label={texts.newJob.when} about={texts.newJob.examples}>
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
								<li key={at}>{texts.newJob.local(inYourZone(at))}</li>
							))}
						</ul>
						{view.change && <p className="text-ink-2">{view.change.text}</p>}
					</div>
				)}
				{understanding.isError && <ErrorLine error={understanding.error} />}
				<Field label={texts.newJob.task}>
					{(id) => (
						<Select id={id} value={task} onChange={({ target }) => setTask(target.value as Task)}>
							<option value="prompt">{texts.tasks.prompt}</option>
							<option value="text">{texts.tasks.text}</option>
							<option value="command">{texts.tasks.command}</option>
						</Select>
					)}
				</Field>
				<Field label={texts.newJob[task]}>
					{(id) => (
						<TextArea id={id} rows={3} value={text} onChange={({ target }) => setText(target.value)} />
					)}
				</Field>
				<Field label={texts.newJob.result} about={texts.newJob.targets}>
					{(id) => <Input id={id} value={deliver} onChange={({ target }) => setDeliver(target.value)} />}
				</Field>
				{creating.isError && <ErrorLine error={creating.error} />}
			</div>
		</Dialog>
	);
}
