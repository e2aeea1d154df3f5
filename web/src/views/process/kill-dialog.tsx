import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { api, queryClient } from "../../api/index.ts";
import { texts } from "../../texts/processes.ts";
import { Button, Code, Dialog, ErrorLine } from "../../ui/index.ts";

/** Closes only if everything ended; otherwise it names the processes that still run. */
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
			title={texts.killDialog.killThisProcess}
			about={texts.killDialog.thisAlsoEndsEverythingIt}
			actions={
				<>
					<Button onClick={onClose}>{texts.killDialog.cancel}</Button>
					<Button look="danger" disabled={killing.isPending} onClick={() => killing.mutate()}>
						{killing.isPending ? texts.killDialog.killing : texts.killDialog.kill}
					</Button>
				</>
			}
		>
			<div className="flex flex-col gap-3">
				<Code text={command} label={texts.killDialog.command} wrap copy={false} />
				<label className="flex items-start gap-2">
					<input
						type="checkbox"
						checked={atOnce}
						onChange={(event) => setAtOnce(event.target.checked)}
						className="mt-1 accent-accent"
					/>
					<span>
						{texts.killDialog.killAtOnceWithoutTime}
						<span className="block text-sm text-ink-3">{texts.killDialog.otherwiseKeryxAsksItTo}</span>
					</span>
				</label>
				{survivors.length > 0 && (
					<p role="alert" className="text-danger">
						{texts.killDialog.stillRunning(survivors.join(", "))}
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
