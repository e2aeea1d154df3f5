import { useMutation } from "@tanstack/react-query";
import { Camera } from "lucide-react";
import { useId, useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { texts } from "../../texts/checkpoints.ts";
import { Button, Dialog, ErrorLine, Input } from "../../ui/index.ts";
import { nameOf } from "./words.ts";

export function TakeCheckpoint({ conversation }: { readonly conversation: string }) {
	const [open, setOpen] = useState(false);
	const [label, setLabel] = useState("");
	const field = useId();
	const taking = useMutation({
		mutationFn: () => api.takeCheckpoint({ conversation, label }),
		onSuccess: ({ kind }) => {
			if (kind !== "taken") return;
			setOpen(false);
			setLabel("");
		},
		onSettled: () => queryClient.invalidateQueries({ queryKey: ["checkpoints"] }),
	});
	const unchanged = taking.data?.kind === "unchanged" ? taking.data.checkpoint : null;
	return (
		<>
			<Button icon={<Camera size={15} />} onClick={() => setOpen(true)}>
				<span className="max-sm:sr-only">{texts.takeDialog.takeACheckpoint}</span>
			</Button>
			<Dialog
				open={open}
				onOpenChange={(next) => {
					setOpen(next);
					taking.reset();
				}}
				title={texts.takeDialog.takeACheckpoint}
				about={texts.takeDialog.aSnapshotOfTheFolder}
				actions={
					<>
						<Button onClick={() => setOpen(false)}>{texts.takeDialog.cancel}</Button>
						<Button look="primary" type="submit" form="take-checkpoint" disabled={taking.isPending}>
							{taking.isPending ? texts.takeDialog.saving : texts.takeDialog.save}
						</Button>
					</>
				}
			>
				<form
					id="take-checkpoint"
					className="flex flex-col gap-2"
					onSubmit={(event) => {
						event.preventDefault();
						taking.mutate();
					}}
				>
					<label htmlFor={field} className="text-sm text-ink-2">
						{texts.takeDialog.nameOptional}
					</label>
					<Input
						id={field}
						maxLength={200}
						value={label}
						onChange={(event) => setLabel(event.target.value)}
					/>
					{unchanged && (
						<p role="status" className="text-ink-2">
							{texts.takeDialog.nothingHasChangedSinceThe(nameOf(unchanged))}
						</p>
					)}
					{taking.isError && <ErrorLine error={taking.error} />}
				</form>
			</Dialog>
		</>
	);
}
