import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { Button, Code, Dialog, ErrorLine } from "../../ui/index.ts";

/** Says what was seen to have ended; what lives on is named. */
export function KillDialog({
	id,
	command,
	open,
	onClose,
}: {
	readonly id: string;
	readonly command: string;
	readonly open: boolean;
	readonly onClose: () => void;
}) {
	const [atOnce, setAtOnce] = useState(false);
	const killing = useMutation({
		mutationFn: () => api.killProcess({ id, ...(atOnce && { signal: "SIGKILL", grace_seconds: 0 }) }),
		onSuccess: ({ result }) => {
			if (result !== "survived") onClose();
		},
		onSettled: () =>
			queryClient.invalidateQueries({ predicate: ({ queryKey }) => isOfProcesses(queryKey[0]) }),
	});
	const survivors = killing.data?.survivors ?? [];
	return (
		<Dialog
			open={open}
			onOpenChange={(next) => {
				if (next) return;
				killing.reset();
				onClose();
			}}
			title="Kill this process?"
			about="It ends with everything that it started. What it has printed stays."
			actions={
				<>
					<Button onClick={onClose}>Let it run</Button>
					<Button look="danger" disabled={killing.isPending} onClick={() => killing.mutate()}>
						{killing.isPending ? "Killing" : "Kill"}
					</Button>
				</>
			}
		>
			<div className="flex flex-col gap-3">
				<Code text={command} label="Command" wrap copy={false} />
				<label className="flex items-start gap-2">
					<input
						type="checkbox"
						checked={atOnce}
						onChange={(event) => setAtOnce(event.target.checked)}
						className="mt-1 accent-accent"
					/>
					<span>
						At once, without a chance to clean up
						<span className="block text-sm text-ink-3">
							Otherwise it is asked to end, and made to after 5 seconds.
						</span>
					</span>
				</label>
				{survivors.length > 0 && (
					<p role="alert" className="text-danger">
						Not everything has ended: {survivors.join(", ")} still {survivors.length === 1 ? "runs" : "run"}.
					</p>
				)}
				{killing.isError && <ErrorLine error={killing.error} />}
			</div>
		</Dialog>
	);
}

function isOfProcesses(name: unknown): boolean {
	return name === "process" || name === "processes";
}
