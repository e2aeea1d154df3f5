import { useMutation } from "@tanstack/react-query";
import { Camera } from "lucide-react";
import { useId, useState } from "react";
import { api, queryClient } from "../../api/index.ts";
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
				<span className="max-sm:sr-only">Take a checkpoint</span>
			</Button>
			<Dialog
				open={open}
				onOpenChange={(next) => {
					setOpen(next);
					taking.reset();
				}}
				title="Take a checkpoint"
				about="A snapshot of the folder as it is now, to compare with and to go back to."
				actions={
					<>
						<Button onClick={() => setOpen(false)}>Not now</Button>
						<Button look="primary" type="submit" form="take-checkpoint" disabled={taking.isPending}>
							{taking.isPending ? "Taking it" : "Take it"}
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
						What to call it, if you like
					</label>
					<Input
						id={field}
						maxLength={200}
						value={label}
						onChange={(event) => setLabel(event.target.value)}
					/>
					{unchanged && (
						<p role="status" className="text-ink-2">
							No file has changed since the last one, {nameOf(unchanged)}: that one holds everything.
						</p>
					)}
					{taking.isError && <ErrorLine error={taking.error} />}
				</form>
			</Dialog>
		</>
	);
}
