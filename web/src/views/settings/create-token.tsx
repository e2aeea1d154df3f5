import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { api } from "../../api/index.ts";
import { texts } from "../../texts/settings.ts";
import { Button, CopyButton, Dialog, ErrorLine, Field, Input, Select } from "../../ui/index.ts";

const ROLES = [
	["reader", texts.createToken.readsEverythingChangesNothing],
	["approver", texts.createToken.decidesOnConfirmationsReadsEverything],
	["agent", texts.createToken.asksForConfirmationsNothingElse],
	["operator", texts.createToken.canDoEverythingYouCan],
] as const;
type Role = (typeof ROLES)[number][0];

const DAYS = [
	["", texts.createToken.never],
	["7", texts.createToken.in7Days],
	["30", texts.createToken.in30Days],
	["90", texts.createToken.in90Days],
	["365", texts.createToken.inAYear],
] as const;

/** The token exists only in this dialog, and is gone when it closes. */
export function CreateToken({ onClose }: { readonly onClose: () => void }) {
	const [name, setName] = useState("");
	const [role, setRole] = useState<Role>("reader");
	const [days, setDays] = useState("90");
	const form = useId();
	const { mutate, data, isPending, error } = useMutation({
		mutationFn: () => api.createToken({ name, role, ...(days !== "" && { days: Number(days) }) }),
		gcTime: 0,
	});
	const submit = (event: FormEvent) => {
		event.preventDefault();
		mutate();
	};
	return (
		<Dialog
			open
			onOpenChange={(open) => !open && onClose()}
			title={data ? texts.createToken.theToken(data.name) : texts.createToken.newToken}
			about={data ? texts.createToken.itIsShownOnlyOnce : texts.createToken.forAProgramThatCalls}
			actions={
				data ? (
					<Button look="primary" onClick={onClose}>
						{texts.createToken.done}
					</Button>
				) : (
					<>
						<Button onClick={onClose}>{texts.createToken.cancel}</Button>
						<Button look="primary" type="submit" form={form} disabled={isPending || name === ""}>
							{texts.createToken.create}
						</Button>
					</>
				)
			}
		>
			{data ? (
				<div className="flex items-center gap-1">
					<Input
						readOnly
						aria-label={texts.createToken.token}
						value={data.token}
						className="font-mono text-sm"
						onFocus={({ target }) => target.select()}
					/>
					<CopyButton text={data.token} label={texts.createToken.copyTheToken} />
				</div>
			) : (
				<form id={form} className="flex flex-col gap-3" onSubmit={submit}>
					<Field label={texts.createToken.name} about={texts.createToken.theAuditShowsThisName}>
						{(id) => (
							<Input
								id={id}
								value={name}
								maxLength={64}
								autoComplete="off"
								spellCheck={false}
								placeholder="nightly-report"
								onChange={({ target }) => setName(target.value)}
							/>
						)}
					</Field>
					<Field label={texts.createToken.role}>
						{(id) => (
							<Select id={id} value={role} onChange={({ target }) => setRole(target.value as Role)}>
								{ROLES.map(([value, about]) => (
									<option key={value} value={value}>
										{value}: {about}
									</option>
								))}
							</Select>
						)}
					</Field>
					<Field label={texts.createToken.expires}>
						{(id) => (
							<Select id={id} value={days} onChange={({ target }) => setDays(target.value)}>
								{DAYS.map(([value, about]) => (
									<option key={value} value={value}>
										{about}
									</option>
								))}
							</Select>
						)}
					</Field>
					{error && <ErrorLine error={error} />}
				</form>
			)}
		</Dialog>
	);
}
