import { texts } from "../../texts/confirmations.ts";
import { Dialog, ErrorLine, SkeletonRows } from "../../ui/index.ts";
import { Arguments } from "./arguments.tsx";
import { Origin } from "./origin.tsx";
import { Outcome, StatusBadge } from "./question.tsx";
import { useConfirmation } from "./wire.ts";

/** A decided confirmation with all its details. */
export function OneDialog({
	id,
	onClose,
}: {
	readonly id: string | undefined;
	readonly onClose: () => void;
}) {
	const { data, error } = useConfirmation(id);
	return (
		<Dialog
			wide
			open={id !== undefined}
			onOpenChange={(open) => {
				if (!open) onClose();
			}}
			title={data?.action ?? texts.oneDialog.confirmation}
			{...(data && { about: data.description })}
		>
			{data ? (
				<div className="flex flex-col gap-3">
					<div className="flex items-center gap-3">
						<StatusBadge confirmation={data} />
						<Origin confirmation={data} />
					</div>
					<Arguments details={data.details} />
					{data.details_before && (
						<section aria-label={texts.oneDialog.originalRequest} className="flex flex-col gap-1">
							<h3 className="text-sm font-medium">{texts.oneDialog.originalRequest}</h3>
							<Arguments details={data.details_before} />
						</section>
					)}
					<div className="-mx-5 -mb-4">
						<Outcome confirmation={data} />
					</div>
				</div>
			) : error ? (
				<ErrorLine error={error} />
			) : (
				<SkeletonRows rows={2} />
			)}
		</Dialog>
	);
}
